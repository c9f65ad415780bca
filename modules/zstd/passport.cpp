// SPDX-License-Identifier: BSD-3-Clause
// The zstd module's passport: data only.
#include "over/link.h"
#include "plexus/module/table.h"
#include "zstd/module.h"

namespace {

using plexus::zstd::Module;

// Without remote memory: its bytes would go uncompressed. A damaged message breaks a link.
constexpr plexus_ops kOps =
    plexus::module::table_of<Module, plexus::over::Link, PLEXUS_CAP_SLEEP | PLEXUS_CAP_FRAGILE>();

constexpr plexus_parameter kParameters[] = {
    {"over", "text", "tcp", "the method that carries the messages"},
    {"level", "count", "1", "of compression: 1 is fast, 19 packs best"},
    {"from", "size", "4 KiB", "smaller messages are sent as they are"},
    {"always", "bool", "false", "compress what shrinks even where the link is faster than the processor"},
};

} // namespace

PLEXUS_PASSPORT(zstd) = {
    .magic = PLEXUS_ABI_MAGIC,
    .abi_major = PLEXUS_ABI_MAJOR,
    .abi_minor = PLEXUS_ABI_MINOR,
    .name = "zstd",
    .help = "another method with large messages compressed where that pays (libzstd)",
    .ops = &kOps,
    .parameters = kParameters,
    .parameter_count = sizeof kParameters / sizeof kParameters[0],
    .parameter_size = sizeof(plexus_parameter),
};
