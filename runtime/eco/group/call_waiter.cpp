// SPDX-License-Identifier: BSD-3-Clause
#include "group/call_waiter.h"

#include "group/group_state.h"

#include <algorithm>
#include <thread>

namespace plexus::eco::detail {
namespace {

/// Turns of the poll loop that a blocked caller makes before it sleeps.
constexpr int kTurns = 64;
/// The same if members share processors. Each idle turn then yields the processor, which the awaited member
/// may need.
constexpr int kCrowdedTurns = 1000;
/// With more members than this on each processor the turns of all of them take longer than to sleep and to be
/// woken, so a member makes few. For what was measured see runtime/notes/0008.
constexpr int kManyPerProcessor = 16;
constexpr int kFewTurns = 4;

} // namespace

CallWaiter::CallWaiter(GroupState& group)
  : group_(group)
  , members_(group.members())
  , calls_(group.calls())
  , failures_(group.failures()) {}

void CallWaiter::wait(Execution& call) {
    const auto is_ready = [&] {
        return call.end.ready.exchange(false, std::memory_order_acquire);
    }; // pairs with [ready]
    const int turns = !members_.crowded()                             ? kTurns
                      : members_.per_processor() <= kManyPerProcessor ? kCrowdedTurns
                                                                      : kFewTurns;
    for (int turn = 0; turn < turns; ++turn) {
        if (is_ready()) return;
        if (members_.context().progress() == 0 && members_.crowded()) std::this_thread::yield();
    }
    for (;;) {
        std::shared_ptr<CompletionState> sleeper;
        Rank peer = 0;
        {
            const Lock hold(calls_.mutex);
            if (is_ready()) return;
            if (call.end.sleeper == nullptr)
                call.end.sleeper = std::make_shared<CompletionState>(members_.context().core());
            sleeper = call.end.sleeper;
            peer = call.awaited();
        }
        const auto left =
            std::max<Clock::duration>(call.wait.deadline - Clock::now(), Clock::duration::zero());
        try {
            if (Future<void>(sleeper).wait_for(std::min<Clock::duration>(members_.options().watch, left)))
                continue;
        } catch (const Error& error) {
            group_.break_up(error.status(), error.what(), true);
            continue;
        }
        if (Clock::now() >= call.wait.deadline) {
            failures_.expire(call);
        } else if (peer != Execution::kNobody) {
            failures_.ask_after(peer, call.number, call.planned->digest);
        }
    }
}

bool CallWaiter::sleep_until(Execution& call, Clock::time_point due) {
    for (Clock::time_point now = Clock::now(); now < due; now = Clock::now()) {
        if (now >= call.wait.deadline) failures_.expire(call);
        const auto sleeper = std::make_shared<CompletionState>(members_.context().core());
        {
            const Lock hold(calls_.mutex);
            if (call.outcome.failed) return false;
            call.end.sleeper = sleeper; // break_up() wakes it
        }
        try {
            (void)Future<void>(sleeper).wait_for(std::min(due, call.wait.deadline) - now);
        } catch (const Error& error) { group_.break_up(error.status(), error.what(), true); }
        const Lock hold(calls_.mutex);
        call.end.sleeper.reset();
    }
    return true;
}

} // namespace plexus::eco::detail
