// SPDX-License-Identifier: BSD-3-Clause
// `plexus probe --models`: the experiments that eco::acquire() asks for, made by the stations of a job, in
// each subnet and between each two. Runs on the coordinator's thread, which never makes progress.
#pragma once

#include "tools/benchmark/progress.h"
#include "tools/probe/links.h"
#include "tools/probe/members.h"
#include "tools/probe/options.h"

#include "plexus/eco/acquired.h"
#include "plexus/eco/map.h"
#include "plexus/eco/partition.h"

#include <span>
#include <vector>

namespace plexus::tools::probe {

/// Acquires every model on each of these links, as often as the options say that pairs are measured: of each
/// experiment the least time is kept. Places in the result are those of the map. A member that does not
/// answer is marked as lost.
std::vector<eco::AcquiredModel> acquire_models(const ProbeOptions& options, Members& members,
                                               const eco::Map& map, const eco::Partition& subnets,
                                               std::span<const std::size_t> here,
                                               benchmark::Progress& progress);

} // namespace plexus::tools::probe
