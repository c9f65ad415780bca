// SPDX-License-Identifier: BSD-3-Clause
// What the loader reads of the tcp method: data only.
#include "stream_link/parameters.h"
#include "tcp/module.h"

namespace {
constexpr auto kParameters = plexus::stream_link::with_socket_parameters({
    {"handshake_timeout", "duration", "5 s",
     "how long a stranger may take to prove that it holds the job's key"},
    {"eager", "size", "16 KiB",
     "largest message that is delivered out of the receive buffer; larger go in place"},
    {"queue", "size", "256 KiB", "bytes of small messages that a link holds when its socket is full"},
});
} // namespace

PLEXUS_PASSPORT(tcp) = {
    .magic = PLEXUS_ABI_MAGIC,
    .abi_major = PLEXUS_ABI_MAJOR,
    .abi_minor = PLEXUS_ABI_MINOR,
    .name = "tcp",
    .help = "any host that a TCP connection reaches, IPv4 and IPv6",
    .ops = &plexus::tcp::kOps,
    .parameters = kParameters.data(),
    .parameter_count = kParameters.size(),
    .parameter_size = sizeof(plexus_parameter),
};
