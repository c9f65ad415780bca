// SPDX-License-Identifier: BSD-3-Clause
// Calls through memory that all members share: how members agree on the memory, and what a member does
// while it waits: it polls its context, yields the processor to members that share it, asks after the
// awaited member, and in the end sleeps.
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

} // namespace

class GroupState::ArenaWait final : public host::WaitPolicy {
  public:
    ArenaWait(GroupState& group, Execution& call)
      : group_(group)
      , call_(call) {}

    bool idle(Rank awaited, std::uint32_t turn) override {
        if (call_.end.ready.load(std::memory_order_acquire))
            return false; // pairs with [ready]: the group broke
        if (turn == 0) begin();
        Context& context = group_.mailbox_->context();
        if (!group_.crowded() || turn % kYieldTurns == kYieldTurns - 1) context.progress();
        if (group_.crowded() || turn >= kSpinTurns) std::this_thread::yield();
        if (!sleeps_ && turn % kClockTurns != kClockTurns - 1) return true;
        const Clock::time_point now = Clock::now();
        if (since_ == Clock::time_point{}) since_ = asked_ = now;
        if (now >= call_.wait.deadline) {
            await(awaited);
            group_.expire(call_);
        } else if (now - asked_ >= group_.options_.watch) {
            asked_ = now;
            await(awaited);
            group_.ask_after(awaited, call_.number, call_.planned->digest);
        }
        sleeps_ = now - since_ >= kAwake;
        if (sleeps_) group_.arena_->sleep(kAsleep);
        return true;
    }

  private:
    /// A new wait: forgets the previous one.
    void begin() {
        since_ = asked_ = {};
        sleeps_ = false;
        const Lock hold(group_.mutex_);
        call_.wait.peer = Execution::kNobody;
    }
    void await(Rank awaited) {
        const Lock hold(group_.mutex_);
        call_.wait.peer = awaited;
        call_.at = group_.arena_->round();
    }

    GroupState& group_;
    Execution& call_;
    Clock::time_point since_{};
    Clock::time_point asked_{};
    bool sleeps_ = false;
};

void GroupState::run_in_memory(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
                               Clock::time_point deadline) {
    std::unique_ptr<Execution> fresh;
    {
        const Lock hold(mutex_);
        if (broken_) throw_broken();
        fresh = spare();
    }
    fresh->planned = std::move(planned);
    fresh->wait.deadline = deadline;
    Execution& call = enter(std::move(fresh));
    ArenaWait waiting(*this, call);
    arena_->begin(call.planned->digest, waiting);
    run_here(call, [&] {
        try {
            host::run(*arena_, args);
            return true;
        } catch (const host::Aborted&) { // the group is broken
        } catch (const host::Unreadable& found) {
            const Error error(Status::peer_lost,
                              fmt::format("its memory can't be read: {}",
                                          std::error_code(found.reason, std::generic_category()).message()));
            lost(found.member, error);
        } catch (const host::CallMismatch& found) {
            // No member is more rounds ahead than there are slots, but calls without content have no rounds.
            constexpr auto kBack = static_cast<std::uint32_t>(CallHistory::kCalls - 1);
            static_assert(CallHistory::kCalls > host::kSlots);
            find_difference(found.member, call.number - std::min(call.number, kBack), call.number);
            wait(call); // until the group breaks
        } catch (const host::LengthMismatch& found) {
            const Signature& call_of_all = call.planned->signature;
            break_up(Status::bad_argument,
                     call_of_all.uneven(name(found.member), found.sent, false, name(me_), found.expected),
                     true);
        }
        return false;
    });
}

void GroupState::share_memory() {
    if (!one_host_ || size() < 2 || size() > host::kMostMembers) return;
    const auto near = [&](Rank member) {
        if (member == me_) return true;
        const auto& mailbox = members_[member].mailbox;
        const auto row = mailbox.choose().row;
        return row.has_value() && mailbox.enquire()[*row].one_host;
    };
    bool all_near = true;
    for (Rank member = 0; member < size(); ++member) all_near = all_near && near(member);

    const Group self = Group(shared_from_this()).with(Algorithm()).with(no_deadline);
    const std::size_t bytes = host::arena_bytes(size());
    host::Offer offer;
    std::shared_ptr<host::SharedMemory> memory;
    if (me_ == 0 && all_near) memory = host::SharedMemory::create(bytes, offer);
    self.broadcast(std::span(&offer, 1), 0);
    if (offer.process == 0) return; // on all members alike
    if (me_ != 0 && all_near && offer.bytes == bytes) memory = host::SharedMemory::open(offer);
    const std::uint8_t have = memory != nullptr ? 1 : 0;
    const bool all_have = self.all_reduce(have, Min{}) != 0;
    if (me_ == 0) memory->close_descriptor(); // all members that need it have opened it
    if (!all_have) return;
    // A crowded arena goes through other rounds, so all members must agree: it is if one of them says so.
    const bool any_crowded = self.all_reduce(static_cast<std::uint8_t>(crowded()), Max{}) != 0;
    arena_ = std::make_unique<host::SharedArena>(std::move(memory), me_, size(), any_crowded);
    arena_->announce_process();
    planner_.learn_memory();
    self.barrier(); // all members have announced their processes
    const std::uint8_t can = arena_->can_fetch_from_all() ? 1 : 0;
    if (self.all_reduce(can, Min{}) != 0) arena_->allow_fetching();
}

} // namespace plexus::eco::detail
