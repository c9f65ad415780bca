// SPDX-License-Identifier: BSD-3-Clause
// An all_to_all between clusters without a single root: some members of each cluster, or all, exchange with
// those of the other clusters. Pure.
#pragma once

#include "plexus/eco/partition.h"
#include "plexus/eco/plan.h"

namespace plexus::eco {

/// How the clusters of an exchange act. Each has `exchangers` members that exchange, or all if it has fewer.
/// Every other member hands one of them what it has for other clusters. Then each exchanger sends each other
/// cluster one message, to one member there, which hands on what is for others of its cluster. Inside a
/// cluster members send to each other directly.
struct ExchangeOptions {
    std::size_t exchangers = 1;
    /// Each waits for what comes in a round before it sends in the next, so that each receives one message at
    /// a time if clusters are alike; else all messages between clusters leave at once.
    bool in_rounds = false;
};

/// @error bad_argument as plan(), or no exchanger (thrown) @error unsupported another operation (thrown)
Plan plan_exchange(const PlanRequest& request, const Partition& clusters, const ExchangeOptions& options);

} // namespace plexus::eco
