// SPDX-License-Identifier: BSD-3-Clause
// What a user asked `plexus probe` for. Plain data; every context of the job has the same.
#pragma once

#include "plexus/eco/partition.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plexus::tools::probe {

/// How one pair is measured with one size. Sent to the station that measures.
struct Effort {
    std::uint32_t trips = 0;       ///< of a repetition; 0: as many as take about 2 ms
    std::uint32_t repetitions = 0; ///< 0: as many as begin within `seconds`, but some
    double seconds = 0.02;
    std::uint32_t fewest = 1; ///< repetitions, whatever they take
};

struct ProbeOptions {
    std::string file;
    std::vector<std::uint64_t> sizes;  ///< bytes, rising; empty: those of the map, or the usual ones
    std::vector<std::string> refresh;  ///< hosts to measure anew
    std::optional<std::uint64_t> cost; ///< the size whose time the subnets go by; nothing: the smallest
    eco::Tolerance tolerance;
    Effort effort;
    std::uint32_t passes = 3;  ///< how often the whole of the pairs is measured
    std::uint32_t confirm = 2; ///< how often a deciding edge is measured again
    double patience_s = 60;    ///< a pair that takes longer is given up
    bool resume = false;
    bool parallel = false;
    bool models = false; ///< acquire the parameters of models as well
    bool per_context = false;
    bool json = false;

    bool continues() const noexcept { return resume || !refresh.empty(); }
};

} // namespace plexus::tools::probe
