// SPDX-License-Identifier: BSD-3-Clause
// What of cryptography the runtime uses, in one place: OpenSSL has locks of its own, which a forked child
// would find held for ever if another thread of the parent was inside. So one lock of ours, which is held
// across forks, is taken around each use.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace plexus::crypto {

using Digest = std::array<std::uint8_t, 32>;

// ECO is a library of its own and uses those that are visible.
// Each ends the process with a line on its error stream if the system has no such thing: nothing is safe
// then. @thread any

/// The kernel's random bytes.
__attribute__((visibility("default"))) void fill_random(void* data, std::size_t size) noexcept;
__attribute__((visibility("default"))) Digest sha256(std::span<const std::uint8_t> data) noexcept;
__attribute__((visibility("default"))) Digest hmac_sha256(std::span<const std::uint8_t> key,
                                                          std::span<const std::byte> text) noexcept;
/// RFC 7914, with `cost` (N), `block` (r) and parallelisation 1.
Digest scrypt(std::span<const std::uint8_t> secret, std::span<const std::uint8_t> salt, std::uint64_t cost,
              std::uint64_t block) noexcept;

} // namespace plexus::crypto
