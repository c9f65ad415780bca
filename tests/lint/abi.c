/* SPDX-License-Identifier: BSD-3-Clause */
/* The smallest passport, in C: it only has to compile. */
#include "plexus/module/abi.h"

static const struct plexus_ops ops = {.size = PLEXUS_OPS_SIZE, .caps = PLEXUS_CAP_SLEEP};

PLEXUS_EXPORT extern const struct plexus_passport plexus_passport;
const struct plexus_passport plexus_passport = {
    .magic = PLEXUS_ABI_MAGIC,
    .abi_major = PLEXUS_ABI_MAJOR,
    .abi_minor = PLEXUS_ABI_MINOR,
    .name = "nothing",
    .ops = &ops,
};
