// SPDX-License-Identifier: BSD-3-Clause
// The results and the recommendation, for people, for plexus.toml, and as JSON.
#pragma once

#include "tools/common/text_table.h"
#include "tools/info/order.h"

#include <string>
#include <vector>

namespace plexus::tools {

struct Findings {
    std::string version;             ///< of Plexus
    std::string where;               ///< "cores 0 and 1"
    std::vector<std::string> wanted; ///< the entries of the user's method list
    std::vector<Measured> methods;
    std::vector<Range> ranges;
};

TextTable table_of(const Findings& findings);

/// TOML: the order for small messages as a setting, everything else as comments.
std::string configuration(const Findings& findings);

/// The same after the figures: the content of a file.
std::string documented_configuration(const Findings& findings);

std::string to_json(const Findings& findings);

} // namespace plexus::tools
