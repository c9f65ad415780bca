// SPDX-License-Identifier: BSD-3-Clause
// Plans that carry out a schedule of rounds among the members of a group. Values and pure functions. Any
// thread.
#pragma once

#include "plexus/eco/plan.h"
#include "plexus/eco/round_schedule.h"
#include "plexus/export.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace plexus::eco {

/// How transfers follow each other on a network whose links are alike and whose switches store each packet
/// before they send it on. measure_pace() in plexus/eco/pace.h finds these times.
struct Pace {
    double message_s = 0; ///< seconds for which a transfer occupies a link, whatever its size
    double byte_s = 0;    ///< and for each byte
    double hop_s = 0;     ///< how much later, in seconds, a transfer begins on its next link

    bool operator==(const Pace&) const = default;
};

/// How much longer a round in lockstep takes than a paced one, for transfers of `bytes` bytes over ways of so
/// many links: in lockstep a transfer arrives, and a permission comes back, before the next one begins. Large
/// transfers gain little from a pace; and where they take longer than their links need, paced ones meet on
/// links, which lockstep prevents. Below 5/4 lockstep is the
/// better choice, see runtime/notes/0014.
PLEXUS_API double lockstep_ratio(const Pace& pace, std::uint64_t bytes, std::uint32_t links) noexcept;

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
    /// In place of permissions: members start together, by a barrier, and hold each transfer back until, by
    /// these times, 3 % and half a hop more, all its links are free when it comes to them. A transfer that is
    /// late makes no other wait. `overlap` is 0 then.
    std::optional<Pace> pace = std::nullopt;

    bool operator==(const GroupSchedule&) const = default;
};

/// Whether a schedule of this kind carries out the operation: see to_plan(). @thread any
PLEXUS_API bool supports(CollectiveKind kind, Operation operation) noexcept;

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
/// without links; a pace below 0 or above an hour, or beside an overlap (thrown)
/// @error unsupported  another operation; a reduction in the order of ranks, which the schedule does not keep
/// (thrown)
PLEXUS_API Plan to_plan(const PlanRequest& request, const GroupSchedule& how);

} // namespace plexus::eco
