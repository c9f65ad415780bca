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

#include <functional>
#include <span>
#include <vector>

namespace plexus::tools::probe {

/// Takes the models of one link; places are those of the map.
using KeepModels = std::function<void(const std::vector<eco::AcquiredModel>&)>;

/// Acquires every model on each of these links, as often as the options say that pairs are measured: of each
/// experiment typical_time() is kept. `keep` gets what there is of a link after its first pass, and after the
/// last pass once more. A member that does not answer is marked as lost.
void acquire_models(const ProbeOptions& options, Members& members, const eco::Map& map,
                    const eco::Partition& subnets, std::span<const std::size_t> here,
                    benchmark::Progress& progress, const KeepModels& keep);

} // namespace plexus::tools::probe
