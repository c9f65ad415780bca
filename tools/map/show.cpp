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

// Browsers draw a page with more hosts slowly, and nobody reads such a page.
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

PlanOptions plan_options(const MapOptions& options, const eco::Map& map) {
    PlanOptions out;
    if (!options.operation.empty()) out.operation = operation_of(options.operation);
    if (!options.pattern.empty()) check_pattern(options.pattern);
    out.pattern = options.pattern;
    if (!options.root.empty()) out.root = map.index_of(options.root);
    out.size_bytes = options.size_bytes;
    return out;
}

std::vector<std::size_t> first_hosts(const eco::Partition& subnets) {
    constexpr std::size_t kMost = 8;
    std::vector<std::size_t> out;
    for (const eco::Subnet& subnet : subnets)
        if (out.size() < kMost) out.push_back(subnet.front());
    return out;
}

/// Models have each direction as it was measured, however the subnets come out of both.
eco::PolyRequest models_asked(const MapOptions& options, const PlanOptions& plans) {
    eco::PolyRequest out;
    out.operation = plans.operation.value_or(eco::Operation::broadcast);
    out.bytes = plans.size_bytes.value_or(kUsualSize);
    out.root = plans.root.value_or(0);
    out.tolerance = options.tolerance;
    if (options.symmetry != eco::Symmetry::refuse) out.symmetry = options.symmetry;
    return out;
}

} // namespace

int show_map(const MapOptions& options) {
    const eco::Map map = eco::load_map(options.file);
    if (map.hosts().size() > kMostHosts)
        throw Error(Status::too_large,
                    fmt::format("{} has {} hosts, and a picture holds {}: plexus map partition prints "
                                "the subnets of any number",
                                options.file, map.hosts().size(), kMostHosts));
    const PlanOptions plans = plan_options(options, map);
    const eco::CostMatrix costs = costs_in(map, options, 0);
    const std::vector<eco::Partition> levels = eco::hierarchy(costs, options.tolerance);
    std::vector<std::size_t> everyone(map.hosts().size());
    std::iota(everyone.begin(), everyone.end(), std::size_t{0});
    const eco::Network network(map, everyone, options.tolerance, options.symmetry);
    const Layout layout = lay_out(map, costs, levels);
    switch (options.picture) {
    case Picture::svg:
        write(picture_svg(map, layout, levels.front(), one_plan(network, plans)), options.output);
        break;
    case Picture::dot:
        write(to_dot(map, levels, one_plan(network, plans)), options.output);
        break;
    case Picture::page:
        write(to_page("Map " + std::filesystem::path(options.file).filename().string(), map, layout, levels,
                      many_plans(network, first_hosts(levels.front()), plans),
                      model_ways(map, models_asked(options, plans))),
              options.output);
        break;
    }
    return 0;
}

} // namespace plexus::tools
