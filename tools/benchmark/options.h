// SPDX-License-Identifier: BSD-3-Clause
// What a user asked `plexus bench` for. Plain data; both ends of a measurement have the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plexus::tools::bench {

/// `survey`: latency and, of large messages, bandwidth, in little time; what `plexus info
/// --measure` runs for each method, and no word of the command line's help.
enum class Kind : std::uint8_t { latency, bandwidth, rate, put, get, dual, idle, survey };

/// nullopt: auto.
using SkipPoll = std::optional<std::uint32_t>;

struct Wish {
    Kind kind = Kind::latency;
    std::string methods;              ///< a method list; empty: what the configuration says
    std::vector<std::uint64_t> sizes; ///< bytes
    std::uint64_t iterations = 0;     ///< of one round; 0: as many as take about round_seconds()
    std::uint32_t threads = 1;        ///< that send, at the near end
    std::vector<SkipPoll> skip_polls; ///< dual: of the slow method
    bool json = false;
    bool pin = true;
    bool one_process = false; ///< both ends are contexts of one process
    std::vector<int> cores;   ///< of this end; empty: wherever the system puts it

    static constexpr std::uint32_t kRounds = 5;
    bool in_haste() const noexcept { return kind == Kind::survey; }
    /// Short: a round that something disturbed is lost.
    double round_seconds() const noexcept { return in_haste() ? 0.01 : 0.05; }
};

constexpr const char* name_of(Kind kind) {
    constexpr const char* kNames[] = {"latency", "bandwidth", "rate", "put", "get", "dual", "idle", "survey"};
    return kNames[static_cast<std::size_t>(kind)];
}

/// The name in an entry of a method list: "tcp" of "tcp?sndbuf=4MiB".
inline std::string name_in(const std::string& entry) { return entry.substr(0, entry.find('?')); }

} // namespace plexus::tools::bench
