// SPDX-License-Identifier: BSD-3-Clause
// Calls through memory that all members share.
#pragma once

#include "group/call_table.h"
#include "group/membership.h"
#include "host/shared_arena.h"

#include <memory>

namespace plexus::eco::detail {

class SharedMemoryPath {
  public:
    explicit SharedMemoryPath(GroupState& group);

    /// If all members are on one host, they agree on memory that all of them share, or that there is none.
    /// All members call it, after GroupState::learn_facts(). @error as a collective call (thrown)
    void make();
    bool there() const noexcept { return arena_ != nullptr; }
    /// Executes a call on this thread. @error as GroupState::run() (thrown)
    void run(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
             Clock::time_point deadline);

  private:
    GroupState& group_;
    const Membership& members_;
    std::unique_ptr<host::SharedArena> arena_; ///< of blocking calls
};

} // namespace plexus::eco::detail
