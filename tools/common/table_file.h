// SPDX-License-Identifier: BSD-3-Clause
// Descriptor tables and pointers in files. A table is text, a row a line: the method, a
// blank, the descriptor in hexadecimal, and behind another blank how far the method may reach, if not
// anywhere; before the rows `@site NAME` and `@host HEXADECIMAL` say where the context is; lines that start
// with # are remarks. A pointer is the result of GlobalPointer::save().
#pragma once

#include "plexus/table.h"
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::tools {

std::string hexadecimal(const std::vector<std::byte>& bytes);

std::string write_table(const DescriptorTable& table);
/// Nothing: the text is no table; *why names the line and the mistake.
std::optional<DescriptorTable> read_table(std::string_view text, std::string* why);

/// The whole file, at most a megabyte. @error not_found, too_large (thrown, as plexus::Error)
std::vector<std::byte> read_file(const std::string& path);

} // namespace plexus::tools
