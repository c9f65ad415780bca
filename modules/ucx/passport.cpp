// SPDX-License-Identifier: BSD-3-Clause
// What the loader reads of the ucx method: data only.
#include "plexus/module/module.h"

#include <iterator>

namespace plexus::ucx {
extern const plexus_ops kOps; // the stub's; built in, the module's own
}

namespace {
constexpr plexus_parameter kParameters[] = {
    {"tls", "list", "",
     "transports as UCX names them (rc, ud, tcp, shm, posix, all); empty: fabrics, where there are any"},
    {"net_devices", "list", "", "network devices as UCX names them (mlx5_0:1, eth0); empty: all"},
    {"env", "text", "", "other UCX variables for this method: \"UCX_RNDV_THRESH=64k; UCX_MAX_RNDV_RAILS=1\""},
    {"connect_timeout", "duration", "5 s", "how long a peer may take to answer"},
    {"handshake_timeout", "duration", "5 s",
     "how long a stranger may take to prove that it holds the job's key"},
    {"linger", "duration", "1 s", "how long a link that was given up may take to send what it had accepted"},
    {"eager", "size", "8 KiB", "largest message that is copied on its way; larger ones go in place"},
    {"remote", "size", "32 KiB",
     "smallest get or put of bound memory that UCX moves by itself; 0: none; over tcp none is"},
    {"queue", "size", "256 KiB", "bytes of small messages that a link holds when UCX takes no more"},
};
} // namespace

PLEXUS_PASSPORT(ucx) = {
    .magic = PLEXUS_ABI_MAGIC,
    .abi_major = PLEXUS_ABI_MAJOR,
    .abi_minor = PLEXUS_ABI_MINOR,
    .name = "ucx",
    .help = "fabrics that UCX reaches: InfiniBand, RoCE and others; on demand tcp and shared memory",
    .ops = &plexus::ucx::kOps,
    .parameters = kParameters,
    .parameter_count = std::size(kParameters),
    .parameter_size = sizeof(plexus_parameter),
};
