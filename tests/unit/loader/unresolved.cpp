// SPDX-License-Identifier: BSD-3-Clause
// A shared object that needs a function which nobody has.
#include "plexus/module/abi.h"

extern "C" int plexus_fixture_nowhere();
extern "C" PLEXUS_EXPORT int plexus_fixture_unresolved() { return plexus_fixture_nowhere(); }
