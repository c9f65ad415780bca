// SPDX-License-Identifier: BSD-3-Clause
#include "group/shared_memory_path.h"

#include "group/run_here.h"
#include "host/collective.h"
#include "plexus/eco/group.h"

#include <algorithm>
#include <fmt/format.h>
#include <system_error>
#include <thread>

namespace plexus::eco::detail {
namespace {

/// Idle turns between two looks at the clock.
constexpr std::uint32_t kClockTurns = 64;
/// If members share processors: idle turns that only yield, for each that polls the context.
constexpr std::uint32_t kYieldTurns = 8;
/// Idle turns before a member that shares no processor yields.
constexpr std::uint32_t kSpinTurns = 64;
/// How long a member waits before it sleeps, and how long it sleeps at most.
constexpr std::chrono::milliseconds kAwake{2};
constexpr std::chrono::milliseconds kAsleep{10};

/// What a member does while it waits: it polls its context, yields the processor to members that share it,
/// asks after the awaited member, and in the end sleeps.
class ArenaWait final : public host::WaitPolicy {
  public:
    ArenaWait(GroupState& group, host::SharedArena& arena, Execution& call)
      : members_(group.members())
      , calls_(group.calls())
      , failures_(group.failures())
      , arena_(arena)
      , call_(call) {}

    bool idle(Rank awaited, std::uint32_t turn) override {
        if (call_.end.ready.load(std::memory_order_acquire))
            return false; // pairs with [ready]: the group broke
        if (turn == 0) begin();
        Context& context = members_.context();
        if (!members_.crowded() || turn % kYieldTurns == kYieldTurns - 1) context.progress();
        if (members_.crowded() || turn >= kSpinTurns) std::this_thread::yield();
        if (!sleeps_ && turn % kClockTurns != kClockTurns - 1) return true;
        const Clock::time_point now = Clock::now();
        if (since_ == Clock::time_point{}) since_ = asked_ = now;
        if (now >= call_.wait.deadline) {
            await(awaited);
            failures_.expire(call_);
        } else if (now - asked_ >= members_.options().watch) {
            asked_ = now;
            await(awaited);
            failures_.ask_after(awaited, call_.number, call_.planned->digest);
        }
        sleeps_ = now - since_ >= kAwake;
        if (sleeps_) arena_.sleep(kAsleep);
        return true;
    }

  private:
    /// A new wait: forgets the previous one.
    void begin() {
        since_ = asked_ = {};
        sleeps_ = false;
        const Lock hold(calls_.mutex);
        call_.wait.peer = Execution::kNobody;
    }
    void await(Rank awaited) {
        const Lock hold(calls_.mutex);
        call_.wait.peer = awaited;
        call_.at = arena_.round();
    }

    const Membership& members_;
    CallTable& calls_;
    FailureDetector& failures_;
    host::SharedArena& arena_;
    Execution& call_;
    Clock::time_point since_{};
    Clock::time_point asked_{};
    bool sleeps_ = false;
};

} // namespace

SharedMemoryPath::SharedMemoryPath(GroupState& group)
  : group_(group)
  , members_(group.members()) {}

void SharedMemoryPath::run(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
                           Clock::time_point deadline) {
    std::unique_ptr<Execution> fresh = group_.calls().make(0);
    fresh->planned = std::move(planned);
    fresh->wait.deadline = deadline;
    Execution& call = group_.enter(std::move(fresh));
    ArenaWait waiting(group_, *arena_, call);
    arena_->begin(call.planned->digest, waiting);
    run_here(group_, call, [&] {
        try {
            host::run(*arena_, args);
            return true;
        } catch (const host::Aborted&) { // the group is broken
        } catch (const host::Unreadable& found) {
            const Error error(Status::peer_lost,
                              fmt::format("its memory can't be read: {}",
                                          std::error_code(found.reason, std::generic_category()).message()));
            group_.failures().lost(found.member, error);
        } catch (const host::CallMismatch& found) {
            // No member is more rounds ahead than there are slots, but calls without content have no rounds.
            constexpr auto kBack = static_cast<std::uint32_t>(CallHistory::kCalls - 1);
            static_assert(CallHistory::kCalls > host::kSlots);
            group_.failures().find_difference(found.member, call.number - std::min(call.number, kBack),
                                              call.number);
            group_.waiter().wait(call); // until the group breaks
        } catch (const host::LengthMismatch& found) {
            const Signature& call_of_all = call.planned->signature;
            group_.break_up(Status::bad_argument,
                            call_of_all.uneven(members_.name(found.member), found.sent, false,
                                               members_.name(members_.me()), found.expected),
                            true);
        }
        return false;
    });
}

void SharedMemoryPath::make() {
    const Rank me = members_.me();
    const Rank size = members_.size();
    if (!members_.on_one_host() || size < 2 || size > host::kMostMembers) return;
    const auto near = [&](Rank member) {
        if (member == me) return true;
        const auto& mailbox = members_[member].mailbox;
        const auto row = mailbox.choose().row;
        return row.has_value() && mailbox.enquire()[*row].one_host;
    };
    bool all_near = true;
    for (Rank member = 0; member < size; ++member) all_near = all_near && near(member);

    const Group self = Group(group_.shared_from_this()).with(Algorithm()).with(no_deadline);
    const std::size_t bytes = host::arena_bytes(size);
    host::Offer offer;
    std::shared_ptr<host::SharedMemory> memory;
    if (me == 0 && all_near) memory = host::SharedMemory::create(bytes, offer);
    self.broadcast(std::span(&offer, 1), 0);
    if (offer.process == 0) return; // on all members alike
    if (me != 0 && all_near && offer.bytes == bytes) memory = host::SharedMemory::open(offer);
    const std::uint8_t have = memory != nullptr ? 1 : 0;
    const bool all_have = self.all_reduce(have, Min{}) != 0;
    if (me == 0) memory->close_descriptor(); // all members that need it have opened it
    if (!all_have) return;
    // A crowded arena goes through other rounds, so all members must agree: it is if one of them says so.
    const bool any_crowded = self.all_reduce(static_cast<std::uint8_t>(members_.crowded()), Max{}) != 0;
    arena_ = std::make_unique<host::SharedArena>(std::move(memory), me, size, any_crowded);
    arena_->announce_process();
    group_.planner().learn_memory();
    self.barrier(); // all members have announced their processes
    const std::uint8_t can = arena_->can_fetch_from_all() ? 1 : 0;
    if (self.all_reduce(can, Min{}) != 0) arena_->allow_fetching();
}

} // namespace plexus::eco::detail
