// SPDX-License-Identifier: BSD-3-Clause
// The parameters of udp as values. Read once at open; pure values after that.
#pragma once

#include "stream_link/options.h"

#include <chrono>
#include <cstdint>
#include <optional>

namespace plexus::udp {

struct Options {
    stream_link::Options where;             ///< listen, interface, port, connect_timeout, buffers
    std::chrono::nanoseconds keep_alive{0}; ///< a session that is silent for so long says that it is there
    std::chrono::nanoseconds silence{0};    ///< from the other side, after which a session is lost
    std::chrono::nanoseconds idle{0};       ///< without a message either way, after which it ends
    std::uint64_t mtu = 0;                  ///< bytes of a packet; 0: the path's
};

/// Nothing: a parameter is wrong, and the log says which.
std::optional<Options> read_options(const plexus_host& host);

} // namespace plexus::udp
