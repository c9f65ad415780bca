// SPDX-License-Identifier: BSD-3-Clause
// Calls of a group on several hosts whose members share memory on each host (the ECO paper's "native
// collectives within an MPP"): the members of one host do their part through shared memory, and one leader
// of each host does the rest with the other leaders by messages.
#pragma once

#include "group/execution.h"
#include "plexus/eco/map.h"
#include "plexus/error.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace plexus::eco::detail {

class Hierarchy {
  public:
    /// Called by all members of the group. Null, for all of them, if no two members share a host, or if the
    /// members of some host share no memory, for example because there are too many of them.
    /// @error as a collective call (thrown)
    static std::shared_ptr<Hierarchy> of(GroupState& all);

    /// Whether the call uses the hierarchy: the same answer on all members.
    bool supports(const CollectiveArgs& args) const noexcept;
    /// This member's parts of such a call. Their signatures carry the name of the whole call.
    std::vector<std::shared_ptr<const PlannedCall>> prepare(const CollectiveArgs& args,
                                                            const Signature& whole) const;
    /// Memory that run() needs.
    std::size_t scratch_bytes(const CollectiveArgs& args) const noexcept;
    /// Executes one call. @error as GroupState::run() (thrown)
    void run(const PlannedCall& planned, const CollectiveArgs& args, std::byte* scratch,
             Clock::time_point deadline) const;
    /// As GroupState::learn_map() of the whole group: the leaders' plans follow the map as well.
    void learn_map(const std::shared_ptr<const Map>& map, std::uint32_t epoch) const;
    /// The whole group is broken: breaks its parts, so that no member waits in them any more.
    void break_up(Status status, const std::string& why) const;

  private:
    struct Step {
        GroupState* group = nullptr;
        CollectiveArgs args;
    };
    /// At most three; unused ones have no group.
    using Steps = std::array<Step, 3>;
    struct Placement {
        Rank node;
        Rank local_rank; ///< rank among the members of the node
    };
    Steps steps(const CollectiveArgs& args, std::byte* scratch) const;
    const Placement& mine() const noexcept { return placements_[me_]; }

    Rank me_ = 0;
    std::vector<Placement> placements_;      ///< by member
    std::size_t largest_node_ = 0;           ///< members of the largest node
    std::shared_ptr<GroupState> node_group_; ///< the members on this host
    std::shared_ptr<GroupState> leaders_;    ///< the first member of each host; null on all other members
};

} // namespace plexus::eco::detail
