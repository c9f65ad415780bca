// SPDX-License-Identifier: BSD-3-Clause
// One call of one member while it is under way.
//
// Exactly one thread owns a call and executes its operations: the thread that began it, or the handler that
// brought the awaited message. A call that waits is parked and has no owner. CallTable::mutex guards parking,
// resuming, and what other threads report to a call.
#pragma once

#include "group/pool.h"
#include "group/schedule.h"
#include "multicast/window.h"
#include "plexus/eco/algorithm.h"
#include "plexus/future.h"
#include "plexus/pointer.h"
#include "plexus/shown_group.h"

#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <vector>

namespace plexus::eco::detail {

class GroupState;
using Clock = std::chrono::steady_clock;
using CompletionState = plexus::detail::TypedCall<void>;
using Bytes = std::span<const std::byte>;

/// Ends a future. @thread any, under no lock
void settle(CompletionState& future, Status status, const std::string& why);

/// When a call with this deadline has to end, from now on.
inline Clock::time_point ends_at(Deadline deadline) noexcept {
    return deadline == no_deadline ? Clock::time_point::max()
                                   : Clock::now() + std::chrono::milliseconds(deadline.milliseconds);
}

/// What members compare: enough to name the difference.
struct Signature {
    Operation operation = Operation::barrier;
    Rank root = 0;
    std::uint32_t element_bytes = 1;
    bool varied = false;
    std::uint64_t elements = 0;
    std::uint64_t algorithm = 0;
    bool shifts = false;       ///< no operation, but an exchange between neighbours of a grid
    bool memory = false;       ///< through the memory that all members share
    bool hierarchical = false; ///< through the memory of each host, and by messages between hosts
    bool multicast = false;    ///< by IP multicast
    std::uint64_t parts = 0;   ///< hash of the lengths that all members know
    std::uint64_t plan = 0;    ///< hash of the plan: each member computes its own, and all must be equal
    bool probes = false;       ///< no operation, but an exchange between pairs of members, to measure it
    std::uint32_t epoch = 0;   ///< how often the group's map was refined
    bool tells = false; ///< v form: the root tells all lengths by a call of its own, before the call itself

    /// By messages alone, in one call.
    bool by_messages() const noexcept { return !memory && !hierarchical && !multicast && !tells; }
    std::uint32_t digest() const noexcept;
    std::string text() const;
    /// The error text if one member sends another length than the receiver expects.
    std::string uneven(Rank from, std::uint64_t sent, bool and_more, Rank to, std::uint64_t expected) const;
};

/// A call's schedule, and all that depends on neither the call's memory nor its number.
struct PlannedCall {
    Signature signature;
    std::uint32_t digest = 0;
    std::size_t piece_bytes = 0; ///< Planner::piece_bytes()
    Schedule schedule;           ///< of calls by messages
    /// Of hierarchical calls: this member's parts. Of one that tells lengths: the call that does so.
    std::vector<std::shared_ptr<const PlannedCall>> steps = {};
    Algorithm algorithm = {}; ///< of one that tells lengths: what the call itself follows

    /// Messages above this size are sent in pieces of this size: whole elements.
    std::size_t whole_piece_bytes() const noexcept;
};

/// The calls of a group that have begun: how many, and the signatures of the last by their numbers. Its
/// owner's lock guards it.
class CallHistory {
  public:
    static constexpr std::size_t kCalls = 64;

    void add(std::uint32_t number, const Signature& signature) {
        past_[number % kCalls] = {number, signature};
        ++(signature.memory         ? count_.in_memory
           : signature.multicast    ? count_.by_multicast
           : signature.hierarchical ? count_.hierarchical
                                    : count_.by_messages);
        bytes_ += signature.elements * signature.element_bytes;
    }
    const ShownGroup::Calls& count() const noexcept { return count_; }
    /// Of one block of each call, added up.
    std::uint64_t bytes() const noexcept { return bytes_; }
    /// Null: the call has not begun, or is too old.
    const Signature* find(std::uint32_t number) const noexcept {
        const Past& found = past_[number % kCalls];
        return found.number == number ? &found.signature : nullptr;
    }

  private:
    struct Past {
        std::uint32_t number = UINT32_MAX;
        Signature signature;
    };
    std::array<Past, kCalls> past_;
    ShownGroup::Calls count_;
    std::uint64_t bytes_ = 0;
};

struct Execution {
    std::shared_ptr<const PlannedCall> planned;
    Combine combine;
    std::byte* space[kSpaces] = {};
    Buffer scratch;
    std::uint32_t number = 0;

    /// The next operation; the owner's. In shared memory: the round, while the call waits. By multicast: the
    /// datagrams that are through.
    std::size_t at = 0;
    /// What has arrived of one message. Large messages arrive in pieces, in order.
    struct Slot {
        // [stored] release: a thread that sees it also sees all bytes in their place. Only for calls that
        // move blocks and combine nothing.
        std::atomic<bool> stored{false};
        std::uint64_t came = 0; ///< bytes
        bool complete = false;
        Buffer kept;                 ///< the last bytes, if they are not combined yet
        std::uint64_t kept_from = 0; ///< offset of `kept` in the message
    };
    std::vector<Slot> slots;

    static constexpr Rank kNobody = UINT32_MAX;
    /// While the call waits.
    struct Wait {
        bool parked = false;
        Clock::time_point since{}; ///< when it was first found parked, or last asked after
        Rank peer = kNobody;       ///< in shared memory and by multicast: the member that is awaited
        Clock::time_point deadline = Clock::time_point::max();
        std::size_t left_at = 0; ///< the operation at which the awaited member was reported to have left
        unsigned left_heard = 0; ///< and how often
    };
    struct Outcome {
        bool failed = false;
        bool undone = false;       ///< a message of this call was not sent, or not completely
        std::exception_ptr thrown; ///< by the user's operation on this member
    };
    /// The owner's: how far the present operation is.
    struct Step {
        Clock::time_point started{}; ///< the start of a paced call
        std::uint64_t sent = 0;      ///< bytes of the operation's message that have left
        unsigned refusals = 0;       ///< times in a row that a handler found no room to send
    };
    /// Of the root of a call by multicast, while it runs.
    struct ByMulticast {
        std::unique_ptr<multicast::SendWindow> window;
        std::uint64_t bytes = 0; ///< of the data
    };
    /// Who goes on when the call does.
    struct End {
        /// [ready] release: a blocked caller may go on with the call.
        std::atomic<bool> ready{false};
        std::shared_ptr<CompletionState> sleeper; ///< of a thread that waits for `ready`
        /// Of a call that no thread waits in; null for a blocking call.
        std::shared_ptr<CompletionState> future;
        std::shared_ptr<GroupState> group; ///< keeps the group while the future is open
    };

    // Under CallTable::mutex.
    Wait wait;
    Outcome outcome;
    Step step;
    ByMulticast by_multicast;
    End end;
    bool replaying = false; ///< messages that arrived before the call began are being stored
    unsigned writers = 0;   ///< handlers that use the call's memory

    const std::vector<ScheduleOp>& ops() const noexcept { return planned->schedule.ops; }
    std::byte* address(const Segment& segment) const noexcept {
        return space[static_cast<std::size_t>(segment.space)] + segment.offset;
    }
    /// The member that a parked call waits for. Under CallTable::mutex.
    Rank awaited() const noexcept {
        return !planned->signature.by_messages() || at >= ops().size() ? wait.peer : ops()[at].peer;
    }
    /// Copies within the member's own memory.
    void copy(const std::vector<Copy>& copies) const noexcept;
    /// The bytes that `op` sends: in place if they are contiguous, else packed into `packed`.
    Bytes bytes_to_send(const ScheduleOp& op, Buffer& packed) const noexcept;
    /// Copies `bytes` to offset `from` of the message that `op` receives.
    void store(const ScheduleOp& op, std::uint64_t from, Bytes bytes) const noexcept;
    /// The same, or combines them with the content. Throws what the user's operation throws.
    void merge(const ScheduleOp& op, std::uint64_t from, Bytes bytes) const;
    /// Makes it ready for another call. Buffers go back to `pool`. Under CallTable::mutex.
    void reset(Pool& pool);

  private:
    template <class Do>
    void for_each_run(const ScheduleOp& op, std::uint64_t from, Bytes bytes, Do&& what) const;
};

} // namespace plexus::eco::detail
