// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/usage.h"

#include "plexus/error.h"

#include <CLI/CLI.hpp>

namespace plexus::tools {
namespace {

class Layout : public CLI::Formatter {
  public:
    explicit Layout(std::string usage)
      : usage_(std::move(usage)) {}
    std::string make_usage(const CLI::App*, std::string) const override {
        return "Usage: plexus " + usage_ + "\n";
    }

  private:
    std::string usage_;
};

} // namespace

void usage_error(std::string_view verb, const std::string& sentence) {
    throw Error(Status::bad_argument, sentence + ": plexus " + std::string(verb) + " --help tells more");
}

std::shared_ptr<CLI::FormatterBase> help_layout(std::string usage) {
    return std::make_shared<Layout>(std::move(usage));
}

} // namespace plexus::tools
