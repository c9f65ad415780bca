// SPDX-License-Identifier: BSD-3-Clause
// A network as a value: hosts on segments, segments joined by bridges and links. Describes the parts and
// their speed, not the routes of frames nor how the parts are made. Pure.
//
// All of the network is one Ethernet: a router is written as a bridge with the router's delay.
#pragma once

#include "tools/lab/units.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace plexus::tools::lab {

/// The properties of a wire.
struct Speed {
    std::uint64_t bits_per_second = 0;      ///< 0: without limit
    Time delay{0};                          ///< one way
    std::uint64_t queue_bytes = 256 * 1024; ///< that each sender may have waiting
    bool operator==(const Speed&) const = default;
};

/// Where frames change wires, or hosts are.
struct Place {
    enum class Kind : std::uint8_t {
        shared,   ///< a segment: one wire, on which one frame travels at a time
        switched, ///< a segment: each host has a cable of its own, in both directions
        bridge    ///< has no hosts; keeps a frame for its delay
    };
    std::string name;
    Kind kind = Kind::switched;
    Speed speed; ///< shared: of the wire; switched: of each cable; bridge: of its engine
};

struct Host {
    std::string name;
    std::size_t place = 0; ///< a segment
};

/// Between two places. A port has no wire of its own: the bridge is directly on the segment.
struct Link {
    std::string name;
    std::size_t a = 0, b = 0; ///< places
    Speed speed;
    bool is_port = false;
    bool half_duplex = false; ///< both directions contend for it
};

struct Network {
    std::string name;
    std::string summary;
    std::uint32_t mtu = 1500;
    /// Preamble, check sum and gap: bytes that a frame occupies a wire for beyond its own.
    std::uint32_t overhead_bytes = 24;
    double scale = 1; ///< what rates were multiplied and delays divided by
    bool scaled_delays = true;
    std::vector<Place> places;
    std::vector<Host> hosts; ///< in the order of the file
    std::vector<Link> links;
};

inline constexpr std::size_t kMostHosts = 1000;
/// Room for "host-" and numbers, and a host's name is a UTS name.
inline constexpr std::size_t kLongestName = 63;

/// @error bad_config says what is wrong with it (thrown, as plexus::Error)
void check(const Network& network);

/// The same network with every rate multiplied by `factor` and, unless `keep_delays`, every delay divided by
/// `factor`: the same events in the same order, at `factor` times the speed.
Network scaled(Network network, double factor, bool keep_delays);

/// The index of the host with that name; hosts.size() if there is none.
std::size_t host_named(const Network& network, const std::string& name);

} // namespace plexus::tools::lab
