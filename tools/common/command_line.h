// SPDX-License-Identifier: BSD-3-Clause
// The common part of the verbs' command lines: --help, --json, --set, the options of the runtime
// (--plexus-…), and a context that is started with them.
#pragma once

#include "plexus/context.h"
#include "tools/common/usage.h"

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::tools {

/// What some verbs have otherwise.
struct CommonHelp {
    const char* set = "A key of the configuration; may be repeated"; ///< null: there is no --set
    const char* ending =
        "Every key of the configuration is also an option: --plexus-method.tcp.sndbuf=4MiB.\n"
        "Exit codes: 0 ok, 1 the answer is no, 2 usage, 3 environment.";
    bool runtime_options = true; ///< false: options --plexus-… are refused
};

class CommandLine {
  public:
    /// `verb`: "info". `usage`: what follows "plexus info ".
    CommandLine(std::string verb, const std::string& summary, std::string usage,
                const std::string& footer = {}, const CommonHelp& help = {});

    CLI::App& app() noexcept { return app_; }

    /// False: help was asked for, and printed. @error bad_argument wrong usage (thrown)
    bool parse(int count, char** arguments);

    bool json() const noexcept { return json_; }
    /// What --set said.
    const std::map<std::string, std::string>& settings() const noexcept { return settings_; }
    /// The runtime's own options, with a program's name before them.
    std::vector<const char*> plexus_arguments() const;
    /// A context with all of these; `more` wins.
    Context start(Options more = {}) const;

  private:
    std::string verb_;
    CLI::App app_;
    bool runtime_options_ = true;
    bool json_ = false;
    std::vector<std::string> set_;
    std::map<std::string, std::string> settings_;
    std::vector<std::string> plexus_;
};

} // namespace plexus::tools
