// SPDX-License-Identifier: BSD-3-Clause
#include "transport/failover_decision.h"

namespace plexus::transport {
namespace {

Decision lost(const BreakFacts& facts, const char* because) noexcept {
    // Another key is the operator's mistake, not the peer's end: that is said wherever it was seen.
    const bool denied = facts.peer.denied || facts.link.status == Status::denied;
    // So are boundaries, as long as the peer lives.
    const bool ended = facts.peer.ended || facts.link.status == Status::peer_lost;
    const bool beyond = !ended && (facts.peer.beyond || facts.link.status == Status::no_method);
    const Status living = beyond ? Status::no_method : Status::peer_lost;
    return {Action::lost, because, denied ? Status::denied : living};
}

// The channel's method does not reach the peer.
Decision replace_method(const BreakFacts& facts) noexcept {
    if (facts.row_applies && facts.fallback_allowed) {
        // Of the last way also if nothing is at stake: the program is to hear of a peer that is lost.
        if (facts.channel.wanted || facts.peer.last_way)
            return {Action::next_row, "the next method that applies takes over"};
        return {Action::choose_again, "nothing waits for it"};
    }
    // Whoever answers there now is another context, has another key, or was refused: it may come by this
    // method again, and would be refused again.
    const bool stranger = facts.link.broke_rules || facts.link.status == Status::wrong_peer ||
                          facts.link.status == Status::denied || facts.link.status == Status::no_method;
    if (facts.channel.may_return && !stranger) return {Action::await_peer, "the peer may connect again"};
    return lost(facts, facts.row_applies ? "falling back is forbidden" : "no other method applies");
}

} // namespace

Decision decide(const BreakFacts& facts) noexcept {
    if (facts.channel.waited)
        return facts.peer.gone ? Decision{Action::nothing, "the peer has said goodbye"}
                               : lost(facts, "the peer did not connect again");
    if (facts.closing) return {Action::nothing, "this context is closing"};
    if (facts.link.said_goodbye) return {Action::peer_closed, "the peer has said goodbye on it"};
    if (facts.peer.gone) return {Action::nothing, "the peer has said goodbye"};
    if (!facts.link.was_way && !facts.peer.last_way) return {Action::nothing, "no frame left by it"};
    if (facts.peer.ended || facts.link.status == Status::peer_lost)
        return lost(facts, "the peer's process has ended");
    // The channel was given up before, while this link was open: nobody has said that the peer is lost.
    if (!facts.link.was_way && facts.row_applies && facts.fallback_allowed)
        return {Action::next_row, "it was the last link to the peer, and another method applies"};
    if (!facts.link.was_way) return lost(facts, "it was the last link to the peer");
    if (facts.link.broke_rules || !facts.link.opened) return replace_method(facts);
    // Both sides had connected at the same time, and one link was enough.
    if (facts.channel.other_link) return {Action::use_other_link, "another link is open"};
    if (facts.link.in_vain == 0) return {Action::reconnect, "it is made anew"};
    if (facts.link.in_vain <= LinkFacts::kMostInVain) return {Action::retry, "it is made anew after a pause"};
    return replace_method(facts);
}

} // namespace plexus::transport
