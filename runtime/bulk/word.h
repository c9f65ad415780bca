// SPDX-License-Identifier: BSD-3-Clause
// The small frames by which borrower and lender come to terms.
#pragma once

#include "transport/transport.h"

#include <span>

namespace plexus::bulk {

/// What the peer waits for may take of the room that answers have, and the peer is told if it is lost.
enum class Word : std::uint8_t { question, answer };

/// To the peer of `to`, by that way or any other. False: there was no room for a question, the peer is lost,
/// or the deadline has passed. @thread any
inline bool
send_word(transport::Channel& to, Word word, std::span<std::byte> head, wire::View rest = {},
          std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max()) {
    const detail::Piece pieces[2]{{head.data(), head.size()}, {rest.data(), rest.size()}};
    transport::Frame frame;
    frame.pieces = pieces;
    frame.count = rest.empty() ? 1 : 2;
    frame.size = head.size() + rest.size();
    frame.head = head.data();
    frame.deadline = deadline;
    frame.from_reserve = word == Word::answer;
    std::string why;
    if (to.endpoint().answer(to, frame, &why) == Status::ok) return true;
    log::info("bulk", "a word about remote memory could not be sent: {}", why);
    return false;
}

} // namespace plexus::bulk
