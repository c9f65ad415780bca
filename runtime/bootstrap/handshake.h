// SPDX-License-Identifier: BSD-3-Clause
// The handshake between a client and a served directory: three fixed-size records by which both sides
// prove that they hold the job's key, each over a fresh nonce of the other. Pure state over bytes; the
// owner of the connection sends and receives the records. One thread.
//
//   hello    client -> server   magic, who, nonce, proof
//   answer   server -> client   magic, nonce, proof over both nonces
//   confirm  client -> server   proof over all before
//
// A hello without a valid proof is not answered. A replayed hello is answered, but its sender cannot make the
// confirm record. The frames that follow are neither encrypted nor authenticated: use a tunnel on networks
// that are not trusted.
#pragma once

#include "bootstrap/directory.h"

namespace plexus::bootstrap {

inline constexpr std::size_t kMagicBytes = 8;
inline constexpr std::size_t kNonceBytes = 32;
inline constexpr std::size_t kHelloBytes = kMagicBytes + 16 + kNonceBytes + 32;
inline constexpr std::size_t kAnswerBytes = kMagicBytes + kNonceBytes + 32;
inline constexpr std::size_t kConfirmBytes = 32;

/// True if `record` may be the beginning of a directory's answer.
[[nodiscard]] bool has_magic(std::span<const std::byte> record) noexcept;

class ClientHandshake {
  public:
    /// `key` must outlive the object.
    ClientHandshake(const Key& key, const ContextId& who);
    const Bytes& hello() const noexcept { return said_; }
    /// The confirm record; empty: the server does not hold the key.
    Bytes take_answer(std::span<const std::byte, kAnswerBytes> answer);

  private:
    const Key& key_;
    Bytes said_; // by both sides, in order
};

class ServerHandshake {
  public:
    /// `key` must outlive the object.
    explicit ServerHandshake(const Key& key)
      : key_(key) {}
    /// The answer record; empty: close the connection.
    Bytes take_hello(std::span<const std::byte, kHelloBytes> hello);
    [[nodiscard]] bool take_confirm(std::span<const std::byte, kConfirmBytes> confirm) const;
    /// Who the client says it is; proved once take_confirm() said so.
    const ContextId& client() const noexcept { return client_; }

  private:
    const Key& key_;
    ContextId client_;
    Bytes said_;
};

} // namespace plexus::bootstrap
