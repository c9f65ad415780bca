// SPDX-License-Identifier: BSD-3-Clause
// How fast the transfers of a schedule can follow each other, measured.
#pragma once

#include "plexus/eco/group.h"
#include "plexus/eco/schedule_plan.h"

namespace plexus::eco {

/// The pace for transfers of about `bytes` bytes: GroupSchedule::pace. Between the members of the longest way
/// of the schedule, and between those of its shortest, trains of messages are sent: one message more takes
/// the time for which it occupies the slowest link (the gap of pLogP), and one link more the time of a hop.
/// Minima of three repetitions. Then connections between all members are opened. All members call it, and get
/// the same; the schedules of others than `from` are not looked at. Links that neither way uses are taken to
/// be as fast. The network should be idle.
/// @error bad_argument no such member; the schedule of `from` has no transfer between two members. Thrown on
/// all members
/// @error as Collectives (thrown)
PLEXUS_API Pace measure_pace(const Group& group, const GroupSchedule& how, std::uint64_t bytes,
                             Rank from = 0);

} // namespace plexus::eco
