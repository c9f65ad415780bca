// SPDX-License-Identifier: BSD-3-Clause
// The job's key and what is made from it: proofs (HMAC-SHA256) and fresh random bytes.
// Knows nothing of connections or records. Any thread.
#pragma once

#include "base/result.h"
#include "base/secret.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace plexus::bootstrap {

using Proof = std::array<std::uint8_t, 32>;

/// What all contexts of a job share and nobody else has.
struct Key {
    Secret<32> bytes{};
    bool operator==(const Key&) const = default;
};

/// HMAC-SHA256 of `transcript` under `key`.
Proof prove(const Key& key, std::span<const std::byte> transcript);

/// Compares in constant time: how far two proofs agree is a secret.
[[nodiscard]] bool same_proof(std::span<const std::byte, 32> a, std::span<const std::byte, 32> b) noexcept;

/// A key that nobody else has.
Key random_key();

/// The key in a file: SHA-256 of its bytes, taken as they are. 32 random bytes or more make a good
/// one (`openssl rand -base64 32`). Fewer bytes are stretched with scrypt, which takes some ten
/// milliseconds, and a warning says how to make a good one: whoever has recorded an opening can
/// try keys on it.
/// @error not_found  it cannot be opened
/// @error bad_config others may read it, it belongs to someone else, is no plain file,
///                   or has less than 16 bytes or more than 1 MiB
Result<Key> key_from_file(const std::string& path);

/// @error bad_config not exactly 64 hexadecimal digits
Result<Key> key_from_hex(std::string_view digits);
std::string to_hex(std::span<const std::uint8_t> bytes);

} // namespace plexus::bootstrap
