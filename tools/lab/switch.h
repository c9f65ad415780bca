// SPDX-License-Identifier: BSD-3-Clause
// The switch program: takes frames from the TAP devices of hosts, asks the fabric when and where they
// arrive, and delivers them at that time. Sleeps while nothing is due soon, then spins for a bounded
// share of the time. One process, one thread.
//
// The switch carries frames from one host to one other host. Broadcasts are counted and dropped: hosts
// know their neighbours' addresses from the start.
#pragma once

#include "runtime/base/unique_fd.h"
#include "tools/lab/network.h"

#include <sys/types.h>
#include <vector>

namespace plexus::tools::lab {

struct SwitchWires {
    std::vector<int> taps; ///< by host
    int lab_tap = -1;      ///< of the machine that the lab runs on: no wire, not counted
    int listener = -1;     ///< for `plexus lab ctl`
    int owner = -1;        ///< a connection; the switch ends with it
};

/// Runs until the owner has gone. For a process of its own.
void run_switch(const Network& network, const SwitchWires& wires);

} // namespace plexus::tools::lab
