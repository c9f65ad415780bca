// SPDX-License-Identifier: BSD-3-Clause
// Messages that only a holder of the job's key can have made: a proof over all their bytes stands
// behind them. It covers what the handshake's own records do not know. @thread any
#pragma once

#include "plexus/module/abi.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace plexus::module {

inline constexpr std::size_t kProofBytes = 32;

using Proof = std::array<std::uint8_t, kProofBytes>;

/// `purpose` and `kind` keep one message from passing for another. Random, if the host proves nothing.
Proof proof_of(const plexus_host& host, std::string_view purpose, std::uint8_t kind,
               std::span<const std::byte> message);
/// True if `message` ends with the proof of what stands before it.
bool is_signed(const plexus_host& host, std::string_view purpose, std::uint8_t kind,
               std::span<const std::byte> message);

/// Appends its proof to a message of whichever kind of byte.
template <class Byte>
void sign(const plexus_host& host, std::string_view purpose, std::uint8_t kind, std::vector<Byte>& message) {
    for (const std::uint8_t each : proof_of(host, purpose, kind, std::as_bytes(std::span(message))))
        message.push_back(static_cast<Byte>(each));
}

/// What stands before the proof; nothing, if it is not the right one.
template <class Byte>
std::optional<std::span<const Byte>> signed_part(const plexus_host& host, std::string_view purpose,
                                                 std::uint8_t kind, std::span<const Byte> message) {
    if (!is_signed(host, purpose, kind, std::as_bytes(message))) return std::nullopt;
    return message.first(message.size() - kProofBytes);
}

} // namespace plexus::module
