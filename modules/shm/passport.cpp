// SPDX-License-Identifier: BSD-3-Clause
// What the loader reads of the shm method: data only.
#include "shm/module.h"

namespace {
constexpr plexus_parameter kParameters[] = {
    {"ring", "size", "16 KiB", "shared memory for small messages, per link and direction; a power of two"},
    {"inline", "size", "2 KiB", "largest message that travels in the ring; at most a quarter of it"},
    {"area", "size", "4 MiB",
     "shared memory for larger messages, per link and direction, only while it is used"},
    {"eager", "size", "1 MiB",
     "largest message, its head apart, that the receiver reads in the shared area; at most a quarter of it"},
    {"copy", "text", "auto",
     "how larger messages are copied: auto (measured for each size), cached, nontemporal (past the caches), "
     "cma"},
    {"past_caches_from", "text", "auto",
     "smallest message that the sender copies past its own caches; auto: as copy says"},
    {"cma", "text", "auto", "cross-memory attach: auto (where the kernel permits), on (warn where not), off"},
    {"cma_from", "text", "auto",
     "smallest message above eager that is fetched by cross-memory attach; auto: as copy says"},
    {"hot", "count", "4", "links that each poll looks at directly; the others ring the doorbell"},
    {"connect_timeout", "duration", "10 s",
     "how long a peer may take to answer; also how long its messages wait where there is no memory or "
     "descriptor "
     "for them"},
    {"linger", "duration", "1 s",
     "how long the end of a context or of a link waits for messages that a peer is fetching"},
    {"area_idle", "duration", "1 s", "after this time without use the shared area is given back"},
};
} // namespace

PLEXUS_PASSPORT(shm) = {
    .magic = PLEXUS_ABI_MAGIC,
    .abi_major = PLEXUS_ABI_MAJOR,
    .abi_minor = PLEXUS_ABI_MINOR,
    .name = "shm",
    .help = "contexts of the same user on the same host, through shared memory",
    .ops = &plexus::shm::kOps,
    .parameters = kParameters,
    .parameter_count = std::size(kParameters),
    .parameter_size = sizeof(plexus_parameter),
};
