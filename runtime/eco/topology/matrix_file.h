// SPDX-License-Identifier: BSD-3-Clause
// The plain matrix file: `N name1 … nameN`, then N rows of N numbers. Pure.
#pragma once

#include "plexus/eco/map.h"

#include <string>
#include <string_view>

namespace plexus::eco {

/// True if the first line that says anything begins with a whole number and a blank.
bool looks_like_matrix(std::string_view text);

/// @error bad_config (thrown; with the line and the host)
Map read_matrix(std::string_view text, const std::string& name);

} // namespace plexus::eco
