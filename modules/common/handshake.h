// SPDX-License-Identifier: BSD-3-Clause
// How the two ends of a new connection prove to each other that they hold the job's key
// and are who they say: three fixed-size records, HMAC-SHA256, a fresh nonce from each
// side. Pure state over bytes; the module that owns the connection moves them.
//
//   hello   connecting -> accepting   magic, who I am, whom I want, nonce, proof
//   answer  accepting -> connecting   accepted or not, who I am, nonce, proof
//   confirm connecting -> accepting   proof over both
//
// A hello without a valid proof gets no answer at all. A replayed hello gets an answer
// but can't be confirmed. Not thread-safe; one object for one connection.
#pragma once

#include "plexus/module/module.h"

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace plexus::module {

class Handshake {
  public:
    static constexpr std::size_t kHelloBytes = 8 + 16 + 16 + 32 + 32;
    static constexpr std::size_t kAnswerBytes = 1 + 16 + 32 + 32;
    static constexpr std::size_t kConfirmBytes = 32;

    /// The side that connects, to the context `wanted`. `host` must outlive the object.
    static Handshake connecting(const plexus_host& host, const plexus_id& wanted);
    /// The side that accepts.
    static Handshake accepting(const plexus_host& host);

    /// Bytes to send now; the caller sends all of them, once, before it feeds more.
    std::vector<std::uint8_t> take_outgoing() { return std::exchange(outgoing_, {}); }

    /// Size of the record that is expected next; 0 when the handshake is over.
    std::size_t wanted_bytes() const noexcept;

    /// Takes exactly wanted_bytes(). AGAIN: go on. OK: both sides have proved themselves
    /// (send what take_outgoing() still gives). DENIED, WRONG_PEER: close; an answer may
    /// still be waiting in take_outgoing().
    std::int32_t feed(std::span<const std::uint8_t> record);

    /// Who the other side proved to be, once feed() said OK.
    const plexus_id& peer() const noexcept { return peer_; }

  private:
    enum class Step : std::uint8_t { hello, answer, confirm, over };
    using Proof = std::array<std::uint8_t, 32>;

    Handshake(const plexus_host& host, Step next)
      : host_(&host)
      , next_(next) {}
    Proof prove(const char* purpose) const;
    void append(const void* data, std::size_t size);
    std::int32_t feed_hello(std::span<const std::uint8_t> record);
    std::int32_t feed_answer(std::span<const std::uint8_t> record);
    std::int32_t feed_confirm(std::span<const std::uint8_t> record);

    const plexus_host* host_;
    Step next_;
    plexus_id peer_{};
    std::vector<std::uint8_t> transcript_; // everything said so far, both ways
    std::vector<std::uint8_t> outgoing_;
};

} // namespace plexus::module
