// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: maps of networks, in both forms of their files. What is read is written as TOML and
// read again as the same map; what is no map is refused with the file's name in the sentence.
#include "plexus/eco/map.h"
#include "plexus/eco/partition.h"
#include "plexus/error.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace plexus;
using namespace plexus::eco;

/// Ends the run: the fuzzer keeps the input. Unlike assert(), in every build.
void require(bool holds) {
    if (!holds) std::abort();
}

/// What a group does with a map: every question has an answer or is refused.
void use(const Map& map) {
    for (std::size_t size = 0; size < map.sizes_bytes().size(); ++size) {
        for (const Statistic which : {Statistic::min, Statistic::p95}) {
            const CostMatrix costs = map.matrix(size, which);
            require(costs.size() == map.hosts().size());
            try {
                (void)partition(map.matrix(size, which, Symmetry::max), Tolerance{});
            } catch (const Error&) {
                // not every map can be made symmetric, or was measured everywhere
            }
        }
    }
    for (std::size_t host = 0; host < map.hosts().size(); ++host)
        require(map.index_of(map.hosts()[host]) == host);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const Map map = read_map(text, "f.map");
        require(read_map(to_toml(map), "again") == map);
        if (map.hosts().size() <= 16 && map.sizes_bytes().size() <= 4) use(map);
    } catch (const Error& error) {
        require(error.status() == Status::bad_config || error.status() == Status::too_large);
        require(std::string_view(error.what()).starts_with("f.map"));
    }
    return 0;
}
