// SPDX-License-Identifier: BSD-3-Clause
// Characters in bytes that may be any. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace plexus::tools {

/// How many bytes the UTF-8 character at the start of `text`, which is not empty, has; 0: it is none.
std::size_t utf8_character(std::string_view text);

} // namespace plexus::tools
