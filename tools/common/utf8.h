// SPDX-License-Identifier: BSD-3-Clause
// Finds UTF-8 characters in arbitrary bytes. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace plexus::tools {

/// The bytes of the UTF-8 character at the start of `text`, which is not empty; 0: there is no character.
std::size_t utf8_character(std::string_view text);

} // namespace plexus::tools
