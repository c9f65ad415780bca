// SPDX-License-Identifier: BSD-3-Clause
// What the loader reads of the local method: data only.
#include "local/module.h"

namespace {
constexpr plexus_parameter kParameters[] = {
    {"queue", "size", "1 MiB", "bytes that one link may have waiting for a receiver that does not poll"},
    {"eager", "size", "16 KiB",
     "largest message that is copied into the queue; larger ones are fetched in place"},
};
} // namespace

PLEXUS_PASSPORT(local) = {
    .magic = PLEXUS_ABI_MAGIC,
    .abi_major = PLEXUS_ABI_MAJOR,
    .abi_minor = PLEXUS_ABI_MINOR,
    .name = "local",
    .help = "contexts of the same process",
    .ops = &plexus::local::kOps,
    .parameters = kParameters,
    .parameter_count = std::size(kParameters),
    .parameter_size = sizeof(plexus_parameter),
};
