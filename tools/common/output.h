// SPDX-License-Identifier: BSD-3-Clause
// Where a verb's result goes: a file, a device or standard output. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace plexus::tools {

/// Refuses what write_output() could not write to, before work takes its time. Empty: nothing is written.
/// @error not_found `file` is a folder, or in none (thrown)
void check_output(const std::string& file);

/// Into `file`, or for "-" to standard output. A device or pipe is written to; a regular file is replaced
/// whole, see replace_file(). @error not_found it cannot be written (thrown)
void write_output(std::string_view text, const std::string& file);

} // namespace plexus::tools
