// SPDX-License-Identifier: BSD-3-Clause
// How a guest is let into a served directory: three fixed-size records by which both sides
// prove that they hold the job's key, each over a fresh nonce of the other. Pure state over
// bytes; whoever owns the connection moves them. One thread.
//
//   hello    guest -> host   magic, who, nonce, proof
//   answer   host -> guest   magic, nonce, proof over both nonces
//   confirm  guest -> host   proof over all before
//
// A hello without a valid proof is not answered. A hello that was recorded and is played
// again is answered, but its sender cannot confirm. What follows is neither encrypted nor
// proved frame by frame: across networks that are not trusted, run it inside a tunnel.
#pragma once

#include "bootstrap/directory.h"

namespace plexus::bootstrap {

inline constexpr std::size_t kMagicBytes = 8;
inline constexpr std::size_t kNonceBytes = 32;
inline constexpr std::size_t kHelloBytes = kMagicBytes + 16 + kNonceBytes + 32;
inline constexpr std::size_t kAnswerBytes = kMagicBytes + kNonceBytes + 32;
inline constexpr std::size_t kConfirmBytes = 32;

/// True if an answer may begin like this: anything else is not a directory.
[[nodiscard]] bool has_magic(std::span<const std::byte> record) noexcept;

class Guest {
  public:
    /// `key` must outlive the object.
    Guest(const Key& key, const ContextId& who);
    const Bytes& hello() const noexcept { return said_; }
    /// The confirm record, or nothing: the host does not hold the key.
    Bytes take_answer(std::span<const std::byte, kAnswerBytes> answer);

  private:
    const Key& key_;
    Bytes said_; // by both sides, in order
};

class Host {
  public:
    /// `key` must outlive the object.
    explicit Host(const Key& key)
      : key_(key) {}
    /// The answer record, or nothing: close the door.
    Bytes take_hello(std::span<const std::byte, kHelloBytes> hello);
    [[nodiscard]] bool take_confirm(std::span<const std::byte, kConfirmBytes> confirm) const;
    /// Who the guest says it is; proved once take_confirm() said so.
    const ContextId& guest() const noexcept { return guest_; }

  private:
    const Key& key_;
    ContextId guest_;
    Bytes said_;
};

} // namespace plexus::bootstrap
