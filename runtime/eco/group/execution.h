// SPDX-License-Identifier: BSD-3-Clause
// One call of one member while it is under way.
//
// Exactly one thread owns a call and runs its steps: the one that began it, or a handler that
// brought what it waited for. A call that waits is parked and owned by nobody. Who parks it, takes
// it up or reports to it holds the hub's lock.
#pragma once

#include "group/pool.h"
#include "group/schedule.h"
#include "plexus/future.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

namespace plexus::eco::detail {

class GroupState;
using CompletionState = plexus::detail::TypedCall<void>;

/// What members compare: enough to name the difference.
struct Signature {
    Operation operation = Operation::barrier;
    Rank root = 0;
    std::uint32_t element_bytes = 1;
    bool varied = false;
    std::uint64_t elements = 0;
    std::uint64_t algorithm = 0;
    bool shifts = false;       ///< it is no operation but an exchange between neighbours of a grid
    bool memory = false;       ///< it goes through memory that all members share
    bool hierarchical = false; ///< it goes through each host's memory, and by messages between hosts
    std::uint64_t parts = 0;   ///< of lengths that are the same on all members
    std::uint64_t plan = 0;    ///< each member makes its own: they must come out alike

    bool by_messages() const noexcept { return !memory && !hierarchical; }
    std::uint32_t digest() const noexcept;
    std::string text() const;
    /// What is wrong where one member sends another length than the other expects.
    std::string uneven(Rank from, std::uint64_t sent, bool and_more, Rank to, std::uint64_t expected) const;
};

/// A call's script with what depends on nothing else.
struct PlannedCall {
    Signature signature;
    std::uint32_t digest = 0;
    std::size_t piece_bytes = 0; ///< Planner::piece_bytes()
    Schedule schedule;           ///< of what goes by messages
    std::vector<std::shared_ptr<const PlannedCall>> steps =
        {}; ///< of a nested one: this member's parts of it
};

struct Execution {
    std::shared_ptr<const PlannedCall> planned;
    detail::Combine combine;
    std::byte* space[kSpaces] = {};
    Buffer scratch;
    std::uint32_t number = 0;

    /// The owner's: the next step. In shared memory the round, while that is waited in.
    std::size_t at = 0;
    /// What came of one message. Large ones come in pieces, in order.
    struct Slot {
        // [stored] release: whoever sees it also sees all of the bytes in their place. Of calls that
        // only move blocks.
        std::atomic<bool> stored{false};
        std::uint64_t came = 0; ///< bytes
        bool complete = false;
        Buffer kept;                 ///< those at the end that were not combined yet
        std::uint64_t kept_from = 0; ///< where they begin
    };
    std::vector<Slot> slots;

    // Under the hub's lock.
    bool parked = false;
    bool replaying = false; ///< what came before it began is being put in its slots
    bool failed = false;
    std::uint64_t sent = 0; ///< the owner's: bytes of the present step's message that have left
    bool undone = false;    ///< a message of its own did not leave, or it was given up half way
    static constexpr Rank kNobody = UINT32_MAX;
    Rank peer = kNobody;  ///< in shared memory: who has been waited for too long
    unsigned writers = 0; ///< handlers that put bytes in place
    std::chrono::steady_clock::time_point parked_at{};
    std::size_t left_at = 0;                  ///< the step at which the awaited member was said to have left
    unsigned left_heard = 0;                  ///< and how often
    std::shared_ptr<CompletionState> sleeper; ///< of a thread that waits for `ready`

    /// Under the lock. Whom a parked call waits for.
    Rank awaited() const noexcept {
        const auto& ops = planned->schedule.ops;
        return !planned->signature.by_messages() || at >= ops.size() ? peer : ops[at].peer;
    }

    /// [ready] release: a blocked caller may take the call up again.
    std::atomic<bool> ready{false};
    /// Of a call that no thread waits for; null for a blocking one.
    std::shared_ptr<CompletionState> future;
    std::shared_ptr<GroupState> group; ///< keeps it while the future is open
};

} // namespace plexus::eco::detail
