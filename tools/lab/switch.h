// SPDX-License-Identifier: BSD-3-Clause
// The switch program: takes frames from the TAP devices of hosts, lets the fabric say when
// they arrive where, and hands them over at that time: asleep while nothing is due soon,
// then busily waiting, for a bounded share of its time. One process, one thread.
//
// It carries frames from one host to one other. Broadcasts are counted and dropped: hosts
// know their neighbours' addresses from the start.
#pragma once

#include "tools/lab/network.h"
#include "tools/lab/owned_fd.h"

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
