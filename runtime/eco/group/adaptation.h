// SPDX-License-Identifier: BSD-3-Clause
// Adaptation of one group: times its calls, lets member 0 judge them, measures edges that no longer fit the
// map, and brings all members to the refined map that member 0 has made. The arithmetic is in model/drift.h.
//
// All members pass through the same steps, because these depend on the number of calls and on what member 0
// has sent, and on nothing that another member has measured itself.
#pragma once

#include "base/mutex.h"
#include "group/decision.h"
#include "group/group_state.h"
#include "model/drift.h"
#include "plexus/eco/adapt.h"

#include <deque>
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
    /// What calls of one kind are to take, on member 0.
    struct Expected {
        double predicted_us;  ///< by the map
        double us;            ///< what was measured from the first check on
        int checks_with_less; ///< in a row
    };
    /// Calls that have one plan, and how long this member was in each since the last check.
    struct TimedCalls {
        PlanRequest request;
        Algorithm algorithm;
        std::uint64_t number; ///< of the algorithm
        std::vector<double> us;
        std::optional<Expected> expected; ///< since the last change of the map
    };
    /// One check on member 0.
    struct Judgement {
        Clock::time_point begin; ///< of the check
        double reduce_us;        ///< until the members' times were there
        double deadline_us;      ///< for each step
        double call_us = 0;      ///< the mean of calls
        double slower = 1;       ///< the most by which calls took longer than the map says, as a ratio
        double probes_us = 0;    ///< what all that is measured is expected to take
        std::deque<ProbeRound> rounds = {};      ///< to be measured next
        std::vector<MemberPair> known = {};      ///< measured in this check
        std::vector<MeasuredEdge> measured = {}; ///< the same edges
        bool looked_beside = false;
        bool looked_again = false;
    };
    class Direct;

    void agree_on_choices() PLEXUS_EXCLUDES(mutex_);
    std::vector<Choice> choose(const History& history) PLEXUS_EXCLUDES(mutex_);
    const Choice* choice_for(const PlannedCall& planned, const CollectiveArgs& args,
                             const Algorithm& algorithm) const;
    void remember(const TimedCalls& calls, double predicted_us, double measured_us) PLEXUS_EXCLUDES(mutex_);
    void note(const PlannedCall& planned, const CollectiveArgs& args, const Algorithm& algorithm, double us)
        PLEXUS_EXCLUDES(mutex_);
    void check(Deadline deadline) PLEXUS_EXCLUDES(mutex_);
    void judge(const std::vector<double>& slowest_us, Judgement& out) PLEXUS_EXCLUDES(mutex_);
    void plan_rounds(const std::vector<MemberPair>& edges, Judgement& out) const;
    void plan_rounds(const std::vector<ProbeRound>& rounds, Judgement& out) const;
    void look_again(Judgement& out) const;
    double expected_us(const MemberPair& edge, const Judgement& of) const;
    void carry_out(Judgement& judgement, Deadline deadline) PLEXUS_EXCLUDES(mutex_);
    Decision decide(Judgement& judgement, ProbeRound& round, std::vector<CostChange>& changes)
        PLEXUS_EXCLUDES(mutex_);
    void take_measured(const ProbeRound& round, const std::vector<double>& us, Judgement& out) const;
    std::vector<double> probe(const ProbeRound& round, Deadline deadline);
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
    std::vector<Choice> chosen_;     ///< the same on all members
    std::optional<Network> network_; ///< of the present map
    std::uint32_t calls_until_check_;

    mutable RankedMutex<11> mutex_;
    std::shared_ptr<const Map> map_ PLEXUS_GUARDED_BY(mutex_);
    AdaptReport report_ PLEXUS_GUARDED_BY(mutex_); // without what is computed from maps
};

} // namespace plexus::eco::detail
