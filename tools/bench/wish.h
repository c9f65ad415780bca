// SPDX-License-Identifier: BSD-3-Clause
// What a user asked `plexus bench` for. Plain data; both ends of a measurement have the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plexus::tools::bench {

enum class Kind : std::uint8_t { latency, bandwidth, rate, dual };

/// nullopt: auto.
using SkipPoll = std::optional<std::uint32_t>;

struct Wish {
    Kind kind = Kind::latency;
    std::string methods;              ///< a method list; empty: what the configuration says
    std::vector<std::uint64_t> sizes; ///< bytes
    std::uint64_t iterations = 0;     ///< of one round; 0: as many as take about `round_seconds`
    std::uint32_t threads = 1;        ///< that send, at the near end
    std::vector<SkipPoll> skip_polls; ///< dual: of the slow method
    bool json = false;
    bool pin = true;
    std::vector<int> cores; ///< of this end; empty: wherever the system puts it

    static constexpr std::uint32_t kRounds = 5;
    static constexpr double kRoundSeconds = 0.05; ///< short: a round that something disturbed is lost
};

constexpr const char* name_of(Kind kind) {
    constexpr const char* kNames[] = {"latency", "bandwidth", "rate", "dual"};
    return kNames[static_cast<std::size_t>(kind)];
}

} // namespace plexus::tools::bench
