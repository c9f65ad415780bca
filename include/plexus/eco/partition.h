// SPDX-License-Identifier: BSD-3-Clause
// Which hosts share a subnet: Figure 2 of the ECO paper over a matrix of costs, and the same
// again over the subnets. Pure functions on values: relabelling hosts or scaling all costs
// changes nothing. Any thread.
#pragma once

#include "plexus/eco/map.h"
#include "plexus/export.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::eco {

/// How much more than the least an edge may cost: an exact ratio, so that 20 % of a decimal
/// number is decided as it is written and not as binary fractions round it.
struct Tolerance {
    std::uint32_t numerator = 1;
    std::uint32_t denominator = 5;

    /// cost <= least + tolerance, equality included: 5 w <= 6 m for 20 %. Numbers that agree
    /// to fourteen digits count as equal. Nothing is within reach of a missing edge.
    PLEXUS_API bool holds(double cost, double least) const noexcept;
};

/// "20%", "12.5 %" or "1/5"; nothing: it is none of these, or above 1,000,000 %.
PLEXUS_API std::optional<Tolerance> parse_tolerance(std::string_view text);
/// "20%", "1/3".
PLEXUS_API std::string to_string(Tolerance tolerance);

/// Hosts by their places in the map, rising.
using Subnet = std::vector<std::size_t>;

/// Each host is in one subnet; subnets stand in the order of their first hosts.
using Partition = std::vector<Subnet>;

/// The paper's subnets. A host that shares none is a subnet of one.
/// @error bad_argument the matrix is not symmetric: see symmetric() (thrown)
PLEXUS_API Partition partition(const CostMatrix& costs, Tolerance tolerance = {});

/// Levels of subnets: first the paper's; each next one partitions the subnets of the one
/// before, with the least cost between two of them as their edge, until nothing merges.
/// Never empty. @error as partition()
PLEXUS_API std::vector<Partition> hierarchy(const CostMatrix& costs, Tolerance tolerance = {});

/// a < b.
struct HostPair {
    std::size_t a;
    std::size_t b;
    auto operator<=>(const HostPair&) const = default;
};

/// The edges that decide and that nothing confirms: the cheapest few of a host before a
/// jump of more than the tolerance. One of them measured too low tears its hosts out of
/// their subnet, so they are worth measuring again; the median of the repeats is to be kept.
/// Sorted, each once. @error as partition()
PLEXUS_API std::vector<HostPair> edges_to_remeasure(const CostMatrix& costs, Tolerance tolerance = {});

} // namespace plexus::eco
