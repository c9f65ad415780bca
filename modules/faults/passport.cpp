// SPDX-License-Identifier: BSD-3-Clause
// The faults module's passport: data only.
#include "faults/module.h"
#include "over/link.h"
#include "plexus/module/table.h"

namespace {

using namespace plexus::faults;

// Without remote memory: transfers go as messages, which can be delayed and lost.
constexpr plexus_ops kOps =
    plexus::module::table_of<Module, plexus::over::Link, PLEXUS_CAP_SLEEP | PLEXUS_CAP_FRAGILE>();

constexpr plexus_parameter kParameters[] = {
    {"over", "text", "tcp", "the method that really carries the messages"},
    {"seed", "count", "1", "the same seed gives the same faults"},
    {"delay", "duration", "0", "how long each message is kept back at the receiver"},
    {"withhold", "count", "0", "for how many polls each message is kept back at the receiver"},
    {"again_every", "count", "0", "one send in this many finds no room, at random (0: none)"},
    {"drop_link_every", "count", "0",
     "a link is cut at this message, up to three before it are lost (0: never)"},
    {"refuse_connect", "count", "0", "every n-th connection fails (0: none)"},
};

} // namespace

PLEXUS_PASSPORT(faults) = {
    .magic = PLEXUS_ABI_MAGIC,
    .abi_major = PLEXUS_ABI_MAJOR,
    .abi_minor = PLEXUS_ABI_MINOR,
    .name = "faults",
    .help = "another method with delays, refusals and cuts by plan and seed, for tests",
    .ops = &kOps,
    .parameters = kParameters,
    .parameter_count = sizeof kParameters / sizeof kParameters[0],
    .parameter_size = sizeof(plexus_parameter),
};
