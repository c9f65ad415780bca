// SPDX-License-Identifier: BSD-3-Clause
// `plexus map show`: a page, a picture or a graph of a map and of plans on it.
#include "tools/map/options.h"
#include "tools/map/show/dot.h"
#include "tools/map/show/page.h"
#include "tools/map/show/svg.h"

#include "plexus/error.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <numeric>

namespace plexus::tools {
namespace {

using namespace show;

// A page of more hosts is beyond what a browser draws at ease, and what anybody reads.
constexpr std::size_t kMostHosts = 300;

void write(const std::string& text, const std::string& path) {
    std::FILE* file = path.empty() || path == "-" ? stdout : std::fopen(path.c_str(), "w");
    const bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size() &&
                         std::fflush(file) == 0;
    const int error = errno;
    if (file != nullptr && file != stdout) std::fclose(file);
    if (!written)
        throw Error(Status::not_found,
                    fmt::format("{} cannot be written: {}", path.empty() ? "standard output" : path,
                                std::strerror(error)));
}

PlanWish plan_wish(const MapWish& wish, const eco::Map& map) {
    PlanWish out;
    if (!wish.operation.empty()) out.operation = operation_of(wish.operation);
    if (!wish.pattern.empty()) check_pattern(wish.pattern);
    out.pattern = wish.pattern;
    if (!wish.root.empty()) out.root = map.index_of(wish.root);
    out.size_bytes = wish.size_bytes;
    return out;
}

std::vector<std::size_t> first_hosts(const eco::Partition& subnets) {
    constexpr std::size_t kMost = 8;
    std::vector<std::size_t> out;
    for (const eco::Subnet& subnet : subnets)
        if (out.size() < kMost) out.push_back(subnet.front());
    return out;
}

} // namespace

int show_map(const MapWish& wish) {
    const eco::Map map = eco::load_map(wish.file);
    if (map.hosts().size() > kMostHosts)
        throw Error(Status::too_large,
                    fmt::format("{} has {} hosts, and a picture holds {}: plexus map partition prints "
                                "the subnets of any number",
                                wish.file, map.hosts().size(), kMostHosts));
    const PlanWish plans = plan_wish(wish, map);
    const eco::CostMatrix costs = costs_in(map, wish, 0);
    const std::vector<eco::Partition> levels = eco::hierarchy(costs, wish.tolerance);
    std::vector<std::size_t> everyone(map.hosts().size());
    std::iota(everyone.begin(), everyone.end(), std::size_t{0});
    const eco::Network network(map, everyone, wish.tolerance, wish.symmetry);
    const Layout layout = lay_out(map, costs, levels);
    switch (wish.picture) {
    case Picture::svg:
        write(picture_svg(map, layout, levels.front(), one_plan(network, plans)), wish.output);
        break;
    case Picture::dot:
        write(to_dot(map, levels, one_plan(network, plans)), wish.output);
        break;
    case Picture::page:
        write(to_page("Map " + std::filesystem::path(wish.file).filename().string(), map, layout, levels,
                      many_plans(network, first_hosts(levels.front()), plans)),
              wish.output);
        break;
    }
    return 0;
}

} // namespace plexus::tools
