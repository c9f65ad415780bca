// SPDX-License-Identifier: BSD-3-Clause
#include "plexus/eco/network.h"

#include "plan/grouped.h"
#include "topology/refuse.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace plexus::eco {
namespace {

/// Groups of hosts as groups of the members on them.
Partition in_members(const Partition& of_hosts, const std::vector<std::size_t>& host_of) {
    std::map<std::size_t, std::size_t> group_of_host;
    for (std::size_t group = 0; group < of_hosts.size(); ++group)
        for (const std::size_t host : of_hosts[group]) group_of_host[host] = group;
    return grouped(host_of.size(), [&](std::size_t member) { return group_of_host[host_of[member]]; });
}

double greatest_measured(const CostMatrix& costs) {
    double greatest = 0;
    for (std::size_t a = 0; a < costs.size(); ++a)
        for (std::size_t b = 0; b < a; ++b)
            if (!std::isinf(costs(a, b))) greatest = std::max(greatest, costs(a, b));
    return greatest;
}

/// Of the pairs on one wire, what they take on the average.
double us_per_byte_on(const std::vector<std::size_t>& wire, const std::vector<LocalCost>& costs,
                      std::size_t hosts) {
    double sum = 0;
    for (const std::size_t a : wire)
        for (const std::size_t b : wire)
            if (a != b) sum += costs[a * hosts + b].us_per_byte;
    return sum / static_cast<double>(wire.size() * (wire.size() - 1));
}

} // namespace

Network::Network(const Map& map, std::vector<std::size_t> host_of, Tolerance tolerance, Symmetry symmetry,
                 LocalCost local, std::vector<std::uint32_t> socket_of)
  : host_of_(std::move(host_of))
  , socket_of_(std::move(socket_of))
  , hosts_(map.hosts().size())
  , costs_(hosts_ * hosts_, local)
  , between_sockets_{2 * local.latency_us, 2 * local.us_per_byte} {
    if (host_of_.empty()) refuse(Status::bad_argument, "a network has at least one member");
    for (const std::size_t host : host_of_)
        if (host >= hosts_)
            refuse(Status::bad_argument, "a member is on host {}, and the map has {}", host, hosts_);
    if (socket_of_.empty()) socket_of_.resize(host_of_.size());
    if (socket_of_.size() != host_of_.size())
        refuse(Status::bad_argument, "{} members have {} sockets", host_of_.size(), socket_of_.size());
    const std::vector<std::uint64_t>& sizes = map.sizes_bytes();
    const CostMatrix small = map.matrix(0, Statistic::min, symmetry);
    const CostMatrix large = map.matrix(sizes.size() - 1, Statistic::min, symmetry);
    const double dearest_small = greatest_measured(small);
    const double dearest_large = greatest_measured(large);
    const double more_bytes = static_cast<double>(sizes.back() - sizes.front());
    for (std::size_t a = 0; a < hosts_; ++a)
        for (std::size_t b = 0; b < hosts_; ++b) {
            if (a == b) continue;
            const double less = std::min(small(a, b), dearest_small);
            const double more = std::min(large(a, b), dearest_large);
            const double per_byte = more_bytes > 0 ? std::max(0.0, more - less) / more_bytes : 0;
            const double latency = std::max(0.0, less - per_byte * static_cast<double>(sizes.front()));
            costs_[a * hosts_ + b] = {latency, per_byte};
        }
    wire_of_host_.assign(hosts_, kNoWire);
    for (const auto& wire : map.shared_wires()) {
        for (const std::size_t host : wire) wire_of_host_[host] = static_cast<std::uint32_t>(wires_.size());
        wires_.push_back(us_per_byte_on(wire, costs_, hosts_));
    }
    Partition singles(hosts_);
    for (std::size_t host = 0; host < hosts_; ++host) singles[host] = {host};
    levels_.push_back(grouped(host_of_.size(), [&](std::size_t member) {
        return std::pair(host_of_[member], socket_of_[member]);
    }));
    levels_.push_back(in_members(singles, host_of_));
    for (const Partition& level : hierarchy(small, tolerance)) levels_.push_back(in_members(level, host_of_));
    Subnet all(hosts_);
    std::iota(all.begin(), all.end(), std::size_t{0});
    levels_.push_back(in_members({all}, host_of_));
    levels_ = levels_that_join(std::move(levels_), host_of_.size());
}

} // namespace plexus::eco
