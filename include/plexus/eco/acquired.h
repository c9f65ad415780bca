// SPDX-License-Identifier: BSD-3-Clause
// Parameters of a published model that its own procedure measured on one link, and what that took: plain data
// in a map. Times in seconds, sizes in bytes. Which model needs which parameters is known to eco/model alone.
#pragma once

#include "plexus/export.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace plexus::eco {

/// How long a message of one size occupies its ends.
struct SizedTimes {
    std::uint64_t bytes = 0;
    double send_overhead_s = 0;
    double receive_overhead_s = 0;
    double gap_s = 0; ///< until the sender is free; covers both overheads
    bool operator==(const SizedTimes&) const = default;
};

/// What a procedure sent, both ways, and how long it measured.
struct AcquisitionCost {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    double seconds = 0;
    bool operator==(const AcquisitionCost&) const = default;
};

/// One level of pLogP: a latency, and times for rising sizes.
struct AcquiredLevel {
    double latency_s = 0;
    std::vector<SizedTimes> sizes;
    bool operator==(const AcquiredLevel&) const = default;
};

/// One model on one link.
struct AcquiredModel {
    std::size_t from = 0; ///< places in Map::hosts(); they stand for their clusters
    std::size_t to = 0;
    std::string model; ///< as facts() names it
    /// "latency_s", "gap_s_per_byte", …: all from 0 up. A model has these, levels, or neither.
    std::map<std::string, double, std::less<>> parameters;
    std::vector<AcquiredLevel> levels; ///< the innermost first
    /// Why there are no parameters, or what they rest on; may be empty.
    std::string words;
    AcquisitionCost cost;

    bool has_parameters() const noexcept { return !parameters.empty() || !levels.empty(); }
    bool operator==(const AcquiredModel&) const = default;
};

} // namespace plexus::eco
