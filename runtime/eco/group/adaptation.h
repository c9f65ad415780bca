// SPDX-License-Identifier: BSD-3-Clause
// Adaptation of one group: times its calls, lets member 0 judge them, measures edges that no longer fit the
// map, and brings all members to the refined map that member 0 has made. The arithmetic is in model/drift.h.
//
// All members pass through the same steps, because these depend on the number of calls and on what member 0
// has sent, and on nothing that another member has measured itself.
#pragma once

#include "base/mutex.h"
#include "group/group_state.h"
#include "model/drift.h"
#include "plexus/eco/adapt.h"

#include <memory>
#include <optional>
#include <vector>

namespace plexus::eco::detail {

class Adaptation {
  public:
    /// Called by every member. @error bad_argument members have other options: the text names them. Or the
    /// options make no sense (thrown on all members)
    Adaptation(std::shared_ptr<GroupState> group, const AdaptOptions& options);

    /// One call of the group, and before it the check if that is due. Each has the deadline for itself.
    /// @error as GroupState::run() (thrown)
    void run(const CollectiveArgs& args, const Algorithm& algorithm, Deadline deadline)
        PLEXUS_EXCLUDES(mutex_);
    /// @thread any
    std::shared_ptr<const Map> map() const PLEXUS_EXCLUDES(mutex_);
    /// @thread any
    AdaptReport report() const PLEXUS_EXCLUDES(mutex_);

  private:
    /// Calls that have one plan, and how long this member was in each since the last check.
    struct TimedCalls {
        PlanRequest request;
        Algorithm algorithm;
        std::uint64_t number; ///< of the algorithm
        std::vector<double> us;
        std::optional<double> expected_us; ///< on member 0, since the last change of the map
    };
    /// The history says that this algorithm is the fastest for such calls.
    struct Choice {
        Operation operation;
        Rank root;
        std::uint64_t bytes;
        AlgorithmOptions options;
    };
    /// What member 0 sends to all: edges to be measured, or if there are none, the outcome of the check.
    struct Decision {
        std::uint64_t edges = 0;
        std::uint64_t large_bytes = 0;
        std::uint64_t changes = 0;
        std::uint32_t epoch = 0;
        std::uint32_t calls_until_check = 0;
    };
    /// One check on member 0.
    struct Judgement {
        std::vector<MemberPair> edges; ///< to be measured next
        std::vector<MemberPair> known; ///< measured in this check
        std::vector<MeasuredEdge> measured;
        std::vector<TimedCalls*> suspects;
        std::uint64_t large_bytes = 0;
    };
    class Direct;

    std::vector<Choice> choose(const History& history) PLEXUS_EXCLUDES(mutex_);
    const Choice* choice_for(const PlannedCall& planned, const CollectiveArgs& args,
                             const Algorithm& algorithm) const;
    void remember(const TimedCalls& calls, double predicted_us, double measured_us) PLEXUS_EXCLUDES(mutex_);
    void note(const PlannedCall& planned, const CollectiveArgs& args, const Algorithm& algorithm, double us)
        PLEXUS_EXCLUDES(mutex_);
    void check(Deadline deadline) PLEXUS_EXCLUDES(mutex_);
    void judge(const std::vector<double>& slowest_us, Judgement& out) PLEXUS_EXCLUDES(mutex_);
    void take_measured(const std::vector<double>& us, Judgement& out);
    std::vector<double> probe(const std::vector<MemberPair>& edges, std::uint64_t large_bytes,
                              Deadline deadline);
    double exchange_us(std::optional<MemberPair> mine, std::uint64_t bytes, std::uint64_t number,
                       Deadline deadline);
    void apply(const std::vector<CostChange>& changes, std::uint32_t epoch) PLEXUS_EXCLUDES(mutex_);

    const std::shared_ptr<GroupState> group_;
    const AdaptOptions options_;
    const std::shared_ptr<const Map> first_map_;
    HistoryPlace place_;              ///< of the first map
    std::vector<std::size_t> places_; ///< of the members' hosts in the map
    Partition closest_hosts_;
    Partition closest_members_;
    std::vector<TimedCalls> timed_;
    std::vector<Choice> chosen_;      ///< the same on all members
    std::vector<MemberPair> refined_; ///< on member 0: edges that had drifted when they were measured
    std::optional<Network> network_;  ///< of the present map
    std::uint32_t calls_until_check_;

    mutable RankedMutex<11> mutex_;
    std::shared_ptr<const Map> map_ PLEXUS_GUARDED_BY(mutex_);
    AdaptReport report_ PLEXUS_GUARDED_BY(mutex_); // without what is computed from maps
};

} // namespace plexus::eco::detail
