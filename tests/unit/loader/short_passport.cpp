// SPDX-License-Identifier: BSD-3-Clause
// Something of the passport's name that ends before a passport would.
#include "plexus/module/abi.h"

extern "C" PLEXUS_EXPORT const uint64_t plexus_passport;
const uint64_t plexus_passport = PLEXUS_ABI_MAGIC;
