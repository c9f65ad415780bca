// SPDX-License-Identifier: BSD-3-Clause
#include "request/call_endings.h"

#include "transport/failover.h"

#include <algorithm>

namespace plexus::request {
namespace {

using std::chrono::nanoseconds;

/// So long the bytes of an answer whose call was ended may still arrive before its link is ended.
constexpr auto kPlacementPatience = std::chrono::seconds(1);

std::string late(const transport::Peer& peer) {
    return peer.text() + " did not answer before the call's deadline; it may have carried it out";
}

} // namespace

CallEndings::Clock::time_point CallEndings::limit(std::uint64_t call, std::uint32_t milliseconds) {
    if (milliseconds == 0) return Clock::time_point::max();
    const auto when = Clock::now() + std::chrono::milliseconds(milliseconds);
    if (calls_.expires(call, when)) endpoint_->scheduler().request_deferred_work();
    return when;
}

bool CallEndings::cancel(std::uint64_t call, const transport::Peer* peer) {
    if (!end(call, peer, Status::cancelled, "the call was cancelled")) return false;
    endpoint_->scheduler().request_deferred_work(); // tells the peer
    return true;
}

bool CallEndings::end(std::uint64_t call, const transport::Peer* peer, Status status,
                      const std::string& why) {
    Calls::Entry entry;
    const Calls::Outcome outcome = calls_.end(call, peer, {status, why}, entry);
    if (outcome == Calls::Outcome::ended) entry.state->fail(status, why);
    if (outcome == Calls::Outcome::noted)
        endpoint_->scheduler().request_deferred_work(); // looks after late placements
    return outcome != Calls::Outcome::unknown;
}

void CallEndings::let_go(std::uint64_t call, const transport::Peer* peer, std::optional<Calls::Ending> ending,
                         const transport::Link* by) {
    Calls::Ended over = calls_.let_go(call, peer, std::move(ending), by);
    if (over.entry.state == nullptr) return;
    if (over.ending.status == Status::ok) return over.entry.state->succeed();
    over.entry.state->fail(over.ending.status,
                           over.ending.why.empty() ? late(*over.entry.peer) : std::move(over.ending.why));
}

void CallEndings::end_all(const transport::Peer& peer, Status status, const std::string& why, bool forced) {
    const Calls::Ending ending{status, peer.text() + " did not answer: " + why};
    for (const Calls::Entry& entry : calls_.take_all(&peer, ending, forced))
        entry.state->fail(ending.status, ending.why);
    endpoint_->scheduler().request_deferred_work();
    if (forced) calls_.take_abandoned(); // nobody can be told
}

void CallEndings::end_all_by(const transport::Channel& via, Status status, const std::string& why,
                             bool only_uncertain) {
    const Calls::Ending ending{
        status, via.peer().text() + " may or may not have carried out the call, and will not answer: " + why};
    for (const Calls::Entry& entry : calls_.take_all_by(&via, ending, only_uncertain))
        entry.state->fail(ending.status, ending.why);
}

nanoseconds CallEndings::run() {
    const auto now = Clock::now();
    Clock::time_point next;
    const std::vector<Calls::Entry> expired = calls_.take_expired(now, next);
    for (const Calls::Entry& entry : expired) entry.state->fail(Status::deadline_exceeded, late(*entry.peer));
    if (!expired.empty()) endpoint_->scheduler().wake(); // threads that follow wait for these
    const nanoseconds placements = end_late_placements(now);
    tell_abandoned();
    return next == Clock::time_point::max() ? placements : std::min<nanoseconds>(placements, next - now);
}

// A peer that stops in the middle of an answer would keep the caller's memory for ever. If the method keeps
// copies, its link is ended: the answer comes again on the next one, and is dropped. Without copies messages
// would be lost, so the caller waits for the peer, or its end.
nanoseconds CallEndings::end_late_placements(Clock::time_point now) {
    Clock::time_point next;
    for (transport::Link* link : calls_.placing_since(now - kPlacementPatience, next))
        if (link->interface.fragile())
            link->interface.calls.failover->end(
                *link, "an answer that nobody waits for any more did not arrive as a whole");
    return next == Clock::time_point::max() ? nanoseconds::max() : next + kPlacementPatience - now;
}

// Each channel by itself: the word goes behind the request.
void CallEndings::tell_abandoned() {
    std::vector<Calls::Abandoned> abandoned = calls_.take_abandoned();
    std::stable_sort(abandoned.begin(), abandoned.end(),
                     [](const auto& one, const auto& other) { return std::less<>()(one.via, other.via); });
    for (auto first = abandoned.begin(); first != abandoned.end();) {
        std::vector<std::uint64_t> calls;
        transport::Channel& via = *first->via;
        while (first != abandoned.end() && first->via == &via && calls.size() < wire::kMostCancelled)
            calls.push_back((first++)->call);
        const wire::Bytes bytes = wire::encode_cancel(calls);
        transport::WholeFrame frame(bytes);
        std::string why;
        // Without room the handlers run, and their answers are dropped here.
        if (const Status sent = via.send(frame, &why); sent != Status::ok)
            log::debug("request", "{} will not hear of {} cancelled calls: {}", via.peer().text(),
                       calls.size(), why);
    }
}

} // namespace plexus::request
