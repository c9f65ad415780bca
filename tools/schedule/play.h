// SPDX-License-Identifier: BSD-3-Clause
// Plays transfers on a link graph by the rules of wormhole switching: the head of a message takes the links
// of its path one after the other, a link a cycle, and waits in place, with all links that it has, where a
// link is taken; behind it follows a flit a cycle; the links are free when the last flit has arrived. Who has
// waited longest gets a link. For networks that a lab cannot express. Pure.
#pragma once

#include "plexus/eco/round_schedule.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plexus::tools::schedule {

struct PlayOptions {
    std::uint64_t flits = 64; ///< of each message, the head included
    /// False: lockstep, a round begins when the round before is over. True: a transfer begins when those
    /// before it from its source over the same first link are over, and its source has the message.
    bool asynchronous = false;
};

struct PlayedTransfer {
    std::uint32_t round;
    std::uint32_t place; ///< in its round
    std::uint64_t begun; ///< cycles from the start
    std::uint64_t ended;
    std::uint64_t blocked; ///< cycles that its head waited for links
};

struct Played {
    std::uint64_t cycles = 0;              ///< until the last transfer that ended
    std::uint64_t blocked = 0;             ///< of all transfers together
    std::vector<PlayedTransfer> transfers; ///< those that ended, in the order in which they did
    /// Empty: all ended. Else who waits for whom for ever, or for what never comes.
    std::string deadlock;
};

/// The transfers need not be a schedule: those of a round may share links.
/// @error bad_argument no flits, a path that does not lead from its source to its destination (thrown)
Played play(const eco::LinkGraph& graph, const std::vector<eco::Round>& rounds, const PlayOptions& options);

/// What unaware senders do: in round t terminal i sends to i XOR t, or to i + t where their number is no
/// power of two, by the first shortest path. @error bad_argument as shortest_paths() (thrown)
std::vector<eco::Round> pairwise_exchange(const eco::LinkGraph& graph);

} // namespace plexus::tools::schedule
