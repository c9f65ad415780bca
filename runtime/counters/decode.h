// SPDX-License-Identifier: BSD-3-Clause
// What the words of a context's memory say. They may be anything: each length and place is checked against
// the words that there are, and no more values are made than these can hold. Pure.
#pragma once

#include "base/result.h"
#include "plexus/counters.h"

#include <cstdint>
#include <span>
#include <vector>

namespace plexus::counters {

struct Decoded {
    ContextLabel label;
    std::vector<CounterTable> tables;
    std::chrono::system_clock::time_point sampled_at;
};

/// @error unsupported another major version
/// @error bad_archive not what a context writes, and where
Result<Decoded> decode(std::span<const std::uint64_t> words);

} // namespace plexus::counters
