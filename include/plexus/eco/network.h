// SPDX-License-Identifier: BSD-3-Clause
// A group's members on a measured network: what a message costs between each two of them,
// which of them are close, and from that the plan that follows the network and the time that
// any plan will take. Pure. A value: used by one thread at a time, or read by many.
#pragma once

#include "plexus/eco/map.h"
#include "plexus/eco/partition.h"
#include "plexus/eco/plan.h"
#include "plexus/export.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace plexus::eco {

/// Between members on one host, which a map does not show.
struct LocalCost {
    double latency_us = 0.3;
    double us_per_byte = 1e-4;
};

class PLEXUS_API Network {
  public:
    /// `host_of` says for each member its place in map.hosts(), and `socket_of` the number of its socket (its
    /// processor package) on that host; without, all members of a host are on one socket. Costs are the least
    /// that were measured; a pair without any counts as the dearest of all. Between sockets of a host, a
    /// message takes twice as long as `local`.
    /// @error bad_argument no member, a host that the map lacks, or sockets of another number of members
    /// (thrown)
    /// @error bad_config   the map differs by direction and `symmetry` is refuse (thrown)
    Network(const Map& map, std::vector<std::size_t> host_of, Tolerance tolerance = {},
            Symmetry symmetry = Symmetry::mean, LocalCost local = {},
            std::vector<std::uint32_t> socket_of = {});

    Rank size() const noexcept { return static_cast<Rank>(host_of_.size()); }
    double latency_us(Rank a, Rank b) const noexcept { return at(a, b).latency_us; }
    double us_per_byte(Rank a, Rank b) const noexcept { return at(a, b).us_per_byte; }
    bool same_host(Rank a, Rank b) const noexcept { return host_of_[a] == host_of_[b]; }

    /// A wire that members' hosts contend for: Map::shared_wires().
    struct Wire {
        std::uint32_t number; ///< below shared_wires()
        double us_per_byte;
    };
    std::uint32_t shared_wires() const noexcept { return static_cast<std::uint32_t>(wires_.size()); }
    /// Nothing: its host contends with none.
    std::optional<Wire> shared_wire_of(Rank member) const noexcept {
        const std::uint32_t wire = wire_of_host_[host_of_[member]];
        if (wire == kNoWire) return std::nullopt;
        return Wire{wire, wires_[wire]};
    }

    /// Members that are close, closest first: those on one socket, those on one host, then subnets
    /// (clusters), then subnets of subnets (sites). Each level joins whole groups of the level before; the
    /// last is one group. A level that joins nothing is left out.
    const std::vector<Partition>& levels() const noexcept { return levels_; }

  private:
    const LocalCost& at(Rank a, Rank b) const noexcept {
        if (host_of_[a] == host_of_[b] && socket_of_[a] != socket_of_[b]) return between_sockets_;
        return costs_[host_of_[a] * hosts_ + host_of_[b]];
    }

    std::vector<std::size_t> host_of_;
    std::vector<std::uint32_t> socket_of_;
    std::size_t hosts_;
    std::vector<LocalCost> costs_; // by hosts; the diagonal is of one socket
    LocalCost between_sockets_;
    static constexpr std::uint32_t kNoWire = UINT32_MAX;
    std::vector<std::uint32_t> wire_of_host_;
    std::vector<double> wires_; // us_per_byte of each
    std::vector<Partition> levels_;
};

/// The paper's plan: a tree over subnets with the root's first, and inside each the shape
/// that the estimate likes best; so on every level. Plans by level compete with it (plan_by_level()), between
/// clusters plans by rule (plan_by_rule()), and up to 200 members, or where all share one subnet, patterns
/// that are no trees over all members. Patterns in which each sends to each other one do so among up to 200
/// members or groups, and an all_to_all's in one subnet of any size. In an all_to_all all members of each
/// group, or a fraction, exchange with the other groups (4 or 16 of each among 201 to 2,000 members). What
/// the estimate likes best: the least mean of its time with idle and with open connections.
/// @error bad_argument as plan(), or the network has another number of members (thrown)
PLEXUS_API Plan plan_eco(const PlanRequest& request, const Network& network);

/// How connections over long ways are when an operation begins.
enum class Connections : std::uint8_t {
    idle, ///< nothing was sent for some time: they send ten segments at first, and twice as many each round
          ///< trip
    open, ///< they were in use just before: they send as much as the way carries
};

/// Microseconds from the common start until the last member is done. A member that waits for a message does
/// so from when its own bytes have left. Large messages that it sends to several members without a wait in
/// between share its port: the earlier ones arrive later than they would alone. The bytes that arrive at one
/// member do so one after the other, and so do those on a shared wire, out of a subnet, and into one.
/// @error bad_argument the network has another number of members, or the plan does not end (thrown)
PLEXUS_API double estimate_us(const Plan& plan, const Network& network,
                              Connections connections = Connections::idle);

/// When one message is on its way, in microseconds from the common start.
struct Flight {
    double sent_us = 0;  ///< its sender begins to send it
    double free_us = 0;  ///< its sender goes on to its next step
    double taken_us = 0; ///< its receiver has all of it and goes on
    bool operator==(const Flight&) const = default;
};

/// What estimate_us() adds up with idle connections: a flight for each of Plan::messages. @error as
/// estimate_us()
PLEXUS_API std::vector<Flight> timeline(const Plan& plan, const Network& network);

} // namespace plexus::eco
