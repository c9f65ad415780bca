// SPDX-License-Identifier: BSD-3-Clause
// The libfabric method's parameters as values. Read once at open; pure values after that.
#pragma once

#include "plexus/module/abi.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plexus::libfabric {

struct Options {
    std::vector<std::string> providers; ///< best first; empty: the fastest there is
    std::vector<std::string> domains;   ///< best first; empty: any
    std::chrono::nanoseconds connect_timeout{0};
    std::chrono::nanoseconds handshake_timeout{0};
    std::chrono::nanoseconds dead_after{0}; ///< 0: never
    std::chrono::nanoseconds linger{0};
    std::size_t eager = 0;    ///< bytes
    bool fetch = true;        ///< large messages are read by their receiver, where the provider can
    std::uint16_t window = 0; ///< messages
    std::size_t buffers = 0;
};

/// Nothing: a value is bad, and the log says which.
std::optional<Options> read_options(const plexus_host& host);

} // namespace plexus::libfabric
