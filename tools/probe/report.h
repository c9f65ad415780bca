// SPDX-License-Identifier: BSD-3-Clause
// What a probe says at its end.
#pragma once

#include "tools/probe/coordinator.h"

namespace plexus::tools::probe {

/// The subnets on standard output and what was done on standard error, or one JSON object.
/// Returns an exit code: kNo where pairs are missing that should have been measured.
int report(const Outcome& outcome, const Wish& wish);

} // namespace plexus::tools::probe
