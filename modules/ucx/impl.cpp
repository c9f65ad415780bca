// SPDX-License-Identifier: BSD-3-Clause
// The part that is loaded when a context wants it.
#include "common/stub.h"
#include "ucx/module.h"

PLEXUS_IMPL(plexus::ucx::kOps);
