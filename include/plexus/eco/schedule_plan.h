// SPDX-License-Identifier: BSD-3-Clause
// Plans that carry out a schedule of rounds among the members of a group. Values and pure functions. Any
// thread.
#pragma once

#include "plexus/eco/plan.h"
#include "plexus/eco/round_schedule.h"
#include "plexus/export.h"

#include <cstdint>
#include <vector>

namespace plexus::eco {

/// A schedule, and how the members of a group carry it out.
struct GroupSchedule {
    /// Each member sends and takes in the order of rounds, and waits only for what it passes on.
    static constexpr std::uint32_t kAsynchronous = UINT32_MAX;

    RoundSchedule schedule;
    /// The member at each terminal, by terminals. Empty: terminal i is member i.
    std::vector<Rank> ranks_of_terminals = {};
    /// How many transfers may be on their way over one link behind the one that came first. 0: lockstep. A
    /// transfer begins when all that use one of its links in earlier rounds have arrived, so that no link has
    /// to carry two messages at once. The receiver of the earlier transfer says so to the sender of the later
    /// one by a message without content; these messages, and the acknowledgements of the transport, are not
    /// in the schedule. A member sends in the order of rounds, and takes in the order of rounds. Rounds of
    /// different members may overlap where they share no link; there is no barrier.
    std::uint32_t overlap = 0;

    bool operator==(const GroupSchedule&) const = default;
};

/// The plan by which members carry out `how`:
///   OAB  broadcast, and reduce by the reversed schedule
///   AAB  all_gather
///   OAS  scatter, and gather by the reversed schedule
///   AAS  all_to_all
/// A reversed schedule has the rounds from the last to the first, and every transfer from its end to its
/// beginning: where each link has its opposite, it shares links where the schedule does. The root of the call
/// is the member at the schedule's root.
/// @error bad_argument the schedule does not bring everyone what is due, once; a round uses a link twice; it
/// is for another number of members; another root; ranks that are no permutation; lockstep for transfers
/// without links (thrown)
/// @error unsupported  another operation; a reduction in the order of ranks, which the schedule does not keep
/// (thrown)
PLEXUS_API Plan to_plan(const PlanRequest& request, const GroupSchedule& how);

} // namespace plexus::eco
