// SPDX-License-Identifier: BSD-3-Clause
// The table of the Nexus paper (its Table 1): the same run under each way of polling,
// interleaved, several times, medians side by side. Every context of the job calls it.
#pragma once

#include "simulation.h"

namespace climate {

/// False if two runs did not give the same numbers. Context 0 prints.
bool run_table(Simulation& simulation, const Options& options, const Layout& layout);

} // namespace climate
