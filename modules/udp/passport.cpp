// SPDX-License-Identifier: BSD-3-Clause
// What the loader reads of the udp method: data only.
#include "stream_link/parameters.h"
#include "udp/module.h"

namespace {
using plexus::stream_link::socket_parameter;

constexpr plexus_parameter kParameters[] = {
    socket_parameter("listen"),
    socket_parameter("interface"),
    socket_parameter("port"),
    {"mtu", "size", "0", "largest packet that is sent; 0: as the system knows the path to each peer"},
    socket_parameter("connect_timeout"),
    {"keep_alive", "duration", "1 s", "after so long without a datagram an open connection sends one"},
    {"silence", "duration", "5 s", "a peer from which nothing has come for so long is given up"},
    {"idle", "duration", "60 s", "a connection without messages for so long ends; 0: never"},
    socket_parameter("sndbuf"),
    socket_parameter("rcvbuf"),
};
} // namespace

PLEXUS_PASSPORT(udp) = {
    .magic = PLEXUS_ABI_MAGIC,
    .abi_major = PLEXUS_ABI_MAJOR,
    .abi_minor = PLEXUS_ABI_MINOR,
    .name = "udp",
    .help = "requests that may be lost (plexus::unreliable), in single encrypted datagrams",
    .ops = &plexus::udp::kOps,
    .parameters = kParameters,
    .parameter_count = std::size(kParameters),
    .parameter_size = sizeof(plexus_parameter),
};
