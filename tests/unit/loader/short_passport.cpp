// SPDX-License-Identifier: BSD-3-Clause
// Something of the passport's name that ends before a passport would.
#include "plexus/module/abi.h"

#if defined(__clang__)
// The sanitizer's padding would count as part of the passport.
#define PLEXUS_UNPADDED __attribute__((no_sanitize("address")))
#else
#define PLEXUS_UNPADDED
#endif

extern "C" PLEXUS_EXPORT const uint64_t plexus_passport;
PLEXUS_UNPADDED const uint64_t plexus_passport = PLEXUS_ABI_MAGIC;
