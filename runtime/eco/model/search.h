// SPDX-License-Identifier: BSD-3-Clause
// The inter-cluster schedule that completes earliest, by branch and bound. Pure.
#pragma once

#include "plexus/eco/intercluster.h"

#include <limits>

namespace plexus::eco {

/// Later than any time: when a cluster without the message is ready, and the start of a search for the least.
inline constexpr double kLaterThanAll = std::numeric_limits<double>::infinity();

/// Searches below `known`, which is a whole schedule; returns its sends where nothing is better. `instance`
/// is checked and has at most kOptimalClusters clusters.
std::vector<ClusterSend> best_sends(const InterclusterInstance& instance, Completion completion,
                                    const InterclusterSchedule& known);

} // namespace plexus::eco
