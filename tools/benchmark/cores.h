// SPDX-License-Identifier: BSD-3-Clause
// Which cores the two contexts of a measurement run on.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace plexus::tools::benchmark {

struct Cores {
    std::vector<int> near; ///< of the initiator, one for each of its threads if there are enough
    std::vector<int> far;  ///< of the responder
};

/// Different cores for both contexts, and not hardware threads of one core if there are other cores.
/// Nothing: this process may use one core only.
std::optional<Cores> choose_cores(std::size_t near_threads);

/// Pins this thread, and the threads that it starts from now on, to these cores. An empty text, or the
/// system's reason why not.
std::string pin_to(const std::vector<int>& cores);

} // namespace plexus::tools::benchmark
