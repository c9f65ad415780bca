// SPDX-License-Identifier: BSD-3-Clause
// A peer of the tcp method without the module: a plain socket that says what a test wants,
// with or without the handshake. Every read is bounded in time.
#pragma once

#include "base/unique_fd.h"
#include "support/bare_host.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace plexus::testing {

inline const Method& tcp() { return find_method("tcp"); }

class RawPeer {
  public:
    /// Connects to the first address of `host`. Throws std::runtime_error.
    explicit RawPeer(BareHost& host)
      : RawPeer(host, "") {}
    /// The same from this address of the loopback network.
    RawPeer(BareHost& host, std::string_view from);

    struct Said {
        std::vector<std::uint8_t> hello;
        std::vector<std::uint8_t> confirm;
    };
    /// Goes through the handshake as `self` does, who wants `host`; polls `host` meanwhile.
    /// Returns what it said, for whoever wants to say it again.
    Said shake_hands(const BareHost& self, BareHost& host);
    /// The same words once more, whatever the answer.
    void repeat(const Said& said, BareHost& host);
    void send(std::span<const std::byte> bytes);
    /// One frame's word, with any sizes.
    void send_word(std::uint64_t size, std::uint8_t head);
    /// True when the other side has closed; polls it meanwhile.
    bool closed_by(BareHost& host, std::chrono::nanoseconds limit);
    /// True if the other side has closed, as far as is known without polling anybody.
    bool is_closed() const;
    /// How much of what the other side has sent lies here unread.
    std::size_t received_bytes() const;
    /// Segments with data that the other side has sent.
    std::uint32_t received_segments() const;
    /// Reads what lies here and drops it: how much that was.
    std::size_t drop_received();
    void close() { socket_.reset(); }

  private:
    std::vector<std::uint8_t> read_from(BareHost& host, std::size_t size);
    UniqueFd socket_;
};

std::uint16_t port_of(BareHost& host);

} // namespace plexus::testing
