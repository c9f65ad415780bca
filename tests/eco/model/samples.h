// SPDX-License-Identifier: BSD-3-Clause
// Samples that a model itself has made.
#pragma once

#include "plexus/eco/fit.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace plexus::testing {

/// 1, 2, 4, … up to `most` bytes, from `least` on.
inline std::vector<std::uint64_t> doubled_sizes(std::uint64_t least, std::uint64_t most) {
    std::vector<std::uint64_t> out;
    for (std::uint64_t bytes = least; bytes <= most; bytes *= 2) out.push_back(bytes);
    return out;
}

/// Between each two of `processors`, on each of `levels`.
inline std::vector<eco::MeasuredMessage> messages_by(const eco::Model& model,
                                                     const std::vector<std::uint64_t>& sizes,
                                                     std::size_t processors = 2, std::size_t levels = 1) {
    std::vector<eco::MeasuredMessage> out;
    for (const std::uint64_t bytes : sizes)
        for (std::size_t level = 0; level < levels; ++level)
            for (std::size_t from = 0; from < processors; ++from)
                for (std::size_t to = 0; to < processors; ++to) {
                    const eco::ModelMessage message{bytes, level, from, to};
                    if (from != to) out.push_back({message, predict_s(model, message)});
                }
    return out;
}

/// Overheads of `overhead_s` at both ends, and the gap that the model has.
inline std::vector<eco::MeasuredOccupancy> occupancy_by(const eco::Model& model,
                                                        const std::vector<std::uint64_t>& sizes,
                                                        double overhead_s, std::size_t levels = 1) {
    std::vector<eco::MeasuredOccupancy> out;
    for (const std::uint64_t bytes : sizes)
        for (std::size_t level = 0; level < levels; ++level)
            out.push_back({bytes, level, overhead_s, overhead_s,
                           cost(model, eco::ModelMessage{bytes, level}).spacing_s});
    return out;
}

} // namespace plexus::testing
