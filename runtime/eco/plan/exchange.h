// SPDX-License-Identifier: BSD-3-Clause
// An all_to_all between clusters without a single root: some members of each cluster, or all, exchange with
// those of the other clusters. Pure.
#pragma once

#include "plexus/eco/partition.h"
#include "plexus/eco/plan.h"

#include <cstddef>
#include <vector>

namespace plexus::eco {

/// How many exchangers are worth trying: `first` and so on by the factor `step` (2 or more), as far as they
/// are fewer than the members of the largest cluster and than `most`, and then the lesser of these two.
std::vector<std::size_t> exchanger_counts(const Partition& clusters, std::size_t first, std::size_t step,
                                          std::size_t most);

/// @error bad_argument as plan(), or no exchanger (thrown) @error unsupported another operation (thrown)
Plan plan_exchange(const PlanRequest& request, const Partition& clusters, const ExchangeOptions& options);

} // namespace plexus::eco
