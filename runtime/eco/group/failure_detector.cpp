// SPDX-License-Identifier: BSD-3-Clause
#include "group/failure_detector.h"

#include "group/group_state.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace plexus::eco::detail {
FailureDetector::FailureDetector(GroupState& group)
  : group_(group)
  , members_(group.members())
  , calls_(group.calls()) {}

void FailureDetector::tell_others(Status status, const std::string& why) {
    members_.mailbox()->run_in_handler([this, keep = group_.shared_from_this(), status, why] {
        for (Rank member = 0; member < members_.size(); ++member)
            if (member != members_.me())
                members_.mailbox()->tell_broken(members_[member].mailbox, members_.id(), status, why);
    });
}

void FailureDetector::lost(Rank peer, const Error& error) {
    // The text says why the member cannot be reached: its links broke, or nobody answers at its address.
    const Status said = error.status();
    const bool ours = said == Status::too_large || said == Status::closed;
    const Status status = said == Status::again ? Status::too_large : ours ? said : Status::peer_lost;
    group_.break_up(status, fmt::format("member {} can't be reached: {}", members_.name(peer), error.what()),
                    true);
}

std::string FailureDetector::text_of_deadline(const Execution& call) const {
    const Rank peer = call.at < call.ops().size() ? call.ops()[call.at].peer : call.wait.peer;
    return fmt::format(
        "member {} gave up its {} at the call's deadline{}", members_.name(members_.me()),
        call.planned->signature.text(),
        peer == Execution::kNobody ? "" : fmt::format(", waiting for member {}", members_.name(peer)));
}

void FailureDetector::expire(const Execution& call) {
    group_.break_up(Status::deadline_exceeded, text_of_deadline(call), true);
}

void FailureDetector::expire_late() {
    std::string why;
    {
        const Lock hold(calls_.mutex);
        for (const auto& each : calls_.under_way())
            if (each->end.future != nullptr && Clock::now() >= each->wait.deadline)
                why = text_of_deadline(*each);
    }
    if (!why.empty()) group_.break_up(Status::deadline_exceeded, why, true);
}

void FailureDetector::ask_after(Rank peer, std::uint32_t call, std::uint32_t digest) {
    {
        const Lock hold(mutex_);
        if (std::find(asked_.begin(), asked_.end(), peer) != asked_.end()) return;
        asked_.push_back(peer);
    }
    const auto take = [this, keep = group_.shared_from_this(), peer, call](auto answer) {
        {
            const Lock hold(mutex_);
            std::erase(asked_, peer);
        }
        try {
            const auto presence = static_cast<Presence>(answer.get());
            if (presence == Presence::differs) return differ(peer, call);
            if (presence == Presence::left) hear_left(peer, call);
        } catch (const Error& error) {
            if (error.status() == Status::dead_pointer) return hear_left(peer, call);
            if (error.status() == Status::again) return; // its queue is full: asked again later
            if (waits_for(peer, call)) lost(peer, error);
        }
    };
    members_.mailbox()->run_in_handler([this, peer, call, digest, take] {
        members_[peer].mailbox.with(no_deadline).call(kAlive, members_.id(), call, digest).then(take);
    });
}

bool FailureDetector::waits_for(Rank peer, std::uint32_t number) {
    const Lock hold(calls_.mutex);
    const Execution* const call = calls_.find(number);
    return call != nullptr && call->wait.parked && call->awaited() == peer;
}

/// What the member sent before it left may come by another link than this news: so the news must come
/// several times while the call waits at the same operation.
void FailureDetector::hear_left(Rank peer, std::uint32_t number) {
    constexpr unsigned kOften = 3;
    {
        const Lock hold(calls_.mutex);
        Execution* const call = calls_.find(number);
        if (call == nullptr || !call->wait.parked || call->awaited() != peer) return;
        if (call->wait.left_at != call->at) {
            call->wait.left_at = call->at;
            call->wait.left_heard = 0;
        }
        if (++call->wait.left_heard < kOften) return;
    }
    group_.break_up(Status::peer_lost, fmt::format("member {} has left the group", members_.name(peer)),
                    true);
}

void FailureDetector::differ(Rank peer, std::uint32_t call) {
    if (peer >= members_.size())
        return group_.break_up(
            Status::bad_argument,
            fmt::format("a message came from member {} of a group of {}", peer, members_.size()), true);
    const auto take = [this, keep = group_.shared_from_this(), peer, call](auto answer) {
        const auto break_up = [&](const std::string& theirs) {
            const std::string ours = calls_.text_of(call);
            group_.break_up(Status::bad_argument,
                            fmt::format("member {} calls {}, member {} {}{}", members_.name(peer), theirs,
                                        members_.name(members_.me()), ours,
                                        theirs == ours ? ", by plans that differ: their machines or builds "
                                                         "do not reckon alike"
                                                       : ""),
                            true);
        };
        try {
            break_up(answer.get());
        } catch (const Error& error) {
            if (error.status() == Status::dead_pointer) return break_up(kGoneCall);
            if (error.status() == Status::again) return break_up(kUnknownCall);
            lost(peer, error);
        }
    };
    members_.mailbox()->run_in_handler([this, peer, call, take] {
        members_[peer].mailbox.with(no_deadline).call(kAsk, members_.id(), call).then(take);
    });
}

void FailureDetector::find_difference(Rank peer, std::uint32_t call, std::uint32_t last) {
    if (call == last) return differ(peer, last);
    const std::uint32_t digest = calls_.digest_of(call);
    const auto take = [this, keep = group_.shared_from_this(), peer, call, last](auto answer) {
        try {
            static_cast<Presence>(answer.get()) == Presence::differs ? differ(peer, call)
                                                                     : find_difference(peer, call + 1, last);
        } catch (const Error& error) {
            const bool answered = error.status() == Status::dead_pointer || error.status() == Status::again;
            answered ? differ(peer, last) : lost(peer, error);
        }
    };
    members_.mailbox()->run_in_handler([this, peer, call, digest, take] {
        members_[peer].mailbox.with(no_deadline).call(kAlive, members_.id(), call, digest).then(take);
    });
}

void FailureDetector::watch() {
    {
        const Lock hold(mutex_);
        if (std::exchange(watches_, true)) return;
    }
    members_.mailbox()->monitor().after(members_.options().watch, [this, group = group_.weak_from_this()] {
        if (const auto still = group.lock()) look_after();
    });
}

/// Asks after the members that calls have waited for too long.
void FailureDetector::look_after() {
    {
        const Lock hold(mutex_);
        watches_ = false; // before the look: a call that begins behind it starts another timer
    }
    const auto now = Clock::now();
    struct Awaited {
        Rank peer;
        std::uint32_t call;
        std::uint32_t digest;
    };
    std::vector<Awaited> silent;
    bool waiting = false;
    {
        const Lock hold(calls_.mutex);
        for (const auto& each : calls_.under_way()) {
            if (each->end.future == nullptr) continue; // its thread looks itself
            waiting = true;
            if (!each->wait.parked) continue;
            if (each->wait.since == Clock::time_point{}) {
                each->wait.since = now;
            } else if (now - each->wait.since >= members_.options().watch) {
                each->wait.since = now;
                silent.push_back({each->awaited(), each->number, each->planned->digest});
            }
        }
    }
    for (const Awaited& each : silent) ask_after(each.peer, each.call, each.digest);
    if (waiting) watch();
}

} // namespace plexus::eco::detail
