// SPDX-License-Identifier: BSD-3-Clause
// What every command line has: how wrong usage is said, and how help begins.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace CLI {
class FormatterBase; // its header costs eight seconds of a compiler
}

namespace plexus::tools {

/// Wrong usage, in a sentence; main prints it behind the verb's name and ends with kUsage.
[[noreturn]] void usage_error(std::string_view verb, const std::string& sentence);

/// Help that begins with "Usage: plexus " and `usage`.
std::shared_ptr<CLI::FormatterBase> help_layout(std::string usage);

} // namespace plexus::tools
