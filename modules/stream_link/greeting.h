// SPDX-License-Identifier: BSD-3-Clause
// How the two ends of a new connection get to know each other before it is a link's: what they say, and when
// each has proved who it is. State over bytes; who owns the connection moves them. @thread progress
#pragma once

#include "plexus/module/abi.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace plexus::stream_link {

class Greeting {
  public:
    Greeting() = default;
    virtual ~Greeting() = default;
    Greeting(const Greeting&) = delete;
    Greeting& operator=(const Greeting&) = delete;

    /// Bytes to send now; the caller sends all of them, once, before it reads more.
    virtual std::vector<std::uint8_t> take_outgoing() = 0;
    /// Where the next bytes of the peer belong. Never reaches beyond what the next step wants: what follows
    /// the greeting stays unread.
    virtual std::span<std::uint8_t> room() = 0;
    /// So many bytes were put there. AGAIN: go on. OK: both sides have proved themselves. Others: close;
    /// take_outgoing() may still hold what the peer shall know. DENIED: no proof. WRONG_PEER, UNSUPPORTED:
    /// the peer may join, but wants another context, or speaks another version.
    virtual std::int32_t took(std::size_t bytes) = 0;

    /// The peer has shown that it may join, though perhaps not yet who it is.
    virtual bool is_known() const noexcept = 0;
    /// Who it proved to be, and the largest message that it takes (0: any), once took() said OK.
    virtual const plexus_id& peer() const noexcept = 0;
    virtual std::uint64_t peer_max_message() const noexcept = 0;
    virtual std::uint16_t peer_version() const noexcept = 0;
    /// Why took() said DENIED, if more is known than that the peer does not hold the job's key.
    virtual std::string why() const { return {}; }
};

} // namespace plexus::stream_link
