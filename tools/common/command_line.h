// SPDX-License-Identifier: BSD-3-Clause
// The common part of the verbs' command lines: --help, --json, --set, the options of the runtime
// (--plexus-…), and a context that is started with them.
#pragma once

#include "plexus/context.h"

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::tools {

/// Wrong usage, in a sentence; main prints it behind the verb's name and ends with kUsage.
[[noreturn]] void usage_error(std::string_view verb, const std::string& sentence);

/// Help texts that some verbs replace.
struct CommonHelp {
    const char* set = "A key of the configuration; may be repeated";
    const char* ending =
        "Every key of the configuration is also an option: --plexus-method.tcp.sndbuf=4MiB.\n"
        "Exit codes: 0 ok, 1 the answer is no, 2 usage, 3 environment.";
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
    bool json_ = false;
    std::vector<std::string> set_;
    std::map<std::string, std::string> settings_;
    std::vector<std::string> plexus_;
};

} // namespace plexus::tools
