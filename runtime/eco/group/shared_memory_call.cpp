// SPDX-License-Identifier: BSD-3-Clause
// Calls through memory that all members share: how members come by it, and what a member does
// while it waits there: it goes on polling its context, makes room for others on its processor,
// looks after whom it waits for, and in the end sleeps.
#include "group/group_state.h"
#include "host/collective.h"
#include "plexus/eco/group.h"

#include <algorithm>
#include <fmt/format.h>
#include <new>
#include <system_error>
#include <thread>

namespace plexus::eco::detail {
namespace {

using Clock = std::chrono::steady_clock;

/// Turns between two looks at the clock.
constexpr std::uint32_t kClockTurns = 64;
/// Where members share processors: turns in which one only gives its own away, for each that polls.
constexpr std::uint32_t kYieldTurns = 8;
/// Turns before a member gives its processor away where there is one for each.
constexpr std::uint32_t kSpinTurns = 64;
/// How long it waits before it sleeps, and for how long at most.
constexpr std::chrono::milliseconds kAwake{2};
constexpr std::chrono::milliseconds kAsleep{10};

} // namespace

class GroupState::ArenaWait final : public host::WaitPolicy {
  public:
    ArenaWait(GroupState& group, Execution& call)
      : group_(group)
      , call_(call) {}

    bool idle(Rank awaited, std::uint32_t turn) override {
        if (call_.ready.load(std::memory_order_acquire)) return false; // pairs with [ready]: the group broke
        if (turn == 0) begin();
        Context& context = group_.mailbox_->context();
        if (!group_.crowded_ || turn % kYieldTurns == kYieldTurns - 1) context.progress();
        if (group_.crowded_ || turn >= kSpinTurns) std::this_thread::yield();
        if (!sleeps_ && turn % kClockTurns != kClockTurns - 1) return true;
        const Clock::time_point now = Clock::now();
        if (since_ == Clock::time_point{}) since_ = asked_ = now;
        if (now - asked_ >= group_.options_.watch) {
            asked_ = now;
            ask(awaited);
        }
        sleeps_ = now - since_ >= kAwake;
        if (sleeps_) group_.arena_->sleep(kAsleep);
        return true;
    }

  private:
    /// Another wait: what the last one came to is over.
    void begin() {
        since_ = asked_ = {};
        sleeps_ = false;
        const std::lock_guard hold(group_.mailbox_->mutex());
        call_.peer = Execution::kNobody;
    }
    void ask(Rank awaited) {
        {
            const std::lock_guard hold(group_.mailbox_->mutex());
            call_.peer = awaited;
            call_.at = group_.arena_->round();
        }
        try {
            group_.ask_after(awaited, call_.number, call_.planned->digest);
        } catch (const Error& error) { group_.break_up(error.status(), error.what(), true); }
    }

    GroupState& group_;
    Execution& call_;
    Clock::time_point since_{};
    Clock::time_point asked_{};
    bool sleeps_ = false;
};

void GroupState::run_in_memory(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args) {
    std::unique_lock hold(mailbox_->mutex());
    if (broken_) throw_broken();
    std::unique_ptr<Execution> fresh = spare();
    fresh->planned = std::move(planned);
    Execution& call = enter(std::move(fresh), hold);
    hold.unlock();
    ArenaWait waiting(*this, call);
    arena_->begin(call.planned->digest, waiting);
    bool whole = false;
    try {
        host::run(*arena_, args);
        whole = true;
    } catch (const host::Aborted&) { // the group is broken
    } catch (const host::Unreadable& found) {
        const Error error(Status::peer_lost,
                          fmt::format("its memory can't be read: {}",
                                      std::error_code(found.reason, std::generic_category()).message()));
        lost(found.member, error);
    } catch (const host::CallMismatch& found) {
        // Nobody is more rounds ahead than there are posts; calls without content have none.
        const auto back = static_cast<std::uint32_t>(past_.size() - 1);
        static_assert(std::tuple_size_v<decltype(past_)> > host::kSlots);
        find_difference(found.member, call.number - std::min(call.number, back), call.number);
        wait(call); // for the end of the group
    } catch (const host::LengthMismatch& found) {
        const Signature& call_of_all = call.planned->signature;
        break_up(Status::bad_argument,
                 call_of_all.uneven(name(found.member), found.sent, false, name(me_), found.expected), true);
    } catch (const std::bad_alloc&) {
        break_up(Status::too_large, fmt::format("member {} has no memory left for its call", name(me_)),
                 true);
    }
    hold.lock();
    release(call);
    if (!whole) throw_broken();
}

/// Names the first of the calls up to `last` in which `peer` and this member differ.
void GroupState::find_difference(Rank peer, std::uint32_t call, std::uint32_t last) {
    std::uint32_t digest = 0;
    {
        const std::lock_guard hold(mailbox_->mutex());
        const Signature* const known = past(call);
        if (known != nullptr) digest = known->digest();
    }
    if (call == last) return differ(peer, last);
    members_[peer]
        .mailbox.call(kAlive, id_, call, digest)
        .then([group = shared_from_this(), peer, call, last](auto answer) {
            try {
                static_cast<Presence>(answer.get()) == Presence::differs
                    ? group->differ(peer, call)
                    : group->find_difference(peer, call + 1, last);
            } catch (const Error& error) {
                error.status() == Status::dead_pointer ? group->differ(peer, last) : group->lost(peer, error);
            }
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

    const Group self = Group(shared_from_this()).with(Algorithm());
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
    // A crowded arena goes through other rounds, so all members must agree.
    const bool crowded = self.all_reduce(static_cast<std::uint8_t>(crowded_), Max{}) != 0;
    arena_ = std::make_unique<host::SharedArena>(std::move(memory), me_, size(), crowded);
    arena_->announce_process();
    planner_.learn_memory();
    self.barrier(); // all members have announced their processes
    const std::uint8_t can = arena_->can_fetch_from_all() ? 1 : 0;
    if (self.all_reduce(can, Min{}) != 0) arena_->allow_fetching();
}

} // namespace plexus::eco::detail
