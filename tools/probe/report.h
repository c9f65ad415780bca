// SPDX-License-Identifier: BSD-3-Clause
// The output of a probe.
#pragma once

#include "tools/probe/coordinator.h"

namespace plexus::tools::probe {

/// Prints the subnets on standard output and a summary on standard error, or one JSON object.
/// Returns an exit code: kNo if pairs are missing that should have been measured.
int report(const Outcome& outcome, const ProbeOptions& options);

} // namespace plexus::tools::probe
