// SPDX-License-Identifier: BSD-3-Clause
#include "group/message_path.h"

#include "group/group_state.h"

#include <algorithm>
#include <fmt/format.h>
#include <new>
#include <thread>

namespace plexus::eco::detail {
namespace {

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
    return group_.enter(std::move(fresh));
}

void MessagePath::run(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
                      Clock::time_point deadline) {
    Execution& call = begin(std::move(planned), args, deadline);
    try {
        for (;;) {
            advance(call);
            {
                const Lock hold(calls_.mutex);
                if (call.at == call.ops().size() || (call.outcome.failed && !call.wait.parked)) break;
            }
            group_.waiter().wait(call);
        }
    } catch (const std::bad_alloc&) { // to wait takes some, too
        group_.break_for_memory();    // others may still write to the caller's: finish() waits for them
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
    const std::size_t piece = call.planned->whole_piece_bytes();
    const bool limited = call.wait.deadline != Clock::time_point::max();
    const GlobalPointer<Mailbox>& open = members_[op.peer].mailbox;
    bool all = true;
    try {
        if (op.segments > 1) packed = calls_.lend(op.bytes);
        Bytes bytes = call.bytes_to_send(op, packed).subspan(call.step.sent);
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
    } catch (const std::bad_alloc&) {
        group_.break_for_memory();
        const Lock hold(calls_.mutex);
        call.outcome.undone = true;
    }
    if (all) call.step.sent = 0;
    if (packed.memory != nullptr) {
        const Lock hold(calls_.mutex);
        calls_.give_back(std::move(packed));
    }
    if (!all) retry_later(call);
    return all;
}

/// True: the message may be sent. False: its time has not come, and a call with a future is parked until
/// then; or the call has failed. A blocking call waits here.
bool MessagePath::hold_back(Execution& call, const ScheduleOp& op) {
    const Clock::time_point due = call.step.started + std::chrono::nanoseconds(op.hold_ns);
    if (call.end.future == nullptr) return group_.waiter().sleep_until(call, due);
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
        {
            const Lock hold(calls_.mutex);
            calls_.give_back(std::exchange(kept, {}));
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
