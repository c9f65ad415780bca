// SPDX-License-Identifier: BSD-3-Clause
// What the contexts of a soak ask of each other, and the object that they ask.
#pragma once

#include "plexus/plexus.h"
#include "soak/ledger.h"

#include <cereal/types/vector.hpp>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

namespace plexus::soak {

using Load = std::vector<std::uint8_t>;

inline constexpr std::size_t kRegionWords = 4096;
inline constexpr std::size_t kRegions = 1024; ///< one for each life, by its number

struct Desk {
    std::mutex mutex;
    std::map<Life, Received> received;
    std::uint64_t damaged = 0;
    GlobalSpan<std::uint64_t> memory;
};

/// The bytes that belong to a number: both sides know them.
inline Load load_of(std::uint64_t number, std::size_t size) {
    return Load(size, static_cast<std::uint8_t>(number * 37 + size));
}
inline bool is_load_of(std::uint64_t number, std::span<const std::uint8_t> load) {
    const auto wanted = static_cast<std::uint8_t>(number * 37 + load.size());
    for (const std::uint8_t each : load)
        if (each != wanted) return false;
    return true;
}

inline constexpr Request<void(Desk&, Life, std::uint64_t, std::span<const std::uint8_t>)> hand{"soak.hand"};
/// The answer has so many bytes, those of the number.
inline constexpr Request<Load(Desk&, Life, std::uint64_t, std::uint64_t, std::span<const std::uint8_t>)> ask{
    "soak.ask"};
inline constexpr Request<GlobalSpan<std::uint64_t>(Desk&)> memory_of{"soak.memory"};

} // namespace plexus::soak
