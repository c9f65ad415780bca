// SPDX-License-Identifier: BSD-3-Clause
// Calls from their beginning to their end: steps, arrivals, waiting.
#include "group/group_state.h"

#include "topology/refuse.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <thread>

namespace plexus::eco::detail {
namespace {

/// Turns of the poll loop that a blocked caller makes before it waits in earnest.
constexpr int kTurns = 64;
/// Where members share processors each gives its own away in every idle turn: whom it waits for may want it.
constexpr int kCrowdedTurns = 1000;

std::size_t piece_of(const PlannedCall& call) {
    const std::size_t element = call.signature.element_bytes;
    return std::max<std::size_t>(1, call.piece_bytes / element) * element;
}

void settle(CompletionState& future, Status status, const std::string& why) {
    if (status != Status::ok) return future.fail(status, why);
    plexus::detail::Reader nothing(nullptr, nullptr, 0, 0);
    future.complete(nothing);
}

} // namespace

GroupState::GroupState(std::shared_ptr<Mailbox> mailbox, std::uint64_t id, Rank me,
                       std::vector<Member> members, GroupOptions options, ParentGroup part)
  : mailbox_(std::move(mailbox))
  , id_(id)
  , me_(me)
  , members_(std::move(members))
  , options_(std::move(options))
  , parent_(std::move(part))
  , planner_(size(), me) {}

std::shared_ptr<GroupState> GroupState::make(std::shared_ptr<Mailbox> mailbox, std::uint64_t id, Rank me,
                                             std::vector<Member> members, GroupOptions options,
                                             ParentGroup part) {
    auto group = std::make_shared<GroupState>(std::move(mailbox), id, me, std::move(members),
                                              std::move(options), std::move(part));
    group->mailbox_->enter(id, *group);
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

std::string GroupState::why_broken() const { return broken_->second + "; the group is broken, make another"; }

void GroupState::throw_broken() const { throw Error(broken_->first, why_broken()); }

/// Under the lock.
std::unique_ptr<Execution> GroupState::spare() {
    if (spare_.empty()) return std::make_unique<Execution>();
    std::unique_ptr<Execution> out = std::move(spare_.back());
    spare_.pop_back();
    return out;
}

Execution& GroupState::begin(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
                             std::shared_ptr<CompletionState> future) {
    const Schedule& schedule = planned->schedule;
    std::unique_lock hold(mailbox_->mutex());
    if (broken_) throw_broken();
    std::unique_ptr<Execution> fresh = spare();
    if (schedule.scratch_bytes > 0) fresh->scratch = mailbox_->pool().take(schedule.scratch_bytes);
    hold.unlock();

    Execution& call = *fresh;
    call.planned = std::move(planned);
    call.combine = args.combine;
    // The space for sending is never written to.
    call.space[static_cast<std::size_t>(Space::send)] = const_cast<std::byte*>(args.send);
    call.space[static_cast<std::size_t>(Space::receive)] = args.receive;
    call.space[static_cast<std::size_t>(Space::scratch)] = call.scratch.data();
    if (call.slots.size() < schedule.op_of_slot.size())
        call.slots = std::vector<Execution::Slot>(schedule.op_of_slot.size());
    copy(call, schedule.before);
    if (future != nullptr) call.group = shared_from_this();
    call.future = std::move(future); // whoever looks after calls that wait reads it from here on

    hold.lock();
    return enter(std::move(fresh), hold);
}

/// From now on messages for it find it. What came before it did is put in its place first.
Execution& GroupState::enter(std::unique_ptr<Execution> fresh, std::unique_lock<std::mutex>& hold) {
    if (broken_) throw_broken();
    Execution& call = *fresh;
    call.number = next_++;
    past_[call.number % past_.size()] = {call.number, call.planned->signature};
    call.parked = !call.planned->signature.by_messages(); // whatever breaks the group says so in `ready`
    calls_.push_back(std::move(fresh));
    // What came before the call did: into the slots, as if it came now, and before what comes now.
    call.replaying = true;
    for (auto kept = early_.extract(call.number); kept; kept = early_.extract(call.number))
        for (const EarlyMessage& each : kept.mapped()) {
            early_bytes_ -= early_size(each.size);
            arrive_at(call, each.head, each.bytes(), hold);
            if (!hold.owns_lock()) hold.lock();
        }
    call.replaying = false;
    return call;
}

void GroupState::copy(Execution& call, const std::vector<Copy>& copies) {
    for (const Copy& each : copies) {
        std::byte* const to = call.space[static_cast<std::size_t>(each.to.space)] + each.to.offset;
        const std::byte* const from =
            call.space[static_cast<std::size_t>(each.from.space)] + each.from.offset;
        if (to != from && each.from.bytes > 0) std::memmove(to, from, each.from.bytes);
    }
}

void GroupState::run(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args) {
    if (mailbox_->context().inside_handler())
        throw Error(Status::would_deadlock,
                    fmt::format("a {} inside an inline handler would wait for what this thread has to "
                                "receive. Register the handler as threaded, or use async() and then()",
                                planned->signature.text()));
    if (planned->signature.memory) return run_in_memory(std::move(planned), args);
    if (planned->signature.hierarchical) return run_hierarchical(std::move(planned), args);
    Execution& call = begin(std::move(planned), args);
    for (;;) {
        advance(call);
        {
            const std::lock_guard hold(mailbox_->mutex());
            if (call.at == call.planned->schedule.ops.size() || (call.failed && !call.parked)) break;
        }
        wait(call);
    }
    finish(call);
}

Future<void> GroupState::start(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
                               std::shared_ptr<plexus::detail::CallState>* state) {
    auto future = std::make_shared<CompletionState>(mailbox_->context().core());
    Monitor& watch = mailbox_->watch(); // where there is no thread to be had, nothing has begun
    if (state != nullptr) *state = future;
    advance(begin(std::move(planned), args, future));
    if (!future->done()) watch.add(shared_from_this(), options_.watch);
    return Future<void>(std::move(future));
}

/// Runs steps until one has to wait or all are done. The call's owner alone; a call that has a
/// future may be over, and somebody else's, on return.
void GroupState::advance(Execution& call) {
    const std::vector<ScheduleOp>& ops = call.planned->schedule.ops;
    while (call.at < ops.size()) {
        const ScheduleOp& op = ops[call.at];
        if (op.send) {
            if (!send(call, op)) return;
        } else if (!take(call, op)) {
            return;
        }
        ++call.at;
    }
    if (call.future != nullptr) finish(call);
}

/// False: this is a handler, and there is no more room for what handlers send. The call is the
/// watch's from here on, which goes on with it and may wait for room.
bool GroupState::send(Execution& call, const ScheduleOp& op) {
    Buffer packed;
    Bytes bytes;
    const Segment* const segments = call.planned->schedule.segments.data() + op.first_segment;
    if (op.segments == 1) {
        bytes = {call.space[static_cast<std::size_t>(segments->space)] + segments->offset, segments->bytes};
    } else if (op.segments > 1) {
        {
            const std::lock_guard hold(mailbox_->mutex());
            packed = mailbox_->pool().take(op.bytes);
        }
        std::byte* to = packed.data();
        for (std::uint32_t i = 0; i < op.segments; ++i) {
            std::memcpy(to, call.space[static_cast<std::size_t>(segments[i].space)] + segments[i].offset,
                        segments[i].bytes);
            to += segments[i].bytes;
        }
        bytes = packed.bytes();
    }
    const std::size_t piece = piece_of(*call.planned);
    bytes = bytes.subspan(call.sent);
    bool all = true;
    try {
        do {
            const Bytes now = bytes.first(std::min(bytes.size(), piece));
            bytes = bytes.subspan(now.size());
            const std::uint32_t slot = op.slot | (bytes.empty() ? kLastPiece : 0);
            members_[op.peer].mailbox.send(kArrive, id_, call.number, slot, call.planned->digest, me_, now);
            call.sent += now.size();
        } while (!bytes.empty());
    } catch (const Error& error) {
        all = error.status() != Status::again || !mailbox_->context().inside_handler();
        if (all) {
            lost(op.peer, error);
            const std::lock_guard hold(mailbox_->mutex());
            call.undone = true;
        }
    }
    if (all) call.sent = 0;
    if (packed.memory != nullptr) {
        const std::lock_guard hold(mailbox_->mutex());
        mailbox_->pool().give(std::move(packed));
    }
    if (!all) mailbox_->watch().run([group = shared_from_this(), &call] { group->advance(call); });
    return all;
}

/// True: the action's message is in its place. False: it has not come, and the call is parked; or
/// it failed.
bool GroupState::take(Execution& call, const ScheduleOp& op) {
    Execution::Slot& slot = call.slots[op.slot];
    if (slot.stored.load(std::memory_order_acquire)) return true; // pairs with [stored]
    std::unique_lock hold(mailbox_->mutex());
    for (;;) {
        if (call.failed) {
            hold.unlock();
            if (call.future != nullptr) finish(call);
            return false;
        }
        if (slot.kept.size == 0) break;
        Buffer kept = std::move(slot.kept);
        slot.kept = {};
        const std::uint64_t from = slot.kept_from;
        hold.unlock();
        merge(call, op, from, kept.bytes());
        hold.lock();
        mailbox_->pool().give(std::move(kept));
    }
    // Complete is said before the last bytes are put in their place, which is done without the lock.
    const bool there =
        call.planned->schedule.early ? slot.stored.load(std::memory_order_relaxed) : slot.complete;
    if (there) return true;
    call.parked = true;
    call.parked_at = {};
    return false;
}

void GroupState::arrive(const MessageHeader& head, Bytes bytes, std::unique_lock<std::mutex>& hold) {
    if (broken_) return;
    Execution* const call = find(head.call);
    if (call != nullptr && !call->replaying) return arrive_at(*call, head, bytes, hold);
    if (call == nullptr && static_cast<std::int32_t>(head.call - next_) < 0) {
        hold.unlock(); // it has ended here without that message
        return differ(head.sender, head.call);
    }
    early_bytes_ += early_size(bytes.size());
    if (early_bytes_ > options_.ahead_bytes) {
        const std::string why =
            fmt::format("member {} is {} calls ahead of member {}, which would have to keep more than {} "
                        "bytes of others' "
                        "(GroupOptions::ahead_bytes): let members meet at a barrier from time to time",
                        name(head.sender), head.call - next_ + 1, name(me_), options_.ahead_bytes);
        hold.unlock();
        return break_up(Status::too_large, why, true);
    }
    early_[head.call].emplace_back(head, bytes);
}

void GroupState::arrive_at(Execution& call, const MessageHeader& head, Bytes bytes,
                           std::unique_lock<std::mutex>& hold) {
    const Schedule& schedule = call.planned->schedule;
    const bool known = head.digest == call.planned->digest && head.slot < schedule.op_of_slot.size();
    const std::uint32_t at = known ? schedule.op_of_slot[head.slot] : 0;
    if (!known || schedule.ops[at].peer != head.sender || call.slots[head.slot].complete) {
        hold.unlock();
        return differ(head.sender, head.call);
    }
    const ScheduleOp& op = schedule.ops[at];
    Execution::Slot& slot = call.slots[head.slot];
    const std::uint64_t from = slot.came;
    const bool last = from + bytes.size() == op.bytes;
    if (bytes.size() != std::min<std::uint64_t>(op.bytes - from, piece_of(*call.planned)) ||
        head.last != last) {
        const std::string why = call.planned->signature.uneven(name(head.sender), from + bytes.size(),
                                                               !head.last, name(me_), op.bytes);
        hold.unlock();
        return break_up(Status::bad_argument, why, true);
    }
    if (call.failed) return;
    slot.came += bytes.size();
    call.left_heard = 0; // there is more of it than was known when it was said to have left
    slot.complete = last;
    if (schedule.early) {
        ++call.writers;
        hold.unlock();
        store(call, op, from, bytes);
        hold.lock();
        --call.writers;
        if (!last) return;
        slot.stored.store(true, std::memory_order_release); // [stored]
    } else if (call.parked && call.at == at) {              // what was kept is in already
        call.parked = false;                                // ours now
        ++call.writers;
        hold.unlock();
        merge(call, op, from, bytes);
        hold.lock();
        --call.writers;
        call.parked = true;
        if (!last && !call.failed) return;
    } else {
        if (slot.kept.size == 0) {
            slot.kept = mailbox_->pool().take(op.bytes - from);
            slot.kept.size = 0;
            slot.kept_from = from;
        }
        if (!bytes.empty()) std::memcpy(slot.kept.data() + slot.kept.size, bytes.data(), bytes.size());
        slot.kept.size += bytes.size();
        return;
    }
    if (call.parked && call.at == at) resume(call, hold);
}

/// The parked call can go on: here, or on the thread that is blocked in it.
void GroupState::resume(Execution& call, std::unique_lock<std::mutex>& hold) {
    call.parked = false;
    if (call.future != nullptr) {
        hold.unlock();
        return advance(call);
    }
    const auto sleeper = std::move(call.sleeper);
    call.sleeper.reset();
    call.ready.store(true, std::memory_order_release); // [ready]
    hold.unlock();
    if (sleeper != nullptr) settle(*sleeper, Status::ok, {});
}

void GroupState::wait(Execution& call) {
    const auto is_ready = [&] {
        return call.ready.exchange(false, std::memory_order_acquire);
    }; // pairs with [ready]
    for (int turn = 0; turn < (crowded_ ? kCrowdedTurns : kTurns); ++turn) {
        if (is_ready()) return;
        if (mailbox_->context().progress() == 0 && crowded_) std::this_thread::yield();
    }
    for (;;) {
        std::shared_ptr<CompletionState> sleeper;
        Rank peer = 0;
        {
            const std::lock_guard hold(mailbox_->mutex());
            if (is_ready()) return;
            if (call.sleeper == nullptr)
                call.sleeper = std::make_shared<CompletionState>(mailbox_->context().core());
            sleeper = call.sleeper;
            peer = call.awaited();
        }
        try {
            if (!Future<void>(sleeper).wait_for(options_.watch) && peer != Execution::kNobody)
                ask_after(peer, call.number, call.planned->digest);
        } catch (const Error& error) { break_up(error.status(), error.what(), true); }
    }
}

/// The owner alone, when all steps are done or the call has failed.
void GroupState::finish(Execution& call) {
    Status status = Status::ok;
    std::string why;
    // What may be somebody's last hold on a group ends without the lock.
    std::shared_ptr<GroupState> keep;
    std::shared_ptr<CompletionState> future;
    detail::Combine combine;
    {
        std::unique_lock hold(mailbox_->mutex());
        keep = std::move(call.group);
        future = std::move(call.future);
        combine = std::move(call.combine);
        while (call.writers > 0) { // they write where the caller's memory may end soon
            hold.unlock();
            std::this_thread::yield();
            hold.lock();
        }
        const bool undone = call.undone || call.at < call.planned->schedule.ops.size();
        if (call.failed && undone) {
            status = broken_->first;
            why = why_broken();
        }
        const bool well = status == Status::ok;
        hold.unlock();
        if (well) copy(call, call.planned->schedule.after);
        hold.lock();
        release(call);
    }
    if (future != nullptr) return settle(*future, status, why);
    if (status != Status::ok) throw Error(status, why);
}

void GroupState::release(Execution& call) {
    for (std::size_t slot = 0; slot < call.planned->schedule.op_of_slot.size(); ++slot) {
        Execution::Slot& each = call.slots[slot];
        each.stored.store(false, std::memory_order_relaxed);
        each.complete = false;
        each.came = 0;
        if (each.kept.memory != nullptr) mailbox_->pool().give(std::move(each.kept));
        each.kept = {};
    }
    mailbox_->pool().give(std::move(call.scratch));
    call.scratch = {};
    call.planned.reset();
    call.combine = {};
    call.sleeper.reset();
    call.ready.store(false, std::memory_order_relaxed);
    call.at = 0;
    call.sent = 0;
    call.parked = call.failed = call.undone = false;
    call.left_heard = 0;
    call.peer = Execution::kNobody;
    const auto mine =
        std::find_if(calls_.begin(), calls_.end(), [&](const auto& each) { return each.get() == &call; });
    spare_.push_back(std::move(*mine));
    calls_.erase(mine);
}

/// Calls `what(place, bytes)` for each run of memory that `bytes` of the action from `from` on belong to.
template <class Do>
void GroupState::each_run(Execution& call, const ScheduleOp& op, std::uint64_t from, Bytes bytes, Do&& what) {
    const Segment* segment = call.planned->schedule.segments.data() + op.first_segment;
    while (!bytes.empty()) {
        if (from >= segment->bytes) {
            from -= segment++->bytes;
            continue;
        }
        const Bytes now = bytes.first(std::min<std::uint64_t>(bytes.size(), segment->bytes - from));
        what(call.space[static_cast<std::size_t>(segment->space)] + segment->offset + from, now);
        from += now.size();
        bytes = bytes.subspan(now.size());
    }
}

void GroupState::store(Execution& call, const ScheduleOp& op, std::uint64_t from, Bytes bytes) {
    each_run(call, op, from, bytes,
             [](std::byte* place, Bytes run) { std::memcpy(place, run.data(), run.size()); });
}

void GroupState::merge(Execution& call, const ScheduleOp& op, std::uint64_t from, Bytes bytes) noexcept {
    if (op.merge == Merge::store) return store(call, op, from, bytes);
    const std::size_t size = call.planned->signature.element_bytes;
    const detail::Combine& combine = call.combine;
    each_run(call, op, from, bytes, [&](std::byte* here, Bytes run) {
        op.merge == Merge::before ? combine.run(combine.op.get(), here, run.data(), here, run.size() / size)
                                  : combine.run(combine.op.get(), here, here, run.data(), run.size() / size);
    });
}

} // namespace plexus::eco::detail
