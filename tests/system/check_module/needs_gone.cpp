// SPDX-License-Identifier: BSD-3-Clause
// A shared object that cannot be loaded without the library of gone.cpp.
#include "plexus/module/abi.h"

extern "C" int plexus_test_gone();
extern "C" PLEXUS_EXPORT int plexus_test_needs_gone() { return plexus_test_gone(); }
