// SPDX-License-Identifier: BSD-3-Clause
// Groups that cannot go on: members that call different things, that are lost, that left. Whoever
// sees it first tells all.
#include "group/group_state.h"

#include <algorithm>
#include <fmt/format.h>

namespace plexus::eco::detail {
namespace {

constexpr const char* kGone = "something else and has left the group";

} // namespace

const Signature* GroupState::past(std::uint32_t number) const {
    const Past& found = past_[number % past_.size()];
    return found.number == number ? &found.signature : nullptr;
}

std::string GroupState::text_of(std::uint32_t call) {
    const Signature* const known = past(call);
    return known != nullptr ? known->text() : "something else";
}

Presence GroupState::presence(std::uint32_t call, std::uint32_t digest) {
    const Signature* const known = past(call);
    return known == nullptr || known->digest() == digest ? Presence::here : Presence::differs;
}

void GroupState::take_early(std::vector<EarlyMessage> early) {
    for (EarlyMessage& each : early) {
        early_bytes_ += early_size(each.size);
        early_[each.head.call].push_back(std::move(each));
    }
}

void GroupState::break_up(Status status, const std::string& why, bool tell) {
    // The whole first, which then breaks its parts: whoever is woken in one finds it broken.
    if (const auto whole = parent_.whole.lock()) whole->break_up(status, why, tell);
    std::vector<Execution*> ours; // to be ended here: nobody waits in them
    std::shared_ptr<Hierarchy> hierarchy;
    {
        std::unique_lock hold(mailbox_->mutex());
        if (broken_) return;
        broken_ = {status, why};
        hierarchy = hierarchy_;
        for (const auto& each : calls_) {
            each->failed = true;
            if (!each->parked) continue; // its owner will see it
            each->parked = false;
            if (each->future != nullptr) {
                ours.push_back(each.get());
            } else {
                each->ready.store(true, std::memory_order_release); // [ready]
            }
        }
    }
    const auto keep = shared_from_this();
    // A thread that sleeps is woken by a future of its own.
    for (;;) {
        std::shared_ptr<plexus::detail::TypedCall<void>> sleeper;
        {
            const std::lock_guard hold(mailbox_->mutex());
            for (const auto& each : calls_)
                if (each->sleeper != nullptr) {
                    sleeper = std::move(each->sleeper);
                    each->sleeper.reset();
                    break;
                }
        }
        if (sleeper == nullptr) break;
        plexus::detail::Reader nothing(nullptr, nullptr, 0, 0);
        sleeper->complete(nothing);
    }
    if (hierarchy != nullptr) hierarchy->break_up(status, why);
    if (tell) tell_others(status, why);
    for (Execution* each : ours) finish(*each);
}

/// Calls, not one-way requests: that somebody has left already is no news.
void GroupState::tell_others(Status status, const std::string& why) {
    for (Rank member = 0; member < size(); ++member)
        if (member != me_)
            static_cast<void>(
                members_[member].mailbox.call(kBroken, id_, static_cast<std::int32_t>(status), why));
}

void GroupState::lost(Rank peer, const Error& error) {
    // Why it can't be reached, whether its links broke or nobody answers at its door, the text says.
    const Status said = error.status();
    const bool ours = said == Status::too_large || said == Status::closed;
    const Status status = said == Status::again ? Status::too_large : ours ? said : Status::peer_lost;
    break_up(status, fmt::format("member {} can't be reached: {}", name(peer), error.what()), true);
}

void GroupState::ask_after(Rank peer, std::uint32_t call, std::uint32_t digest) {
    {
        const std::lock_guard hold(mailbox_->mutex());
        if (std::find(asked_.begin(), asked_.end(), peer) != asked_.end()) return;
        asked_.push_back(peer);
    }
    members_[peer]
        .mailbox.call(kAlive, id_, call, digest)
        .then([group = shared_from_this(), peer, call](auto answer) {
            {
                const std::lock_guard hold(group->mailbox_->mutex());
                std::erase(group->asked_, peer);
            }
            try {
                const auto presence = static_cast<Presence>(answer.get());
                if (presence == Presence::differs) return group->differ(peer, call);
                if (presence == Presence::left) group->hear_left(peer, call);
            } catch (const Error& error) {
                if (error.status() == Status::dead_pointer) return group->hear_left(peer, call);
                if (error.status() == Status::again) return; // too many calls are open: asked again later
                if (group->waits_for(peer, call)) group->lost(peer, error);
            }
        });
}

bool GroupState::waits_for(Rank peer, std::uint32_t number) {
    const std::lock_guard hold(mailbox_->mutex());
    const Execution* const call = find(number);
    return call != nullptr && call->parked && call->awaited() == peer;
}

/// What it sent before it went may come by another link than this news: so it must be heard more
/// than once, while the call still waits at the same step.
void GroupState::hear_left(Rank peer, std::uint32_t number) {
    constexpr unsigned kOften = 3;
    {
        const std::lock_guard hold(mailbox_->mutex());
        Execution* const call = find(number);
        if (call == nullptr || !call->parked || call->awaited() != peer) return;
        if (call->left_at != call->at) {
            call->left_at = call->at;
            call->left_heard = 0;
        }
        if (++call->left_heard < kOften) return;
    }
    break_up(Status::peer_lost, fmt::format("member {} has left the group", name(peer)), true);
}

void GroupState::differ(Rank peer, std::uint32_t call) {
    members_[peer].mailbox.call(kAsk, id_, call).then([group = shared_from_this(), peer, call](auto answer) {
        const auto break_up = [&](const std::string& theirs) {
            std::string ours;
            {
                const std::lock_guard hold(group->mailbox_->mutex());
                ours = group->text_of(call);
            }
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
            error.status() == Status::dead_pointer ? break_up(kGone) : group->lost(peer, error);
        }
    });
}

bool GroupState::look_after() {
    const auto now = std::chrono::steady_clock::now();
    struct Awaited {
        Rank peer;
        std::uint32_t call;
        std::uint32_t digest;
    };
    std::vector<Awaited> silent;
    bool waiting = false;
    {
        const std::lock_guard hold(mailbox_->mutex());
        for (const auto& each : calls_) {
            if (each->future == nullptr) continue; // its thread looks itself
            waiting = true;
            if (!each->parked) continue;
            if (each->parked_at == std::chrono::steady_clock::time_point{}) {
                each->parked_at = now;
            } else if (now - each->parked_at >= options_.watch) {
                each->parked_at = now;
                silent.push_back({each->awaited(), each->number, each->planned->digest});
            }
        }
    }
    for (const Awaited& each : silent) ask_after(each.peer, each.call, each.digest);
    return waiting;
}

} // namespace plexus::eco::detail
