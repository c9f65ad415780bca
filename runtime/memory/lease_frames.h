// SPDX-License-Identifier: BSD-3-Clause
// Sends the frames that request, grant, recall and return leases, and reports those that are too short.
#pragma once

#include "transport/transport.h"

#include <span>

namespace plexus::memory {

/// The peer waits for an `answer`: it may take the room kept for answers, and the peer is told if it is
/// dropped.
enum class LeaseFrame : std::uint8_t { request, answer };

/// Sends `head` and `rest` to the peer of `to`, by that channel or another. False, and logged: there was no
/// room before the deadline, or no way to the peer. @thread any
inline bool send_lease_frame(
    transport::Channel& to, LeaseFrame kind, std::span<std::byte> head, wire::View rest = {},
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max()) {
    const detail::Piece pieces[2]{{head.data(), head.size()}, {rest.data(), rest.size()}};
    transport::Frame frame;
    frame.pieces = pieces;
    frame.count = rest.empty() ? 1 : 2;
    frame.size = head.size() + rest.size();
    frame.head = head.data();
    frame.deadline = deadline;
    frame.from_reserve = kind == LeaseFrame::answer;
    std::string why;
    if (to.endpoint().answer(to, frame, &why) == Status::ok) return true;
    log::info("memory", "a frame about a lease of memory could not be sent: {}", why);
    return false;
}

/// Reports `what`, a frame shorter than its header, to the program: it does not say whom to answer.
inline void tell_short(transport::Link& from, const char* what) {
    from.interface.calls.endpoint->listener().on_error(Status::bad_archive, from.peer->text() + " sent " +
                                                                                what + " that is too short");
}

} // namespace plexus::memory
