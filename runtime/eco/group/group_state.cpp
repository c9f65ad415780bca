// SPDX-License-Identifier: BSD-3-Clause
// Calls by messages from their beginning to their end: operations, arrivals, waiting.
#include "group/group_state.h"

#include "host/collective.h"
#include "topology/refuse.h"

#include <algorithm>
#include <cstring>
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

void settle(CompletionState& future, Status status, const std::string& why) {
    if (status != Status::ok) return future.fail(status, why);
    plexus::detail::Reader nothing(nullptr, nullptr, 0, 0);
    future.complete(nothing);
}

} // namespace

void ParentGroup::rethrow(const std::exception_ptr& thrown) const {
    if (whole.expired()) std::rethrow_exception(thrown);
    throw host::OperationThrew{thrown};
}

GroupState::GroupState(std::shared_ptr<Mailbox> mailbox, std::uint64_t id, Rank me,
                       std::vector<Member> members, GroupOptions options, ParentGroup parent)
  : mailbox_(std::move(mailbox))
  , id_(id)
  , me_(me)
  , members_(std::move(members))
  , options_(std::move(options))
  , parent_(std::move(parent))
  , planner_(size(), me) {}

std::shared_ptr<GroupState> GroupState::make(std::shared_ptr<Mailbox> mailbox, std::uint64_t id, Rank me,
                                             std::vector<Member> members, GroupOptions options,
                                             ParentGroup parent) {
    auto group = std::make_shared<GroupState>(std::move(mailbox), id, me, std::move(members),
                                              std::move(options), std::move(parent));
    group->mailbox_->enter(id, group);
    return group;
}

GroupState::~GroupState() { mailbox_->leave(id_); }

std::shared_ptr<const PlannedCall> GroupState::prepare(const CollectiveArgs& args, const Algorithm& algorithm,
                                                       bool blocking) {
    return planner_.prepare(args, algorithm, blocking);
}

Execution* GroupState::find(std::uint32_t number) {
    for (const auto& call : calls_)
        if (call->number == number) return call.get();
    return nullptr;
}

ShownGroup GroupState::shown() {
    ShownGroup shown;
    shown.id = id_;
    shown.rank = me_;
    shown.members = size();
    shown.refinements = planner_.epoch();
    const Lock hold(mutex_);
    shown.under_way = static_cast<std::uint32_t>(calls_.size());
    shown.broken = broken_.has_value();
    shown.calls = past_.count();
    shown.bytes = past_.bytes();
    return shown;
}

std::string GroupState::why_broken() const { return broken_->second + "; the group is broken, make another"; }

void GroupState::throw_broken() const { throw Error(broken_->first, why_broken()); }

std::unique_ptr<Execution> GroupState::spare() {
    if (spare_.empty()) return std::make_unique<Execution>();
    std::unique_ptr<Execution> out = std::move(spare_.back());
    spare_.pop_back();
    return out;
}

Execution& GroupState::begin(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
                             Clock::time_point deadline, std::shared_ptr<CompletionState> future) {
    const Schedule& schedule = planned->schedule;
    std::unique_ptr<Execution> fresh;
    {
        const Lock hold(mutex_);
        if (broken_) throw_broken();
        fresh = spare();
        if (schedule.scratch_bytes > 0) fresh->scratch = pool_.take(schedule.scratch_bytes);
    }
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
    if (future != nullptr) call.end.group = shared_from_this();
    call.end.future = std::move(future); // look_after() reads it from here on
    return enter(std::move(fresh));
}

/// From now on messages for the call find it. Messages that came before are stored first.
Execution& GroupState::enter(std::unique_ptr<Execution> fresh) {
    Execution& call = *fresh;
    std::vector<Consequence> consequences;
    {
        const Lock hold(mutex_);
        if (broken_) throw_broken();
        call.number = next_++;
        past_.add(call.number, call.planned->signature);
        call.wait.parked = !call.planned->signature.by_messages(); // so break_up() sets `ready`
        calls_.push_back(std::move(fresh));
        // As if they came now, and before all that comes while the lock is released meanwhile.
        call.replaying = true;
        for (auto kept = early_.extract(call.number); kept; kept = early_.extract(call.number))
            for (const EarlyMessage& each : kept.mapped()) {
                early_bytes_ -= early_size(each.size);
                Consequence what = take_message(call, each.head, each.bytes());
                if (what.kind != Consequence::Kind::none) consequences.push_back(std::move(what));
            }
        call.replaying = false;
    }
    for (Consequence& each : consequences) act(std::move(each));
    return call;
}

void GroupState::run(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
                     Clock::time_point deadline) {
    if (mailbox_->context().inside_handler())
        throw Error(Status::would_deadlock,
                    fmt::format("a {} inside an inline handler would wait for what this thread has to "
                                "receive. Register the handler as threaded, or use async() and then()",
                                planned->signature.text()));
    if (planned->signature.memory) return run_in_memory(std::move(planned), args, deadline);
    if (planned->signature.multicast) return run_by_multicast(std::move(planned), args, deadline);
    if (planned->signature.hierarchical) return run_hierarchical(std::move(planned), args, deadline);
    Execution& call = begin(std::move(planned), args, deadline);
    for (;;) {
        advance(call);
        {
            const Lock hold(mutex_);
            if (call.at == call.ops().size() || (call.outcome.failed && !call.wait.parked)) break;
        }
        wait(call);
    }
    finish(call);
}

Future<void> GroupState::start(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
                               Clock::time_point deadline,
                               std::shared_ptr<plexus::detail::CallState>* state) {
    auto future = std::make_shared<CompletionState>(mailbox_->context().core());
    Monitor& monitor = mailbox_->monitor(); // if there is no thread, nothing has begun
    if (state != nullptr) *state = future;
    advance(begin(std::move(planned), args, deadline, future));
    if (!future->done()) {
        watch_later();
        if (deadline != Clock::time_point::max())
            monitor.after(std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()),
                          [group = weak_from_this()] {
                              if (const auto still = group.lock()) still->expire_late();
                          });
    }
    return Future<void>(std::move(future));
}

/// Executes operations until one has to wait or all are done. The call's owner only. A call with a future
/// may have ended, and belong to another call, on return.
void GroupState::advance(Execution& call) {
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
bool GroupState::send(Execution& call, const ScheduleOp& op) {
    Buffer packed;
    if (op.segments > 1) {
        const Lock hold(mutex_);
        packed = pool_.take(op.bytes);
    }
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
                member.send(kArrive, id_, call.number, slot, call.planned->digest, me_, now);
            };
            limited ? to(open.with(plexus::deadline(call.wait.deadline - Clock::now()))) : to(open);
            call.step.sent += now.size();
            call.step.refusals = 0;
        } while (!bytes.empty());
    } catch (const Error& error) {
        all = error.status() != Status::again || !mailbox_->context().inside_handler();
        if (all) {
            limited&& error.status() == Status::timed_out ? expire(call) : lost(op.peer, error);
            const Lock hold(mutex_);
            call.outcome.undone = true;
        }
    }
    if (all) call.step.sent = 0;
    if (packed.memory != nullptr) {
        const Lock hold(mutex_);
        pool_.give(std::move(packed));
    }
    if (!all) retry_later(call);
    return all;
}

/// True: the message may be sent. False: its time has not come, and a call with a future is parked until
/// then; or the call has failed. A blocking call waits here.
bool GroupState::hold_back(Execution& call, const ScheduleOp& op) {
    const Clock::time_point due = call.step.started + std::chrono::nanoseconds(op.hold_ns);
    if (call.end.future == nullptr) return sleep_until(call, due);
    const Clock::duration left = due - Clock::now();
    if (left <= Clock::duration::zero()) return true;
    bool failed = false;
    std::uint32_t number = 0; // of this call: once it is parked it may end, and another take its place
    {
        const Lock hold(mutex_);
        failed = call.outcome.failed;
        number = call.number;
        call.wait.parked = !failed;
        call.wait.since = {};
    }
    if (failed) {
        finish(call);
        return false;
    }
    mailbox_->monitor().after(left, [group = weak_from_this(), &call, number] {
        const auto still = group.lock();
        if (still == nullptr) return;
        {
            const Lock hold(still->mutex_);
            if (call.number != number || !call.wait.parked) return; // it has failed
            call.wait.parked = false;
        }
        still->advance(call);
    });
    return false;
}

/// False: the blocking call has failed.
bool GroupState::sleep_until(Execution& call, Clock::time_point due) {
    for (Clock::time_point now = Clock::now(); now < due; now = Clock::now()) {
        if (now >= call.wait.deadline) expire(call);
        const auto sleeper = std::make_shared<CompletionState>(mailbox_->context().core());
        {
            const Lock hold(mutex_);
            if (call.outcome.failed) return false;
            call.end.sleeper = sleeper; // break_up() wakes it
        }
        try {
            (void)Future<void>(sleeper).wait_for(std::min(due, call.wait.deadline) - now);
        } catch (const Error& error) { break_up(error.status(), error.what(), true); }
        const Lock hold(mutex_);
        call.end.sleeper.reset();
    }
    return true;
}

/// The call has a future, which keeps the group. It belongs to the timer now, and break_up() leaves it alone.
void GroupState::retry_later(Execution& call) {
    const auto pause = kRetry * (1u << std::min(call.step.refusals++, kMostDoublings));
    mailbox_->monitor().after(pause, [group = weak_from_this(), &call] {
        const auto still = group.lock();
        if (still == nullptr) return;
        bool failed = false;
        {
            const Lock hold(still->mutex_);
            failed = call.outcome.failed;
            if (failed) call.outcome.undone = true;
        }
        failed ? still->finish(call) : still->advance(call);
    });
}

/// True: the message of `op` is stored. False: it has not come and the call is parked, or the call failed.
bool GroupState::take(Execution& call, const ScheduleOp& op) {
    Execution::Slot& slot = call.slots[op.slot];
    if (slot.stored.load(std::memory_order_acquire)) return true; // pairs with [stored]
    Buffer kept;
    std::uint64_t from = 0;
    for (;;) {
        bool failed = false;
        {
            const Lock hold(mutex_);
            if (kept.memory != nullptr) pool_.give(std::exchange(kept, {}));
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
                const Lock hold(mutex_);
                call.outcome.thrown = std::current_exception();
            }
            break_up(Status::bad_argument, text_of_throw(), true);
        }
    }
}

std::string GroupState::text_of_throw() const {
    return fmt::format("the operation threw on member {}", name(me_));
}

GroupState::Consequence GroupState::broken_by_operation() const {
    Consequence what{Consequence::Kind::break_up};
    what.status = Status::bad_argument;
    what.why = text_of_throw();
    return what;
}

void GroupState::arrive(const MessageHeader& head, Bytes bytes) {
    Consequence what;
    {
        const Lock hold(mutex_);
        if (broken_) return;
        Execution* const call = find(head.call);
        what = call != nullptr && !call->replaying ? take_message(*call, head, bytes)
               : call == nullptr && static_cast<std::int32_t>(head.call - next_) < 0
                   ? Consequence{Consequence::Kind::differ, nullptr, nullptr, head.sender, head.call}
                   : keep_early(head, bytes);
    }
    if (what.kind != Consequence::Kind::none) act(std::move(what));
}

GroupState::Consequence GroupState::keep_early(const MessageHeader& head, Bytes bytes) {
    early_bytes_ += early_size(bytes.size());
    if (early_bytes_ > options_.ahead_bytes) {
        Consequence what{Consequence::Kind::break_up};
        what.status = Status::too_large;
        what.why =
            fmt::format("member {} is {} calls ahead of member {}, which would have to keep more than {} "
                        "bytes of others' "
                        "(GroupOptions::ahead_bytes): let members meet at a barrier from time to time",
                        name(head.sender), head.call - next_ + 1, name(me_), options_.ahead_bytes);
        return what;
    }
    early_[head.call].emplace_back(head, bytes);
    return {};
}

void GroupState::take_early(std::vector<EarlyMessage> early) {
    const Lock hold(mutex_);
    for (EarlyMessage& each : early) {
        early_bytes_ += early_size(each.size);
        early_[each.head.call].push_back(std::move(each));
    }
}

/// Releases the lock while it writes to the call's memory.
GroupState::Consequence GroupState::take_message(Execution& call, const MessageHeader& head, Bytes bytes) {
    const Schedule& schedule = call.planned->schedule;
    const bool known = head.digest == call.planned->digest && head.slot < schedule.op_of_slot.size();
    const std::uint32_t at = known ? schedule.op_of_slot[head.slot] : 0;
    if (!known || schedule.ops[at].peer != head.sender || call.slots[head.slot].complete)
        return {Consequence::Kind::differ, nullptr, nullptr, head.sender, head.call};
    const ScheduleOp& op = schedule.ops[at];
    Execution::Slot& slot = call.slots[head.slot];
    const std::uint64_t from = slot.came;
    const bool last = from + bytes.size() == op.bytes;
    if (bytes.size() != std::min<std::uint64_t>(op.bytes - from, call.planned->whole_piece_bytes()) ||
        head.last != last) {
        Consequence what{Consequence::Kind::break_up};
        what.status = Status::bad_argument;
        what.why = call.planned->signature.uneven(name(head.sender), from + bytes.size(), !head.last,
                                                  name(me_), op.bytes);
        return what;
    }
    if (call.outcome.failed) return {};
    slot.came += bytes.size();
    call.wait.left_heard = 0; // more of it has come than was known when the sender was reported to have left
    slot.complete = last;
    if (schedule.early) {
        ++call.writers;
        mutex_.unlock();
        call.store(op, from, bytes);
        mutex_.lock();
        --call.writers;
        if (!last) return {};
        slot.stored.store(true, std::memory_order_release); // [stored]
    } else if (call.wait.parked && call.at == at) {         // what was kept is merged already
        call.wait.parked = false;                           // this thread is the owner now
        ++call.writers;
        mutex_.unlock();
        std::exception_ptr thrown;
        try {
            call.merge(op, from, bytes);
        } catch (...) { thrown = std::current_exception(); }
        mutex_.lock();
        --call.writers;
        call.wait.parked = true;
        if (thrown != nullptr) {
            call.outcome.thrown = std::move(thrown);
            call.outcome.undone = true;
            // A group that broke meanwhile has left the call to this thread. Else nothing more is combined
            // until it is broken.
            return std::exchange(call.outcome.failed, true) ? resume(call) : broken_by_operation();
        }
        if (!last && !call.outcome.failed) return {};
    } else {
        if (slot.kept.size == 0) {
            slot.kept = pool_.take(op.bytes - from);
            slot.kept.size = 0;
            slot.kept_from = from;
        }
        if (!bytes.empty()) std::memcpy(slot.kept.data() + slot.kept.size, bytes.data(), bytes.size());
        slot.kept.size += bytes.size();
        return {};
    }
    return call.wait.parked && call.at == at ? resume(call) : Consequence{};
}

/// The parked call can go on: on this thread, or on the thread that is blocked in it.
GroupState::Consequence GroupState::resume(Execution& call) {
    call.wait.parked = false;
    if (call.end.future != nullptr) return {Consequence::Kind::resume, &call};
    Consequence what{Consequence::Kind::resume};
    what.sleeper = std::move(call.end.sleeper);
    call.end.sleeper.reset();
    call.end.ready.store(true, std::memory_order_release); // [ready]
    return what;
}

void GroupState::act(Consequence what) {
    switch (what.kind) {
    case Consequence::Kind::none:
        return;
    case Consequence::Kind::resume:
        if (what.call != nullptr) return advance(*what.call);
        if (what.sleeper != nullptr) settle(*what.sleeper, Status::ok, {});
        return;
    case Consequence::Kind::differ:
        return differ(what.sender, what.number);
    case Consequence::Kind::break_up:
        return break_up(what.status, what.why, true);
    }
}

void GroupState::wait(Execution& call) {
    const auto is_ready = [&] {
        return call.end.ready.exchange(false, std::memory_order_acquire);
    }; // pairs with [ready]
    const int turns = !crowded() ? kTurns : per_processor_ <= kManyPerProcessor ? kCrowdedTurns : kFewTurns;
    for (int turn = 0; turn < turns; ++turn) {
        if (is_ready()) return;
        if (mailbox_->context().progress() == 0 && crowded()) std::this_thread::yield();
    }
    for (;;) {
        std::shared_ptr<CompletionState> sleeper;
        Rank peer = 0;
        {
            const Lock hold(mutex_);
            if (is_ready()) return;
            if (call.end.sleeper == nullptr)
                call.end.sleeper = std::make_shared<CompletionState>(mailbox_->context().core());
            sleeper = call.end.sleeper;
            peer = call.awaited();
        }
        const auto left =
            std::max<Clock::duration>(call.wait.deadline - Clock::now(), Clock::duration::zero());
        try {
            if (Future<void>(sleeper).wait_for(std::min<Clock::duration>(options_.watch, left))) continue;
        } catch (const Error& error) {
            break_up(error.status(), error.what(), true);
            continue;
        }
        if (Clock::now() >= call.wait.deadline) {
            expire(call);
        } else if (peer != Execution::kNobody) {
            ask_after(peer, call.number, call.planned->digest);
        }
    }
}

/// The owner only, when all operations are done or the call has failed.
void GroupState::finish(Execution& call) {
    Status status = Status::ok;
    std::string why;
    std::exception_ptr thrown;
    // What may be the last reference to a group ends without the lock.
    std::shared_ptr<GroupState> keep;
    std::shared_ptr<CompletionState> future;
    Combine combine;
    for (bool over = false; !over;) {
        {
            const Lock hold(mutex_);
            over = call.writers == 0; // writers use memory that the caller may free soon
            if (over) {
                keep = std::move(call.end.group);
                future = std::move(call.end.future);
                combine = std::move(call.combine);
                thrown = std::move(call.outcome.thrown);
                if (call.outcome.failed && (call.outcome.undone || call.at < call.ops().size())) {
                    status = broken_->first;
                    why = why_broken();
                }
            }
        }
        if (!over) std::this_thread::yield();
    }
    if (status == Status::ok) call.copy(call.planned->schedule.after);
    {
        const Lock hold(mutex_);
        release(call);
    }
    if (future != nullptr) return settle(*future, status, why);
    if (thrown != nullptr) parent_.rethrow(thrown);
    if (status != Status::ok) throw Error(status, why);
}

void GroupState::release(Execution& call) {
    call.reset(pool_);
    const auto mine =
        std::find_if(calls_.begin(), calls_.end(), [&](const auto& each) { return each.get() == &call; });
    spare_.push_back(std::move(*mine));
    calls_.erase(mine);
}

} // namespace plexus::eco::detail
