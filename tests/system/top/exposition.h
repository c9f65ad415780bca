// SPDX-License-Identifier: BSD-3-Clause
// A strict reader of the text format of Prometheus, version 0.0.4: what its own parser refuses, or its linter
// complains of, is refused here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace plexus::testing {

struct ExposedMetric {
    std::string type;
    std::string help;
    std::map<std::map<std::string, std::string>, double> values; ///< by labels
};
using Exposition = std::map<std::string, ExposedMetric>;

/// Nothing, and `why`, where it is not that format.
std::optional<Exposition> read_exposition(std::string_view text, std::string& why);

} // namespace plexus::testing
