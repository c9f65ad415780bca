// SPDX-License-Identifier: BSD-3-Clause
// Which cores the two ends of a measurement run on.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace plexus::tools::bench {

struct Cores {
    std::vector<int> near; ///< of the end that sends, one for each of its threads where they suffice
    std::vector<int> far;  ///< of the end that answers
};

/// Different cores for both ends, hardware threads of one core avoided where there are
/// others. Nothing: this process may use one only.
std::optional<Cores> choose_cores(std::size_t near_threads);

/// Keeps this thread, and those it starts from now on, on these cores. An empty text, or
/// the system's reason why not.
std::string pin_to(const std::vector<int>& cores);

} // namespace plexus::tools::bench
