// SPDX-License-Identifier: BSD-3-Clause
// What the loader reads of the tcp method: data only.
#include "tcp/module.h"

namespace {
constexpr plexus_parameter kParameters[] = {
    {"listen", "list", "loopback", "where to listen: loopback, all, or interfaces, addresses, prefixes"},
    {"interface", "list", "",
     "use only these interfaces, addresses or prefixes (eth0, 10.0.0.0/8); empty: any"},
    {"port", "text", "0", "port to listen on, or a range (7000-7100) whose first free one is taken; 0: any"},
    {"connect_timeout", "duration", "5 s", "how long all addresses of a peer together may take to answer"},
    {"handshake_timeout", "duration", "5 s",
     "how long a stranger may take to prove that it holds the job's key"},
    {"dead_after", "duration", "60 s", "a host that has not answered for so long is gone; 0: never"},
    {"linger", "duration", "1 s", "how long a link that was given up may take to send what it had accepted"},
    {"sndbuf", "size", "0", "the socket's send buffer; 0: the system decides"},
    {"rcvbuf", "size", "0", "the socket's receive buffer; 0: the system decides"},
    {"nodelay", "bool", "true", "send small messages at once (TCP_NODELAY)"},
    {"eager", "size", "16 KiB",
     "largest message that is delivered out of the receive buffer; larger go in place"},
    {"queue", "size", "256 KiB", "bytes of small messages that a link holds when its socket is full"},
    {"max_message", "size", "0",
     "largest message; the peers of a link learn it, the smaller limit holds for both; 0: no limit of the "
     "method's own"},
};
} // namespace

PLEXUS_PASSPORT(tcp) = {
    .magic = PLEXUS_ABI_MAGIC,
    .abi_major = PLEXUS_ABI_MAJOR,
    .abi_minor = PLEXUS_ABI_MINOR,
    .name = "tcp",
    .help = "any host that a TCP connection reaches, IPv4 and IPv6",
    .ops = &plexus::tcp::kOps,
    .parameters = kParameters,
    .parameter_count = std::size(kParameters),
    .parameter_size = sizeof(plexus_parameter),
};
