// SPDX-License-Identifier: BSD-3-Clause
// Checks schedules by the rules of round_schedule.h. Shares no code with the searches that make them: it has
// its own shortest ways and its own view of which graphs there may be. Pure functions. Any thread.
#pragma once

#include "plexus/eco/round_schedule.h"

#include <cstdint>
#include <optional>
#include <string>

namespace plexus::tools::schedule {

/// The first broken rule, with its place, such as "rounds[3][1]: …"; nothing: the schedule is valid. Rules:
///   the graph has two terminals or more, each reaches each other, no link twice or to itself
///   no round is empty; terminals and links are those of the graph
///   a path is a shortest one from its terminal src to dst, link by link
///   in a round no link is used twice; of a one-port terminal a round has one transfer out and one in at most
///   who sends a message has it: it is its own, or it arrived in an earlier round
///   OAB and OAS: messages are the root's; OAS and AAS: they come straight from their terminal
///   every delivery is there exactly once, and `bound`, if there is one, is not above the number of rounds
/// A transfer needs its path: see with_paths().
std::optional<std::string> violation(const eco::LinkGraph& graph, const eco::RoundSchedule& schedule,
                                     std::optional<std::uint64_t> bound);

/// The same with the shortest path in each transfer that has none. Transfers whose terminals are not there
/// keep none. @error bad_argument several shortest paths exist: which one is meant? (thrown; names the place)
/// @error too_large the paths have more than 2^26 links together (thrown)
eco::RoundSchedule with_paths(const eco::LinkGraph& graph, eco::RoundSchedule schedule);

/// In which way two graphs differ as networks; nothing: they do not. Links and terminals are compared by the
/// names of their vertices, terminals in their order too; the order of links and the numbers of vertices do
/// not count.
std::optional<std::string> difference(const eco::LinkGraph& a, const eco::LinkGraph& b);

} // namespace plexus::tools::schedule
