// SPDX-License-Identifier: BSD-3-Clause
// What one member does by one plan: part() takes its steps out of the plan, make_schedule() says
// which bytes each of them means for spans of given lengths. Values; they know no context, no memory.
#pragma once

#include "plexus/eco/collectives.h"

#include <cstdint>
#include <span>
#include <vector>

namespace plexus::eco::detail {

/// A member's steps of a plan, whatever the lengths of its blocks.
struct MemberPlan {
    struct Step {
        Rank peer;
        std::uint32_t slot; ///< its place among all that the receiver takes
        bool send;
        Merge merge;
        std::uint32_t first_range;
        std::uint32_t ranges;
        std::uint64_t hold_ns = 0; ///< a send waits for this time after the start
    };
    Operation operation;
    Rank members;
    Rank me;
    Rank root;
    std::uint32_t blocks;
    std::vector<Step> steps;
    std::vector<BlockRange> ranges;
    std::size_t start = SIZE_MAX; ///< the first step after the start of a paced plan
    std::uint32_t slots = 0;      ///< how many messages it takes
    std::uint64_t plan = 0;       ///< a number of the whole plan, by which members compare theirs
};

MemberPlan part(const Plan& plan, Rank me);

/// Where bytes are: in the caller's spans, or in memory that the engine lends for the call.
enum class Space : std::uint8_t { send, receive, scratch };
inline constexpr std::size_t kSpaces = 3;

struct Segment {
    Space space;
    std::uint64_t offset;
    std::uint64_t bytes;
};

struct ScheduleOp {
    Rank peer;
    std::uint32_t slot;
    bool send;
    Merge merge;
    std::uint32_t first_segment;
    std::uint32_t segments;
    std::uint64_t bytes;
    std::uint64_t hold_ns = 0; ///< a send waits for this time after the start
};

struct Copy {
    Segment from;
    Segment to; ///< as long
};

struct Schedule {
    std::vector<ScheduleOp> ops;
    std::vector<Segment> segments;
    std::vector<Copy> before; ///< the first step; nothing to do where both are the same bytes
    std::vector<Copy> after;  ///< the last
    std::vector<std::uint32_t> op_of_slot;
    std::uint64_t scratch_bytes = 0;
    std::size_t start = SIZE_MAX; ///< the first operation after the start of a paced plan
    /// Blocks are only moved, so whatever arrives may be put in its place at once.
    bool early = true;
};

/// Who knows how long the parts of a gather_v or scatter_v are: the root, and each member its own part; or
/// every member, each of which has the root's counts in its layout.
enum class Lengths : std::uint8_t { of_root, told };

Schedule make_schedule(const MemberPlan& part, const CollectiveArgs& args, Lengths lengths);

/// False: no span can have parts of so many elements.
bool fit_into_memory(std::span<const std::uint64_t> counts, std::uint32_t element_bytes) noexcept;

/// Refuses what the spans of one member show to be wrong. Elements as PlanRequest has them; of lengths that
/// all members know: their mean.
/// @error bad_argument (thrown)
std::uint64_t check(const CollectiveArgs& args, Rank members, Rank me, Lengths lengths);

} // namespace plexus::eco::detail
