// SPDX-License-Identifier: BSD-3-Clause
// Bytes as hexadecimal text and back, so that a failing test shows both sides.
#pragma once

#include "wire/bytes.h"

#include <string>
#include <string_view>

namespace plexus::testing {

/// "01 0f": spaces are for the reader only.
wire::Bytes bytes_of(std::string_view hex);
/// "010f", without spaces.
std::string hex_of(wire::View bytes);
/// The golden text without its spaces.
inline std::string plain(std::string_view hex) { return hex_of(bytes_of(hex)); }

} // namespace plexus::testing
