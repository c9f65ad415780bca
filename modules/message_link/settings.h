// SPDX-License-Identifier: BSD-3-Clause
// What a method's parameters say about its links. A value.
#pragma once

#include <chrono>
#include <cstdint>

namespace plexus::message_link {

using Clock = std::chrono::steady_clock;

struct Settings {
    std::chrono::nanoseconds connect_timeout{0};
    std::chrono::nanoseconds handshake_timeout{0};
    std::chrono::nanoseconds dead_after{0}; ///< a peer that is silent for so long is gone; 0: never
    std::chrono::nanoseconds linger{0};
    std::uint16_t window = 0; ///< messages that a link may have under way
};

} // namespace plexus::message_link
