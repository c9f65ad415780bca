// SPDX-License-Identifier: BSD-3-Clause
// The tcp method's parameters as values. Read once at open; pure values after that.
#pragma once

#include "plexus/module/abi.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plexus::tcp {

/// What may also be set on a link while it runs.
struct SocketOptions {
    std::uint64_t sndbuf = 0; ///< bytes; 0: the system decides
    std::uint64_t rcvbuf = 0;
    bool nodelay = true;
    std::chrono::nanoseconds dead_after{0}; ///< 0: never. Set at open only
};

struct Options {
    std::vector<std::string> listen;     ///< words of the configuration
    std::vector<std::string> interfaces; ///< the same; empty: any
    std::uint16_t first_port = 0;        ///< 0: any
    std::uint16_t last_port = 0;
    std::chrono::nanoseconds connect_timeout{0};
    std::chrono::nanoseconds handshake_timeout{0};
    std::chrono::nanoseconds linger{0};
    std::uint64_t eager = 0;
    std::uint64_t queue = 0;
    std::uint64_t max_message = 0; ///< 0: none
    SocketOptions socket;
};

/// Nothing: a value is bad, and the log says which.
std::optional<Options> read_options(const plexus_host& host);

inline constexpr std::uint64_t kMostSocketBuffer = std::uint64_t{1} << 30;

} // namespace plexus::tcp
