// SPDX-License-Identifier: BSD-3-Clause
// Calls from their beginning to their end: steps, arrivals, waiting.
#include "exec/team.h"

#include "topology/refuse.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <thread>

namespace plexus::eco::exec {
namespace {

/// Turns of the poll loop that a blocked caller makes before it waits in earnest.
constexpr int kTurns = 64;
/// Where members share processors each gives its own away in every idle turn: whom it waits for may want it.
constexpr int kCrowdedTurns = 1000;

std::size_t piece_of(const Prepared& call) {
    const std::size_t element = call.signature.element_bytes;
    return std::max<std::size_t>(1, call.piece_bytes / element) * element;
}

void settle(Typed& future, Status status, const std::string& why) {
    if (status != Status::ok) return future.fail(status, why);
    plexus::detail::Reader nothing(nullptr, nullptr, 0, 0);
    future.complete(nothing);
}

} // namespace

Team::Team(std::shared_ptr<Hub> hub, std::uint64_t id, Rank me, std::vector<Member> members,
           GroupOptions options, PartOf part)
  : hub_(std::move(hub))
  , id_(id)
  , me_(me)
  , members_(std::move(members))
  , options_(std::move(options))
  , part_(std::move(part))
  , planner_(size(), me) {}

std::shared_ptr<Team> Team::make(std::shared_ptr<Hub> hub, std::uint64_t id, Rank me,
                                 std::vector<Member> members, GroupOptions options, PartOf part) {
    auto team = std::make_shared<Team>(std::move(hub), id, me, std::move(members), std::move(options),
                                       std::move(part));
    team->hub_->enter(id, *team);
    return team;
}

Team::~Team() { hub_->leave(id_); }

std::shared_ptr<const Prepared> Team::prepare(const detail::Work& work, const How& how, bool blocking) {
    return planner_.prepare(work, how, blocking);
}

Call* Team::find(std::uint32_t number) {
    for (const auto& call : calls_)
        if (call->number == number) return call.get();
    return nullptr;
}

std::string Team::why_broken() const { return broken_->second + "; the group is broken, make another"; }

void Team::throw_broken() const { throw Error(broken_->first, why_broken()); }

/// Under the lock.
std::unique_ptr<Call> Team::spare() {
    if (spare_.empty()) return std::make_unique<Call>();
    std::unique_ptr<Call> out = std::move(spare_.back());
    spare_.pop_back();
    return out;
}

Call& Team::begin(std::shared_ptr<const Prepared> prepared, const detail::Work& work,
                  std::shared_ptr<Typed> future) {
    const Script& script = prepared->script;
    std::unique_lock hold(hub_->mutex());
    if (broken_) throw_broken();
    std::unique_ptr<Call> fresh = spare();
    if (script.scratch_bytes > 0) fresh->scratch = hub_->pool().take(script.scratch_bytes);
    hold.unlock();

    Call& call = *fresh;
    call.prepared = std::move(prepared);
    call.combine = work.combine;
    // The space for sending is never written to.
    call.space[static_cast<std::size_t>(Space::send)] = const_cast<std::byte*>(work.send);
    call.space[static_cast<std::size_t>(Space::receive)] = work.receive;
    call.space[static_cast<std::size_t>(Space::scratch)] = call.scratch.data();
    if (call.slots.size() < script.action_of_slot.size())
        call.slots = std::vector<Call::Slot>(script.action_of_slot.size());
    copy(call, script.before);
    if (future != nullptr) call.team = shared_from_this();
    call.future = std::move(future); // whoever looks after calls that wait reads it from here on

    hold.lock();
    return enter(std::move(fresh), hold);
}

/// From now on messages for it find it. What came before it did is put in its place first.
Call& Team::enter(std::unique_ptr<Call> fresh, std::unique_lock<std::mutex>& hold) {
    if (broken_) throw_broken();
    Call& call = *fresh;
    call.number = next_++;
    past_[call.number % past_.size()] = {call.number, call.prepared->signature};
    call.parked = !call.prepared->signature.by_messages(); // whatever breaks the group says so in `ready`
    calls_.push_back(std::move(fresh));
    // What came before the call did: into the slots, as if it came now, and before what comes now.
    call.replaying = true;
    for (auto kept = early_.extract(call.number); kept; kept = early_.extract(call.number))
        for (const Early& each : kept.mapped()) {
            early_bytes_ -= early_size(each.size);
            arrive_at(call, each.head, each.bytes(), hold);
            if (!hold.owns_lock()) hold.lock();
        }
    call.replaying = false;
    return call;
}

void Team::copy(Call& call, const std::vector<Copy>& copies) {
    for (const Copy& each : copies) {
        std::byte* const to = call.space[static_cast<std::size_t>(each.to.space)] + each.to.offset;
        const std::byte* const from =
            call.space[static_cast<std::size_t>(each.from.space)] + each.from.offset;
        if (to != from && each.from.bytes > 0) std::memmove(to, from, each.from.bytes);
    }
}

void Team::run(std::shared_ptr<const Prepared> prepared, const detail::Work& work) {
    if (hub_->context().inside_handler())
        throw Error(Status::would_deadlock,
                    fmt::format("a {} inside an inline handler would wait for what this thread has to "
                                "receive. Register the handler as threaded, or use async() and then()",
                                prepared->signature.text()));
    if (prepared->signature.memory) return run_in_memory(std::move(prepared), work);
    if (prepared->signature.nested) return run_nested(std::move(prepared), work);
    Call& call = begin(std::move(prepared), work);
    for (;;) {
        advance(call);
        {
            const std::lock_guard hold(hub_->mutex());
            if (call.at == call.prepared->script.actions.size() || (call.failed && !call.parked)) break;
        }
        wait(call);
    }
    finish(call);
}

Future<void> Team::start(std::shared_ptr<const Prepared> prepared, const detail::Work& work,
                         std::shared_ptr<plexus::detail::CallState>* state) {
    auto future = std::make_shared<Typed>(hub_->context().core());
    Watch& watch = hub_->watch(); // where there is no thread to be had, nothing has begun
    if (state != nullptr) *state = future;
    advance(begin(std::move(prepared), work, future));
    if (!future->done()) watch.add(shared_from_this(), options_.watch);
    return Future<void>(std::move(future));
}

/// Runs steps until one has to wait or all are done. The call's owner alone; a call that has a
/// future may be over, and somebody else's, on return.
void Team::advance(Call& call) {
    const std::vector<Action>& actions = call.prepared->script.actions;
    while (call.at < actions.size()) {
        const Action& action = actions[call.at];
        if (action.send) {
            if (!send(call, action)) return;
        } else if (!take(call, action)) {
            return;
        }
        ++call.at;
    }
    if (call.future != nullptr) finish(call);
}

/// False: this is a handler, and there is no more room for what handlers send. The call is the
/// watch's from here on, which goes on with it and may wait for room.
bool Team::send(Call& call, const Action& action) {
    Buffer packed;
    Bytes bytes;
    const Segment* const segments = call.prepared->script.segments.data() + action.first_segment;
    if (action.segments == 1) {
        bytes = {call.space[static_cast<std::size_t>(segments->space)] + segments->offset, segments->bytes};
    } else if (action.segments > 1) {
        {
            const std::lock_guard hold(hub_->mutex());
            packed = hub_->pool().take(action.bytes);
        }
        std::byte* to = packed.data();
        for (std::uint32_t i = 0; i < action.segments; ++i) {
            std::memcpy(to, call.space[static_cast<std::size_t>(segments[i].space)] + segments[i].offset,
                        segments[i].bytes);
            to += segments[i].bytes;
        }
        bytes = packed.bytes();
    }
    const std::size_t piece = piece_of(*call.prepared);
    bytes = bytes.subspan(call.sent);
    bool all = true;
    try {
        do {
            const Bytes now = bytes.first(std::min(bytes.size(), piece));
            bytes = bytes.subspan(now.size());
            const std::uint32_t slot = action.slot | (bytes.empty() ? kLastPiece : 0);
            members_[action.peer].mailbox.send(kArrive, id_, call.number, slot, call.prepared->digest, me_,
                                               now);
            call.sent += now.size();
        } while (!bytes.empty());
    } catch (const Error& error) {
        all = error.status() != Status::again || !hub_->context().inside_handler();
        if (all) {
            lost(action.peer, error);
            const std::lock_guard hold(hub_->mutex());
            call.undone = true;
        }
    }
    if (all) call.sent = 0;
    if (packed.memory != nullptr) {
        const std::lock_guard hold(hub_->mutex());
        hub_->pool().give(std::move(packed));
    }
    if (!all) hub_->watch().run([team = shared_from_this(), &call] { team->advance(call); });
    return all;
}

/// True: the action's message is in its place. False: it has not come, and the call is parked; or
/// it failed.
bool Team::take(Call& call, const Action& action) {
    Call::Slot& slot = call.slots[action.slot];
    if (slot.stored.load(std::memory_order_acquire)) return true; // pairs with [stored]
    std::unique_lock hold(hub_->mutex());
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
        merge(call, action, from, kept.bytes());
        hold.lock();
        hub_->pool().give(std::move(kept));
    }
    // Complete is said before the last bytes are put in their place, which is done without the lock.
    const bool there =
        call.prepared->script.early ? slot.stored.load(std::memory_order_relaxed) : slot.complete;
    if (there) return true;
    call.parked = true;
    call.parked_at = {};
    return false;
}

void Team::arrive(const Head& head, Bytes bytes, std::unique_lock<std::mutex>& hold) {
    if (broken_) return;
    Call* const call = find(head.call);
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

void Team::arrive_at(Call& call, const Head& head, Bytes bytes, std::unique_lock<std::mutex>& hold) {
    const Script& script = call.prepared->script;
    const bool known = head.digest == call.prepared->digest && head.slot < script.action_of_slot.size();
    const std::uint32_t at = known ? script.action_of_slot[head.slot] : 0;
    if (!known || script.actions[at].peer != head.sender || call.slots[head.slot].complete) {
        hold.unlock();
        return differ(head.sender, head.call);
    }
    const Action& action = script.actions[at];
    Call::Slot& slot = call.slots[head.slot];
    const std::uint64_t from = slot.came;
    const bool last = from + bytes.size() == action.bytes;
    if (bytes.size() != std::min<std::uint64_t>(action.bytes - from, piece_of(*call.prepared)) ||
        head.last != last) {
        const std::string why = call.prepared->signature.uneven(name(head.sender), from + bytes.size(),
                                                                !head.last, name(me_), action.bytes);
        hold.unlock();
        return break_up(Status::bad_argument, why, true);
    }
    if (call.failed) return;
    slot.came += bytes.size();
    call.left_heard = 0; // there is more of it than was known when it was said to have left
    slot.complete = last;
    if (script.early) {
        ++call.writers;
        hold.unlock();
        store(call, action, from, bytes);
        hold.lock();
        --call.writers;
        if (!last) return;
        slot.stored.store(true, std::memory_order_release); // [stored]
    } else if (call.parked && call.at == at) {              // what was kept is in already
        call.parked = false;                                // ours now
        ++call.writers;
        hold.unlock();
        merge(call, action, from, bytes);
        hold.lock();
        --call.writers;
        call.parked = true;
        if (!last && !call.failed) return;
    } else {
        if (slot.kept.size == 0) {
            slot.kept = hub_->pool().take(action.bytes - from);
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
void Team::resume(Call& call, std::unique_lock<std::mutex>& hold) {
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

void Team::wait(Call& call) {
    const auto is_ready = [&] {
        return call.ready.exchange(false, std::memory_order_acquire);
    }; // pairs with [ready]
    for (int turn = 0; turn < (crowded_ ? kCrowdedTurns : kTurns); ++turn) {
        if (is_ready()) return;
        if (hub_->context().progress() == 0 && crowded_) std::this_thread::yield();
    }
    for (;;) {
        std::shared_ptr<Typed> sleeper;
        Rank peer = 0;
        {
            const std::lock_guard hold(hub_->mutex());
            if (is_ready()) return;
            if (call.sleeper == nullptr) call.sleeper = std::make_shared<Typed>(hub_->context().core());
            sleeper = call.sleeper;
            peer = call.awaited();
        }
        try {
            if (!Future<void>(sleeper).wait_for(options_.watch) && peer != Call::kNobody)
                ask_after(peer, call.number, call.prepared->digest);
        } catch (const Error& error) { break_up(error.status(), error.what(), true); }
    }
}

/// The owner alone, when all steps are done or the call has failed.
void Team::finish(Call& call) {
    Status status = Status::ok;
    std::string why;
    // What may be somebody's last hold on a group ends without the lock.
    std::shared_ptr<Team> keep;
    std::shared_ptr<Typed> future;
    detail::Combine combine;
    {
        std::unique_lock hold(hub_->mutex());
        keep = std::move(call.team);
        future = std::move(call.future);
        combine = std::move(call.combine);
        while (call.writers > 0) { // they write where the caller's memory may end soon
            hold.unlock();
            std::this_thread::yield();
            hold.lock();
        }
        const bool undone = call.undone || call.at < call.prepared->script.actions.size();
        if (call.failed && undone) {
            status = broken_->first;
            why = why_broken();
        }
        const bool well = status == Status::ok;
        hold.unlock();
        if (well) copy(call, call.prepared->script.after);
        hold.lock();
        release(call);
    }
    if (future != nullptr) return settle(*future, status, why);
    if (status != Status::ok) throw Error(status, why);
}

void Team::release(Call& call) {
    for (std::size_t slot = 0; slot < call.prepared->script.action_of_slot.size(); ++slot) {
        Call::Slot& each = call.slots[slot];
        each.stored.store(false, std::memory_order_relaxed);
        each.complete = false;
        each.came = 0;
        if (each.kept.memory != nullptr) hub_->pool().give(std::move(each.kept));
        each.kept = {};
    }
    hub_->pool().give(std::move(call.scratch));
    call.scratch = {};
    call.prepared.reset();
    call.combine = {};
    call.sleeper.reset();
    call.ready.store(false, std::memory_order_relaxed);
    call.at = 0;
    call.sent = 0;
    call.parked = call.failed = call.undone = false;
    call.left_heard = 0;
    call.peer = Call::kNobody;
    const auto mine =
        std::find_if(calls_.begin(), calls_.end(), [&](const auto& each) { return each.get() == &call; });
    spare_.push_back(std::move(*mine));
    calls_.erase(mine);
}

/// Calls `what(place, bytes)` for each run of memory that `bytes` of the action from `from` on belong to.
template <class Do>
void Team::each_run(Call& call, const Action& action, std::uint64_t from, Bytes bytes, Do&& what) {
    const Segment* segment = call.prepared->script.segments.data() + action.first_segment;
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

void Team::store(Call& call, const Action& action, std::uint64_t from, Bytes bytes) {
    each_run(call, action, from, bytes,
             [](std::byte* place, Bytes run) { std::memcpy(place, run.data(), run.size()); });
}

void Team::merge(Call& call, const Action& action, std::uint64_t from, Bytes bytes) noexcept {
    if (action.merge == Merge::store) return store(call, action, from, bytes);
    const std::size_t size = call.prepared->signature.element_bytes;
    const detail::Combine& combine = call.combine;
    each_run(call, action, from, bytes, [&](std::byte* here, Bytes run) {
        action.merge == Merge::before
            ? combine.run(combine.op.get(), here, run.data(), here, run.size() / size)
            : combine.run(combine.op.get(), here, here, run.data(), run.size() / size);
    });
}

} // namespace plexus::eco::exec
