// SPDX-License-Identifier: BSD-3-Clause
// The identity of a context: 128 random bits, fresh at every start, so that a peer which
// restarts at the same address is somebody else.
#pragma once

#include "plexus/export.h"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

namespace plexus {

struct ContextId {
    std::array<std::uint8_t, 16> bytes{};

    auto operator<=>(const ContextId&) const = default;
    explicit operator bool() const noexcept { return *this != ContextId{}; }
};

/// 32 hexadecimal digits. @thread any
PLEXUS_API std::string to_string(const ContextId& id);

} // namespace plexus

template <>
struct std::hash<plexus::ContextId> {
    std::size_t operator()(const plexus::ContextId& id) const noexcept {
        std::size_t word = 0; // the bits are random already
        std::memcpy(&word, id.bytes.data(), sizeof word);
        return word;
    }
};
