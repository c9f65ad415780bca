// SPDX-License-Identifier: BSD-3-Clause
// What the methods over TCP connections have in common of their parameters, as values. Read once at open;
// pure values after that.
#pragma once

#include "common/values.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace plexus::stream_link {

/// What may also be set on a link while it runs.
struct SocketOptions {
    std::uint64_t sndbuf = 0; ///< bytes; 0: the system decides
    std::uint64_t rcvbuf = 0;
    bool nodelay = true;
    std::chrono::nanoseconds dead_after{0}; ///< 0: never. Set at open only
};

/// What travels in the connections.
enum class Framing : std::uint8_t {
    frames, ///< messages, each behind the word of a frame (see common/frames.h)
    none,   ///< the messages' own bytes: the reader knows where each ends
};

struct Options {
    Framing framing = Framing::frames;
    std::vector<std::string> listen;     ///< words of the configuration
    std::vector<std::string> interfaces; ///< the same; empty: any
    std::uint16_t first_port = 0;        ///< 0: any
    std::uint16_t last_port = 0;
    std::chrono::nanoseconds connect_timeout{0};
    std::chrono::nanoseconds handshake_timeout{0};
    std::chrono::nanoseconds linger{0};
    bool subnet = false;     ///< only to and from hosts on this host's own networks
    std::uint64_t eager = 0; ///< largest message that is copied, and delivered out of the receive buffer
    std::uint64_t queue = 0; ///< bytes of such messages that a link holds when its socket is full
    std::uint64_t max_message = 0; ///< 0: none
    SocketOptions socket;
};

/// Reads all but `framing`, `eager` and `queue`.
void read_socket_options(module::Parameters& parameters, Options& out);

/// Of these, what every kind of socket has: where it listens, connect_timeout, its buffers.
void read_addresses(module::Parameters& parameters, Options& out);

inline constexpr std::uint64_t kMostSocketBuffer = std::uint64_t{1} << 30;

} // namespace plexus::stream_link
