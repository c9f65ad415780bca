// SPDX-License-Identifier: BSD-3-Clause
// The report of a lab: bytes per link, and whether the switch was on time. Text for people, JSON for
// programs. Pure.
#pragma once

#include "tools/lab/fabric.h"
#include "tools/lab/lateness.h"

#include <string>

namespace plexus::tools::lab {

/// The counts of the switch besides those of the fabric.
struct SwitchCount {
    Lateness lateness;
    std::uint64_t not_carried = 0; ///< broadcasts, and frames for nobody
    Time time{0};                  ///< since the counts began
    Time spun{0};                  ///< of it, waiting busily
    Time processor{0};             ///< of it, on a processor
};

std::string report_json(const Network& network, const Routes& routes, const Fabric& fabric,
                        const SwitchCount& count);
std::string report_text(const Network& network, const Routes& routes, const Fabric& fabric,
                        const SwitchCount& count);
/// One or two sentences, each a line: the scale, and whether to believe the times.
std::string verdict(const Network& network, const SwitchCount& count);

} // namespace plexus::tools::lab
