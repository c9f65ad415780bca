// SPDX-License-Identifier: BSD-3-Clause
// The acquired models in a map's file: one [[acquired]] for each. Pure.
#pragma once

#include "plexus/eco/map.h"
#include "topology/toml_values.h"

#include <string>
#include <string_view>
#include <unordered_map>

namespace plexus::eco {

using PlacesByName = std::unordered_map<std::string, std::size_t>;

/// `rows` is the list [[acquired]]. @error bad_config (thrown; with the line)
void read_acquired(const TomlValues& values, const toml::array& rows, const PlacesByName& hosts, Map& map);

/// Empty: the map has none. `quote` makes a TOML text of a name.
std::string acquired_to_toml(const Map& map, std::string (*quote)(std::string_view));

} // namespace plexus::eco
