// SPDX-License-Identifier: BSD-3-Clause
// Groups that cannot go on: members that call different operations, that are lost, that left, or that let
// a deadline pass. The first member to find out informs all others.
#include "group/group_state.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace plexus::eco::detail {
namespace {

constexpr const char* kGone = "something else and has left the group";
constexpr const char* kUnknown = "something else";

} // namespace

std::string GroupState::text_of(std::uint32_t call) {
    const Lock hold(mutex_);
    const Signature* const known = past_.find(call);
    return known != nullptr ? known->text() : kUnknown;
}

Presence GroupState::presence(std::uint32_t call, std::uint32_t digest) {
    const Lock hold(mutex_);
    const Signature* const known = past_.find(call);
    return known == nullptr || known->digest() == digest ? Presence::here : Presence::differs;
}

void GroupState::break_up(Status status, const std::string& why, bool tell) {
    // The whole group first, which then breaks its parts: a thread that wakes up in a part finds the whole
    // group broken.
    if (const auto whole = parent_.whole.lock()) whole->break_up(status, why, tell);
    const std::function<void()> end_calls = break_now(status, why);
    if (end_calls == nullptr) return;
    std::shared_ptr<Hierarchy> hierarchy;
    {
        const Lock hold(mutex_);
        hierarchy = hierarchy_;
    }
    if (hierarchy != nullptr) hierarchy->break_up(status, why);
    if (tell) tell_others(status, why);
    end_calls();
}

std::function<void()> GroupState::break_now(Status status, const std::string& why) {
    std::vector<Execution*> ours; // to be ended here, because no thread waits in them
    {
        const Lock hold(mutex_);
        if (broken_) return {};
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
    return [group = shared_from_this(), ours = std::move(ours)] {
        for (Execution* each : ours) group->finish(*each);
    };
}

/// A thread that sleeps in a call is woken by a future of its own.
void GroupState::wake_sleepers() {
    for (;;) {
        std::shared_ptr<CompletionState> sleeper;
        {
            const Lock hold(mutex_);
            for (const auto& each : calls_) {
                if (sleeper == nullptr) sleeper = std::exchange(each->end.sleeper, nullptr);
            }
        }
        if (sleeper == nullptr) return;
        plexus::detail::Reader nothing(nullptr, nullptr, 0, 0);
        sleeper->complete(nothing);
    }
}

void GroupState::tell_others(Status status, const std::string& why) {
    mailbox_->run_in_handler([group = shared_from_this(), status, why] {
        for (Rank member = 0; member < group->size(); ++member)
            if (member != group->me_)
                group->mailbox_->tell_broken(group->members_[member].mailbox, group->id_, status, why);
    });
}

void GroupState::lost(Rank peer, const Error& error) {
    // The text says why the member cannot be reached: its links broke, or nobody answers at its address.
    const Status said = error.status();
    const bool ours = said == Status::too_large || said == Status::closed;
    const Status status = said == Status::again ? Status::too_large : ours ? said : Status::peer_lost;
    break_up(status, fmt::format("member {} can't be reached: {}", name(peer), error.what()), true);
}

std::string GroupState::text_of_deadline(const Execution& call) const {
    const Rank peer = call.at < call.ops().size() ? call.ops()[call.at].peer : call.wait.peer;
    return fmt::format("member {} gave up its {} at the call's deadline{}", name(me_),
                       call.planned->signature.text(),
                       peer == Execution::kNobody ? "" : fmt::format(", waiting for member {}", name(peer)));
}

void GroupState::expire(const Execution& call) {
    break_up(Status::deadline_exceeded, text_of_deadline(call), true);
}

/// The same for calls in which no thread waits.
void GroupState::expire_late() {
    std::string why;
    {
        const Lock hold(mutex_);
        for (const auto& each : calls_)
            if (each->end.future != nullptr && Clock::now() >= each->wait.deadline)
                why = text_of_deadline(*each);
    }
    if (!why.empty()) break_up(Status::deadline_exceeded, why, true);
}

void GroupState::ask_after(Rank peer, std::uint32_t call, std::uint32_t digest) {
    {
        const Lock hold(mutex_);
        if (std::find(asked_.begin(), asked_.end(), peer) != asked_.end()) return;
        asked_.push_back(peer);
    }
    const auto take = [group = shared_from_this(), peer, call](auto answer) {
        {
            const Lock hold(group->mutex_);
            std::erase(group->asked_, peer);
        }
        try {
            const auto presence = static_cast<Presence>(answer.get());
            if (presence == Presence::differs) return group->differ(peer, call);
            if (presence == Presence::left) group->hear_left(peer, call);
        } catch (const Error& error) {
            if (error.status() == Status::dead_pointer) return group->hear_left(peer, call);
            if (error.status() == Status::again) return; // its queue is full: asked again later
            if (group->waits_for(peer, call)) group->lost(peer, error);
        }
    };
    mailbox_->run_in_handler([group = shared_from_this(), peer, call, digest, take] {
        group->members_[peer].mailbox.with(no_deadline).call(kAlive, group->id_, call, digest).then(take);
    });
}

bool GroupState::waits_for(Rank peer, std::uint32_t number) {
    const Lock hold(mutex_);
    const Execution* const call = find(number);
    return call != nullptr && call->wait.parked && call->awaited() == peer;
}

/// What the member sent before it left may come by another link than this news: so the news must come
/// several times while the call waits at the same operation.
void GroupState::hear_left(Rank peer, std::uint32_t number) {
    constexpr unsigned kOften = 3;
    {
        const Lock hold(mutex_);
        Execution* const call = find(number);
        if (call == nullptr || !call->wait.parked || call->awaited() != peer) return;
        if (call->wait.left_at != call->at) {
            call->wait.left_at = call->at;
            call->wait.left_heard = 0;
        }
        if (++call->wait.left_heard < kOften) return;
    }
    break_up(Status::peer_lost, fmt::format("member {} has left the group", name(peer)), true);
}

void GroupState::differ(Rank peer, std::uint32_t call) {
    if (peer >= size())
        return break_up(Status::bad_argument,
                        fmt::format("a message came from member {} of a group of {}", peer, size()), true);
    const auto take = [group = shared_from_this(), peer, call](auto answer) {
        const auto break_up = [&](const std::string& theirs) {
            const std::string ours = group->text_of(call);
            group->break_up(Status::bad_argument,
                            fmt::format("member {} calls {}, member {} {}{}", group->name(peer), theirs,
                                        group->name(group->me_), ours,
                                        theirs == ours ? ", by plans that differ: their machines or builds "
                                                         "do not reckon alike"
                                                       : ""),
                            true);
        };
        try {
            break_up(answer.get());
        } catch (const Error& error) {
            if (error.status() == Status::dead_pointer) return break_up(kGone);
            if (error.status() == Status::again) return break_up(kUnknown);
            group->lost(peer, error);
        }
    };
    mailbox_->run_in_handler([group = shared_from_this(), peer, call, take] {
        group->members_[peer].mailbox.with(no_deadline).call(kAsk, group->id_, call).then(take);
    });
}

/// Names the first of the calls up to `last` in which `peer` and this member differ.
void GroupState::find_difference(Rank peer, std::uint32_t call, std::uint32_t last) {
    if (call == last) return differ(peer, last);
    std::uint32_t digest = 0;
    {
        const Lock hold(mutex_);
        const Signature* const known = past_.find(call);
        if (known != nullptr) digest = known->digest();
    }
    const auto take = [group = shared_from_this(), peer, call, last](auto answer) {
        try {
            static_cast<Presence>(answer.get()) == Presence::differs
                ? group->differ(peer, call)
                : group->find_difference(peer, call + 1, last);
        } catch (const Error& error) {
            const bool answered = error.status() == Status::dead_pointer || error.status() == Status::again;
            answered ? group->differ(peer, last) : group->lost(peer, error);
        }
    };
    mailbox_->run_in_handler([group = shared_from_this(), peer, call, digest, take] {
        group->members_[peer].mailbox.with(no_deadline).call(kAlive, group->id_, call, digest).then(take);
    });
}

/// For calls in which no thread waits: runs look_after() in a while.
void GroupState::watch_later() {
    {
        const Lock hold(mutex_);
        if (std::exchange(watched_, true)) return;
    }
    mailbox_->monitor().after(options_.watch, [group = weak_from_this()] {
        if (const auto still = group.lock()) still->look_after();
    });
}

/// Asks after the members that calls have waited for too long.
void GroupState::look_after() {
    const auto now = Clock::now();
    struct Awaited {
        Rank peer;
        std::uint32_t call;
        std::uint32_t digest;
    };
    std::vector<Awaited> silent;
    bool waiting = false;
    {
        const Lock hold(mutex_);
        watched_ = false;
        for (const auto& each : calls_) {
            if (each->end.future == nullptr) continue; // its thread looks itself
            waiting = true;
            if (!each->wait.parked) continue;
            if (each->wait.since == Clock::time_point{}) {
                each->wait.since = now;
            } else if (now - each->wait.since >= options_.watch) {
                each->wait.since = now;
                silent.push_back({each->awaited(), each->number, each->planned->digest});
            }
        }
    }
    for (const Awaited& each : silent) ask_after(each.peer, each.call, each.digest);
    if (waiting) watch_later();
}

} // namespace plexus::eco::detail
