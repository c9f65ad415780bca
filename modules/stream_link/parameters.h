// SPDX-License-Identifier: BSD-3-Clause
// The parameters that all methods over TCP connections have, for their passports. read_socket_options() reads
// them, and `handshake_timeout`, which each method describes itself.
#pragma once

#include "plexus/module/abi.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace plexus::stream_link {

inline constexpr std::array kSocketParameters = std::to_array<plexus_parameter>({
    {"listen", "list", "loopback", "where to listen: loopback, all, or interfaces, addresses, prefixes"},
    {"interface", "list", "",
     "use only these interfaces, addresses or prefixes (eth0, 10.0.0.0/8); empty: any"},
    {"port", "text", "0", "port to listen on, or a range (7000-7100) whose first free one is taken; 0: any"},
    {"connect_timeout", "duration", "5 s", "how long all addresses of a peer together may take to answer"},
    {"dead_after", "duration", "60 s", "a host that has not answered for so long is gone; 0: never"},
    {"linger", "duration", "1 s", "how long a link that was given up may take to send what it had accepted"},
    {"sndbuf", "size", "0", "the socket's send buffer; 0: the system decides"},
    {"rcvbuf", "size", "0", "the socket's receive buffer; 0: the system decides"},
    {"nodelay", "bool", "true", "send small messages at once (TCP_NODELAY)"},
    {"max_message", "size", "0",
     "largest message; the peers of a link learn it, the smaller limit holds for both; 0: no limit of the "
     "method's own"},
});

/// One of them, for a method that has some: another kind of sockets. A key that none has does not compile.
consteval plexus_parameter socket_parameter(std::string_view key) {
    return *std::find_if(kSocketParameters.begin(), kSocketParameters.end(),
                         [&](const plexus_parameter& each) { return each.key == key; });
}

/// The parameters of a method: `own` ones, then those of its sockets.
template <std::size_t Own>
constexpr auto with_socket_parameters(const plexus_parameter (&own)[Own]) {
    std::array<plexus_parameter, Own + kSocketParameters.size()> all{};
    std::copy(kSocketParameters.begin(), kSocketParameters.end(), std::copy(own, own + Own, all.begin()));
    return all;
}

} // namespace plexus::stream_link
