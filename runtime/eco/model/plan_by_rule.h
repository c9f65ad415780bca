// SPDX-License-Identifier: BSD-3-Clause
// Plans by rule of one task. What they have in common is found once: who wants to compare several asks for
// them one by one. Pure.
#pragma once

#include "plexus/eco/intercluster.h"
#include "plexus/eco/levels.h"
#include "plexus/eco/model.h"
#include "plexus/eco/network.h"

#include <vector>

namespace plexus::eco {

/// The levels up to what plan_by_rule() calls clusters, and all. Empty: there is one cluster.
Levels to_clusters(const Network& network);

class PlansByRule {
  public:
    /// Refers to the request, which is as plan_by_rule() takes it. `levels` are those of to_clusters(), and
    /// not empty.
    PlansByRule(const PlanRequest& request, const Network& network, Levels levels);

    /// The instance for the rules, if the members of each cluster act by `inside`.
    InterclusterInstance instance(const AlgorithmOptions& inside) const;
    /// `between` is a schedule of such an instance. @error as plan_by_level() (thrown)
    Plan plan(const InterclusterSchedule& between, const std::vector<AlgorithmOptions>& inside) const;

  private:
    const PlanRequest& request_;
    Levels levels_;
    std::vector<Hockney> costs_; ///< of a message inside each cluster
    InterclusterInstance ways_;  ///< without the times inside
};

/// That of `rule` among `all`, which schedules() gave. `optimal`, where it was not searched for: the
/// earliest.
const InterclusterSchedule& by_rule(const std::vector<InterclusterSchedule>& all, ScheduleRule rule) noexcept;

} // namespace plexus::eco
