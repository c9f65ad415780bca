// SPDX-License-Identifier: BSD-3-Clause
// What takes the place of a way to a peer that broke, could not be made, or was waited for in vain.
// A pure function of what is known; Failover gathers the facts and carries the decision out.
#pragma once

#include "plexus/status.h"

#include <cstdint>

namespace plexus::transport {

/// Of the link that broke.
struct LinkFacts {
    /// So many links in a row may bring nothing: a peer that lets us in and sends us away before a word is
    /// said is closing, or out of means. It is asked again, ever more slowly, for a quarter of a second in
    /// all.
    static constexpr std::uint32_t kMostInVain = 10;

    Status status = Status::link_lost; ///< why it broke, or was not made
    bool was_way = false;              ///< frames left by it, or waited for it
    bool opened = false;               ///< false: the peer was not reached
    bool broke_rules = false;          ///< this side ended it for what the peer sent
    bool said_goodbye = false;         ///< the peer did
    std::uint32_t in_vain = 0;         ///< links in a row that brought nothing
};

/// Of its channel.
struct ChannelFacts {
    bool other_link = false; ///< has another open link
    bool wanted = false;     ///< holds frames, or somebody waits for it or for an answer
    bool may_return = false; ///< the peer has connected to us by it, and may do so again
    bool waited = false;     ///< it was waited for long enough
};

struct PeerFacts {
    bool gone = false;   ///< has said goodbye
    bool ended = false;  ///< a module knows that its process has ended
    bool denied = false; ///< does not hold the job's key, as some method found
    bool beyond = false; ///< is beyond the boundary of some method
    /// No link to it is open but this one, and no other is made or waited for.
    bool last_way = false;
};

struct BreakFacts {
    LinkFacts link;
    ChannelFacts channel;
    PeerFacts peer;
    bool closing = false;          ///< this context has said goodbye
    bool row_applies = false;      ///< another row of the peer's table does
    bool fallback_allowed = false; ///< no option forbids to use that
};

enum class Action : std::uint8_t {
    nothing,
    peer_closed,    ///< as soon as the peer has said goodbye on every link
    use_other_link, ///< of the same channel
    reconnect,      ///< by the same method, at once
    retry,          ///< the same after a pause
    await_peer,     ///< it cannot be dialled from here, or not now: it may come back
    next_row,       ///< another method takes the frames over
    choose_again,   ///< nothing is at stake, and the peer is reached: whoever sends next takes another method
    lost,           ///< no way is left for what the channel holds
};

struct Decision {
    Action action;
    const char* because;     ///< ends a sentence for the log
    Status end = Status::ok; ///< lost: what everything that waits ends with
};

Decision decide(const BreakFacts& facts) noexcept;

} // namespace plexus::transport
