// SPDX-License-Identifier: BSD-3-Clause
// A library that a module needs, and that will be missing.
#include "plexus/module/abi.h"

extern "C" PLEXUS_EXPORT int plexus_test_gone() { return 7; }
