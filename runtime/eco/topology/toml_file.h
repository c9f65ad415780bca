// SPDX-License-Identifier: BSD-3-Clause
// The map's own file, read. Writing is to_toml() in the public header. Pure.
#pragma once

#include "plexus/eco/map.h"

#include <string>
#include <string_view>

namespace plexus::eco {

/// @error bad_config (thrown; with the line and the hosts)
Map read_toml(std::string_view text, const std::string& name);

} // namespace plexus::eco
