// SPDX-License-Identifier: BSD-3-Clause
// Which wires a frame takes from one host to another. A network becomes pipes, each with one frame at a
// time, and for each pair of hosts the pipes in their order: the route with the fewest links, and among
// such routes the route with the least delay. Pure.
#pragma once

#include "tools/lab/network.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace plexus::tools::lab {

/// One direction of a cable or link, a shared wire, or a bridge's engine.
struct Pipe {
    std::string part; ///< the name in `ctl` and reports: of a segment, bridge, link or host
    std::string from; ///< empty where it has no direction
    std::string to;
    Speed speed;
    std::uint32_t stations = 1; ///< senders that contend for it, each with a queue
};

struct Hop {
    std::uint32_t pipe;
    std::uint32_t station;
    bool operator==(const Hop&) const = default;
};

/// What can be switched off under one name.
struct Part {
    std::string name;
    std::vector<std::uint32_t> pipes;
    std::vector<std::uint32_t> hosts; ///< that are cut off, whatever pipe they use
};

class Routes {
  public:
    /// `network` has been checked.
    explicit Routes(const Network& network);

    const std::vector<Pipe>& pipes() const noexcept { return pipes_; }
    const std::vector<Part>& parts() const noexcept { return parts_; }
    std::size_t hosts() const noexcept { return hosts_; }
    /// Empty from a host to itself.
    std::span<const Hop> route(std::size_t from, std::size_t to) const { return routes_[from * hosts_ + to]; }
    /// Where all frames of a host begin.
    Hop entry(std::size_t host) const { return entries_[host]; }
    /// The time of a frame without bytes in an empty network.
    Time delay(std::size_t from, std::size_t to) const;

  private:
    /// How frames get on a link and off it.
    struct Crossing {
        std::size_t link;
        std::size_t to; ///< place
        std::vector<Hop> hops;
    };
    std::uint32_t add_pipe(Pipe pipe);
    void add_places(const Network& network);
    void add_links(const Network& network);
    void add_routes(const Network& network);
    std::vector<std::vector<Hop>> ways_from(std::size_t place) const;

    std::size_t hosts_;
    std::vector<Pipe> pipes_;
    std::vector<Part> parts_;
    std::vector<Hop> entries_;
    std::vector<std::vector<Hop>> exits_;          // by host: after its segment was reached
    std::vector<std::uint32_t> place_pipe_;        // shared and bridge: their pipe
    std::vector<std::vector<Crossing>> crossings_; // by place
    std::vector<std::vector<Hop>> routes_;
};

} // namespace plexus::tools::lab
