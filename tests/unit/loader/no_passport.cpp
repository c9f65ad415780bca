// SPDX-License-Identifier: BSD-3-Clause
// A shared object like any other.
#include "plexus/module/abi.h"

extern "C" PLEXUS_EXPORT int plexus_fixture_other() { return 0; }
