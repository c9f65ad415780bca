// SPDX-License-Identifier: BSD-3-Clause
#include "tools/measure/order.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace plexus::tools {

namespace {

struct Candidate {
    const Measured* measured;
    double seconds; ///< for a message
};

double cost(const bench::Point& point) {
    const bool by_stream = point.bytes_per_s.value_or(0) > 0;
    return by_stream ? static_cast<double>(point.size_bytes) / *point.bytes_per_s : point.one_way_us / 1e6;
}

/// One moves ahead of its predecessor only where it is clearly faster. (Not a sort: "about as
/// fast as" is not transitive.)
void insert(std::vector<Candidate>& order, const Candidate& candidate) {
    auto at = order.end();
    while (at != order.begin() && candidate.measured->one_process == std::prev(at)->measured->one_process &&
           candidate.seconds < (1 - kNoise) * std::prev(at)->seconds)
        --at;
    order.insert(at, candidate);
}

std::vector<std::string> order_for(const std::vector<Measured>& all, std::uint64_t size_bytes) {
    std::vector<Candidate> order;
    for (const bool one_process : {true, false})
        for (const Measured& each : all)
            for (const bench::Point& point : each.points)
                if (each.one_process == one_process && point.size_bytes == size_bytes)
                    insert(order, {&each, cost(point)});
    std::vector<std::string> methods;
    for (const Candidate& each : order) methods.push_back(each.measured->method);
    return methods;
}

std::uint64_t border(std::uint64_t below, std::uint64_t above) {
    const double bits = (std::log2(static_cast<double>(below)) + std::log2(static_cast<double>(above))) / 2;
    return std::uint64_t{1} << static_cast<unsigned>(std::lround(bits));
}

} // namespace

std::vector<Range> recommend(const std::vector<Measured>& all) {
    std::set<std::uint64_t> sizes;
    for (const Measured& each : all)
        for (const bench::Point& point : each.points) sizes.insert(point.size_bytes);
    std::vector<Range> ranges;
    std::uint64_t before = 0;
    for (const std::uint64_t size : sizes) {
        std::vector<std::string> methods = order_for(all, size);
        if (ranges.empty()) {
            ranges.push_back({0, std::move(methods)});
        } else if (methods != ranges.back().methods) {
            ranges.push_back({border(std::max<std::uint64_t>(before, 1), size), std::move(methods)});
        }
        before = size;
    }
    return ranges;
}

} // namespace plexus::tools
