// SPDX-License-Identifier: BSD-3-Clause
#include "group/message_path.h"

#include "group/group_state.h"

#include <algorithm>
#include <fmt/format.h>
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
/// A handler that finds no room to send tries again after such a time, doubled up to the limit.
constexpr std::chrono::milliseconds kRetry{1};
constexpr unsigned kMostDoublings = 5;

} // namespace

MessagePath::MessagePath(GroupState& group)
  : group_(group)
  , members_(group.members())
  , calls_(group.calls())
  , failures_(group.failures()) {}

Execution& MessagePath::begin(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
                              Clock::time_point deadline, std::shared_ptr<CompletionState> future) {
    const Schedule& schedule = planned->schedule;
    std::unique_ptr<Execution> fresh = calls_.make(schedule.scratch_bytes);
    Execution& call = *fresh;
    call.planned = std::move(planned);
    call.combine = args.combine;
    call.wait.deadline = deadline;
    // The space for sending is never written to.
    call.space[static_cast<std::size_t>(Space::send)] = const_cast<std::byte*>(args.send);
    call.space[static_cast<std::size_t>(Space::receive)] = args.receive;
    call.space[static_cast<std::size_t>(Space::scratch)] = call.scratch.data();
    if (call.slots.size() < schedule.op_of_slot.size())
        call.slots = std::vector<Execution::Slot>(schedule.op_of_slot.size());
    call.copy(schedule.before);
    if (future != nullptr) call.end.group = group_.shared_from_this();
    call.end.future = std::move(future); // the failure detector reads it once the call is entered
    return enter(std::move(fresh));
}

Execution& MessagePath::enter(std::unique_ptr<Execution> fresh) {
    std::vector<Consequence> consequences;
    Execution& call = calls_.enter(std::move(fresh), consequences);
    for (Consequence& each : consequences) act(std::move(each));
    return call;
}

void MessagePath::run(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
                      Clock::time_point deadline) {
    Execution& call = begin(std::move(planned), args, deadline);
    for (;;) {
        advance(call);
        {
            const Lock hold(calls_.mutex);
            if (call.at == call.ops().size() || (call.outcome.failed && !call.wait.parked)) break;
        }
        wait(call);
    }
    finish(call);
}

Future<void> MessagePath::start(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
                                Clock::time_point deadline,
                                std::shared_ptr<plexus::detail::CallState>* state) {
    auto future = std::make_shared<CompletionState>(members_.context().core());
    Monitor& monitor = members_.mailbox()->monitor(); // if there is no thread, nothing has begun
    if (state != nullptr) *state = future;
    advance(begin(std::move(planned), args, deadline, future));
    if (!future->done()) {
        failures_.watch();
        if (deadline != Clock::time_point::max())
            monitor.after(std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()),
                          [this, group = group_.weak_from_this()] {
                              if (const auto still = group.lock()) failures_.expire_late();
                          });
    }
    return Future<void>(std::move(future));
}

/// Executes operations until one has to wait or all are done. The call's owner only. A call with a future
/// may have ended, and belong to another call, on return.
void MessagePath::advance(Execution& call) {
    const std::vector<ScheduleOp>& ops = call.ops();
    while (call.at < ops.size()) {
        const ScheduleOp& op = ops[call.at];
        if (call.at == call.planned->schedule.start && call.step.started == Clock::time_point{})
            call.step.started = Clock::now();
        if (op.hold_ns > 0 && !hold_back(call, op)) return;
        if (!(op.send ? send(call, op) : take(call, op))) return;
        ++call.at;
    }
    if (call.end.future != nullptr) finish(call);
}

/// False: this is a handler and there is no room for its message. The call goes on later.
bool MessagePath::send(Execution& call, const ScheduleOp& op) {
    Buffer packed;
    if (op.segments > 1) packed = calls_.lend(op.bytes);
    Bytes bytes = call.bytes_to_send(op, packed).subspan(call.step.sent);
    const std::size_t piece = call.planned->whole_piece_bytes();
    const bool limited = call.wait.deadline != Clock::time_point::max();
    const GlobalPointer<Mailbox>& open = members_[op.peer].mailbox;
    bool all = true;
    try {
        do {
            const Bytes now = bytes.first(std::min(bytes.size(), piece));
            bytes = bytes.subspan(now.size());
            const std::uint32_t slot = op.slot | (bytes.empty() ? kLastPiece : 0);
            const auto to = [&](const GlobalPointer<Mailbox>& member) {
                member.send(kArrive, members_.id(), call.number, slot, call.planned->digest, members_.me(),
                            now);
            };
            limited ? to(open.with(plexus::deadline(call.wait.deadline - Clock::now()))) : to(open);
            call.step.sent += now.size();
            call.step.refusals = 0;
        } while (!bytes.empty());
    } catch (const Error& error) {
        all = error.status() != Status::again || !members_.context().inside_handler();
        if (all) {
            limited&& error.status() == Status::timed_out ? failures_.expire(call)
                                                          : failures_.lost(op.peer, error);
            const Lock hold(calls_.mutex);
            call.outcome.undone = true;
        }
    }
    if (all) call.step.sent = 0;
    if (packed.memory != nullptr) calls_.give_back(std::move(packed));
    if (!all) retry_later(call);
    return all;
}

/// True: the message may be sent. False: its time has not come, and a call with a future is parked until
/// then; or the call has failed. A blocking call waits here.
bool MessagePath::hold_back(Execution& call, const ScheduleOp& op) {
    const Clock::time_point due = call.step.started + std::chrono::nanoseconds(op.hold_ns);
    if (call.end.future == nullptr) return sleep_until(call, due);
    const Clock::duration left = due - Clock::now();
    if (left <= Clock::duration::zero()) return true;
    bool failed = false;
    std::uint32_t number = 0; // of this call: once it is parked it may end, and another take its place
    {
        const Lock hold(calls_.mutex);
        failed = call.outcome.failed;
        number = call.number;
        call.wait.parked = !failed;
        call.wait.since = {};
    }
    if (failed) {
        finish(call);
        return false;
    }
    members_.mailbox()->monitor().after(left, [this, group = group_.weak_from_this(), &call, number] {
        const auto still = group.lock();
        if (still == nullptr) return;
        {
            const Lock hold(calls_.mutex);
            if (call.number != number || !call.wait.parked) return; // it has failed
            call.wait.parked = false;
        }
        advance(call);
    });
    return false;
}

/// False: the blocking call has failed.
bool MessagePath::sleep_until(Execution& call, Clock::time_point due) {
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

/// The call has a future, which keeps the group. It belongs to the timer now, and break_up() leaves it alone.
void MessagePath::retry_later(Execution& call) {
    const auto pause = kRetry * (1u << std::min(call.step.refusals++, kMostDoublings));
    members_.mailbox()->monitor().after(pause, [this, group = group_.weak_from_this(), &call] {
        const auto still = group.lock();
        if (still == nullptr) return;
        bool failed = false;
        {
            const Lock hold(calls_.mutex);
            failed = call.outcome.failed;
            if (failed) call.outcome.undone = true;
        }
        failed ? finish(call) : advance(call);
    });
}

/// True: the message of `op` is stored. False: it has not come and the call is parked, or the call failed.
bool MessagePath::take(Execution& call, const ScheduleOp& op) {
    Execution::Slot& slot = call.slots[op.slot];
    if (slot.stored.load(std::memory_order_acquire)) return true; // pairs with [stored]
    Buffer kept;
    std::uint64_t from = 0;
    for (;;) {
        bool failed = false;
        if (kept.memory != nullptr) calls_.give_back(std::exchange(kept, {}));
        {
            const Lock hold(calls_.mutex);
            failed = call.outcome.failed;
            if (!failed && slot.kept.size == 0) {
                // `complete` is set before the last bytes are stored, which is done without the lock.
                const bool there = call.planned->schedule.early ? slot.stored.load(std::memory_order_relaxed)
                                                                : slot.complete;
                if (there) return true;
                call.wait.parked = true;
                call.wait.since = {};
                return false;
            }
            if (!failed) kept = std::exchange(slot.kept, {});
            from = slot.kept_from;
        }
        if (failed) {
            if (call.end.future != nullptr) finish(call);
            return false;
        }
        try {
            call.merge(op, from, kept.bytes());
        } catch (...) {
            {
                const Lock hold(calls_.mutex);
                call.outcome.thrown = std::current_exception();
            }
            group_.break_up(Status::bad_argument, members_.text_of_throw(), true);
        }
    }
}

void MessagePath::act(Consequence what) {
    switch (what.kind) {
    case Consequence::Kind::none:
        return;
    case Consequence::Kind::resume:
        if (what.call != nullptr) return advance(*what.call);
        if (what.sleeper != nullptr) settle(*what.sleeper, Status::ok, {});
        return;
    case Consequence::Kind::differ:
        return failures_.differ(what.sender, what.number);
    case Consequence::Kind::break_up:
        return group_.break_up(what.status, what.why, true);
    }
}

void MessagePath::wait(Execution& call) {
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

void MessagePath::finish(Execution& call) {
    Ending ending;
    while (!calls_.take_ending(call, ending)) std::this_thread::yield();
    if (ending.status == Status::ok) call.copy(call.planned->schedule.after);
    calls_.release(call);
    if (ending.future != nullptr) return settle(*ending.future, ending.status, ending.why);
    if (ending.thrown != nullptr) members_.parent().rethrow(ending.thrown);
    if (ending.status != Status::ok) throw Error(ending.status, ending.why);
}

} // namespace plexus::eco::detail
