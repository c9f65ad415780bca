// SPDX-License-Identifier: BSD-3-Clause
// `plexus map partition`: one subnet a line, hosts in the order of the map.
#include "tools/common/json.h"
#include "tools/map/options.h"
#include "tools/map/subnets.h"

#include "plexus/error.h"

#include <cstdio>
#include <fmt/format.h>

namespace plexus::tools {

eco::CostMatrix costs_in(const eco::Map& map, const MapOptions& options, std::size_t size) {
    try {
        return map.matrix(size, options.statistic, options.symmetry);
    } catch (const Error& error) {
        if (options.symmetry != eco::Symmetry::refuse) throw;
        throw Error(error.status(), fmt::format("{}: {} (--symmetric)", options.file, error.what()));
    }
}

int print_partition(const MapOptions& options) {
    const eco::Map map = eco::load_map(options.file);
    const eco::CostMatrix costs =
        costs_in(map, options, options.size_bytes ? map.size_index(*options.size_bytes) : 0);
    const std::vector<eco::Partition> levels =
        options.levels ? eco::hierarchy(costs, options.tolerance)
                       : std::vector<eco::Partition>{eco::partition(costs, options.tolerance)};
    if (!options.json) {
        for (std::size_t level = 0; level < levels.size(); ++level) {
            if (options.levels)
                std::printf("%s# level %zu: %zu subnet%s\n", level > 0 ? "\n" : "", level + 1,
                            levels[level].size(), levels[level].size() == 1 ? "" : "s");
            print(levels[level], map);
        }
        return 0;
    }
    json::Object out;
    out.add("file", options.file)
        .add("hosts", map.hosts().size())
        .add("tolerance", to_string(options.tolerance));
    out.raw("subnets", to_json(levels.front(), map));
    if (options.levels) {
        std::vector<std::string> all;
        for (const eco::Partition& level : levels) all.push_back(to_json(level, map));
        out.raw("levels", json::list(all));
    }
    std::printf("%s\n", out.text().c_str());
    return 0;
}

} // namespace plexus::tools
