// SPDX-License-Identifier: BSD-3-Clause
#include "group/call_table.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace plexus::eco::detail {

void CallTable::check_whole() const {
    if (broken_) throw Error(broken_->first, why_broken());
}

void CallTable::throw_broken() const {
    const Lock hold(mutex);
    throw Error(broken_->first, why_broken());
}

std::string CallTable::why_broken() const { return broken_->second + "; the group is broken, make another"; }

std::unique_ptr<Execution> CallTable::make(std::uint64_t scratch_bytes) {
    const Lock hold(mutex);
    check_whole();
    std::unique_ptr<Execution> out;
    if (spare_.empty()) {
        out = std::make_unique<Execution>();
    } else {
        out = std::move(spare_.back());
        spare_.pop_back();
    }
    if (scratch_bytes > 0) out->scratch = pool_.take(scratch_bytes);
    return out;
}

Execution& CallTable::enter(std::unique_ptr<Execution> fresh, std::vector<Consequence>& consequences) {
    Execution& call = *fresh;
    const Lock hold(mutex);
    check_whole();
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
    return call;
}

Execution* CallTable::find(std::uint32_t number) {
    for (const auto& call : calls_)
        if (call->number == number) return call.get();
    return nullptr;
}

Consequence CallTable::resume(Execution& call) {
    call.wait.parked = false;
    if (call.end.future != nullptr) return {Consequence::Kind::resume, &call};
    Consequence what{Consequence::Kind::resume};
    what.sleeper = std::move(call.end.sleeper);
    call.end.sleeper.reset();
    call.end.ready.store(true, std::memory_order_release); // [ready]
    return what;
}

bool CallTable::take_ending(Execution& call, Ending& ending) {
    const Lock hold(mutex);
    if (call.writers != 0) return false;
    ending.keep = std::move(call.end.group);
    ending.future = std::move(call.end.future);
    ending.combine = std::move(call.combine);
    ending.thrown = std::move(call.outcome.thrown);
    if (call.outcome.failed && (call.outcome.undone || call.at < call.ops().size())) {
        ending.status = broken_->first;
        ending.why = why_broken();
    }
    return true;
}

void CallTable::release(Execution& call) {
    const Lock hold(mutex);
    call.reset(pool_);
    const auto mine =
        std::find_if(calls_.begin(), calls_.end(), [&](const auto& each) { return each.get() == &call; });
    spare_.push_back(std::move(*mine));
    calls_.erase(mine);
}

Buffer CallTable::lend(std::size_t bytes) {
    const Lock hold(mutex);
    return pool_.take(bytes);
}

Consequence CallTable::arrive(const MessageHeader& head, Bytes bytes) {
    const Lock hold(mutex);
    if (broken_) return {};
    Execution* const call = find(head.call);
    if (call != nullptr && !call->replaying) return take_message(*call, head, bytes);
    if (call == nullptr && static_cast<std::int32_t>(head.call - next_) < 0)
        return Consequence::differs(head.sender, head.call);
    return keep_early(head, bytes);
}

Consequence CallTable::keep_early(const MessageHeader& head, Bytes bytes) {
    early_bytes_ += early_size(bytes.size());
    const std::size_t most = members_.options().ahead_bytes;
    if (early_bytes_ > most) {
        return Consequence::breaks(
            Status::too_large,
            fmt::format(
                "member {} is {} calls ahead of member {}, which would have to keep more than {} bytes of "
                "others' (GroupOptions::ahead_bytes): let members meet at a barrier from time to time",
                members_.name(head.sender), head.call - next_ + 1, members_.name(members_.me()), most));
    }
    early_[head.call].emplace_back(head, bytes);
    return {};
}

void CallTable::take_early(std::vector<EarlyMessage> early) {
    const Lock hold(mutex);
    for (EarlyMessage& each : early) {
        early_bytes_ += early_size(each.size);
        early_[each.head.call].push_back(std::move(each));
    }
}

/// Releases the lock while it writes to the call's memory.
Consequence CallTable::take_message(Execution& call, const MessageHeader& head, Bytes bytes) {
    const Schedule& schedule = call.planned->schedule;
    const bool known = head.digest == call.planned->digest && head.slot < schedule.op_of_slot.size();
    const std::uint32_t at = known ? schedule.op_of_slot[head.slot] : 0;
    if (!known || schedule.ops[at].peer != head.sender || call.slots[head.slot].complete)
        return Consequence::differs(head.sender, head.call);
    const ScheduleOp& op = schedule.ops[at];
    Execution::Slot& slot = call.slots[head.slot];
    const std::uint64_t from = slot.came;
    const bool last = from + bytes.size() == op.bytes;
    if (bytes.size() != std::min<std::uint64_t>(op.bytes - from, call.planned->whole_piece_bytes()) ||
        head.last != last) {
        return Consequence::breaks(Status::bad_argument,
                                   call.planned->signature.uneven(members_.name(head.sender),
                                                                  from + bytes.size(), !head.last,
                                                                  members_.name(members_.me()), op.bytes));
    }
    if (call.outcome.failed) return {};
    slot.came += bytes.size();
    call.wait.left_heard = 0; // more of it has come than was known when the sender was reported to have left
    slot.complete = last;
    if (schedule.early) {
        ++call.writers;
        mutex.unlock();
        call.store(op, from, bytes);
        mutex.lock();
        --call.writers;
        if (!last) return {};
        slot.stored.store(true, std::memory_order_release); // [stored]
    } else if (call.wait.parked && call.at == at) {         // what was kept is merged already
        call.wait.parked = false;                           // this thread is the owner now
        ++call.writers;
        mutex.unlock();
        std::exception_ptr thrown;
        try {
            call.merge(op, from, bytes);
        } catch (...) { thrown = std::current_exception(); }
        mutex.lock();
        --call.writers;
        call.wait.parked = true;
        if (thrown != nullptr) {
            call.outcome.thrown = std::move(thrown);
            call.outcome.undone = true;
            // A group that broke meanwhile has left the call to this thread. Else nothing more is combined
            // until it is broken.
            if (std::exchange(call.outcome.failed, true)) return resume(call);
            return Consequence::breaks(Status::bad_argument, members_.text_of_throw());
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

bool CallTable::break_up(Status status, const std::string& why, std::vector<Execution*>& ours) {
    {
        const Lock hold(mutex);
        if (broken_) return false;
        broken_ = {status, why};
        for (const auto& each : calls_) {
            each->outcome.failed = true;
            if (!each->wait.parked) continue; // its owner will see it
            each->wait.parked = false;
            if (each->end.future != nullptr) {
                ours.push_back(each.get());
            } else {
                each->end.ready.store(true, std::memory_order_release); // [ready]
            }
        }
    }
    wake_sleepers();
    return true;
}

/// A thread that sleeps in a call is woken by a future of its own.
void CallTable::wake_sleepers() {
    for (;;) {
        std::shared_ptr<CompletionState> sleeper;
        {
            const Lock hold(mutex);
            for (const auto& each : calls_) {
                if (sleeper == nullptr) sleeper = std::exchange(each->end.sleeper, nullptr);
            }
        }
        if (sleeper == nullptr) return;
        settle(*sleeper, Status::ok, {});
    }
}

std::string CallTable::text_of(std::uint32_t number) const {
    const Lock hold(mutex);
    const Signature* const known = past_.find(number);
    return known != nullptr ? known->text() : kUnknownCall;
}

std::uint32_t CallTable::digest_of(std::uint32_t number) const {
    const Lock hold(mutex);
    const Signature* const known = past_.find(number);
    return known != nullptr ? known->digest() : 0;
}

Presence CallTable::presence(std::uint32_t number, std::uint32_t digest) const {
    const Lock hold(mutex);
    const Signature* const known = past_.find(number);
    return known == nullptr || known->digest() == digest ? Presence::here : Presence::differs;
}

void CallTable::show(ShownGroup& shown) const {
    const Lock hold(mutex);
    shown.under_way = static_cast<std::uint32_t>(calls_.size());
    shown.broken = broken_.has_value();
    shown.calls = past_.count();
    shown.bytes = past_.bytes();
}

} // namespace plexus::eco::detail
