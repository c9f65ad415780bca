// SPDX-License-Identifier: BSD-3-Clause
// A group as the counters of a context show it: what a library that has groups of contexts says of each. See
// Context::show_groups().
#pragma once

#include <cstdint>
#include <functional>

namespace plexus {

/// A group of collective operations, in one of its members.
struct ShownGroup {
    std::uint64_t id = 0;        ///< the same in all members
    std::uint32_t rank = 0;      ///< of this member
    std::uint32_t members = 0;   ///< of the group, this one included
    std::uint32_t under_way = 0; ///< calls that have begun here and have not ended
    bool broken = false;         ///< no call of it can end well any more
    /// Calls that have begun here, by their way.
    struct Calls {
        std::uint64_t by_messages = 0;
        std::uint64_t in_memory = 0; ///< that all members share
        std::uint64_t hierarchical = 0;
        std::uint64_t by_multicast = 0;
    } calls;
    /// Bytes of one member's block, all calls added up; 0 for calls whose blocks differ, unless all members
    /// know all lengths.
    std::uint64_t bytes = 0;
    std::uint64_t refinements = 0; ///< of the group's map
};
using ShowGroup = std::function<void(const ShownGroup&)>;
/// Calls its argument once for each group of a context.
using GroupSource = std::function<void(const ShowGroup&)>;

} // namespace plexus
