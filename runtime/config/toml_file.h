// SPDX-License-Identifier: BSD-3-Clause
// A TOML text as a flat list of keys with their lines. Knows no key of Plexus. Pure.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace plexus::config {

struct TomlLine {
    std::string key;    ///< "progress.spin"; a table: with a dot behind
    std::string value;  ///< an array with commas between; of a table: empty
    std::string origin; ///< "plexus.toml:7"
    bool is_table = false;
};

/// Every value and every table of `text`, in no particular order. `name` is the file's, for origins.
/// @error bad_config what the parser says, with the line; or a value that no setting can have
Result<std::vector<TomlLine>> read_toml(std::string_view text, const std::string& name);

} // namespace plexus::config
