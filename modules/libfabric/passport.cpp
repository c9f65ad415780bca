// SPDX-License-Identifier: BSD-3-Clause
// What the loader reads of the libfabric method: data only.
#include "plexus/module/module.h"

namespace plexus::libfabric {
extern const plexus_ops kOps; // the stub's; built in, the module's own
}

namespace {
constexpr plexus_parameter kParameters[] = {
    {"provider", "list", "",
     "libfabric's providers in order of preference (verbs;ofi_rxm, tcp, shm), a row of the table for each; "
     "empty: the fastest fabric, nothing without one"},
    {"domain", "list", "", "use only these domains of a provider (mlx5_0, eth0, lo), best first; empty: any"},
    {"connect_timeout", "duration", "5 s", "how long a peer may take to answer"},
    {"handshake_timeout", "duration", "5 s",
     "how long a stranger may take to prove that it holds the job's key"},
    {"dead_after", "duration", "60 s",
     "a peer on another host that has not answered for so long is gone; 0: never"},
    {"linger", "duration", "1 s", "how long a link that was given up may take to send what it had accepted"},
    {"eager", "size", "8 KiB", "largest message that is copied into the transport; larger ones are fetched"},
    {"fetch", "bool", "true", "large messages are read from their sender's memory; false: sent in parts"},
    {"window", "count", "128", "messages that a link may have under way before its receiver has taken them"},
    {"buffers", "count", "128", "receive buffers of a provider, each of `eager` bytes"},
};
} // namespace

PLEXUS_PASSPORT(libfabric) = {
    .magic = PLEXUS_ABI_MAGIC,
    .abi_major = PLEXUS_ABI_MAJOR,
    .abi_minor = PLEXUS_ABI_MINOR,
    .name = "libfabric",
    .help = "fabrics that libfabric drives: InfiniBand, Slingshot, EFA, Omni-Path and others",
    .ops = &plexus::libfabric::kOps,
    .parameters = kParameters,
    .parameter_count = std::size(kParameters),
    .parameter_size = sizeof(plexus_parameter),
};
