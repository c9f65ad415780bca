// SPDX-License-Identifier: BSD-3-Clause
// What the contexts of a probe say to each other: the coordinator (rank 0) asks stations, one in each
// context. The ping-pong between two stations is that of tools/benchmark/.
#pragma once

#include "tools/benchmark/requests.h"
#include "tools/probe/options.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plexus::tools::probe {

class Station;

/// Who a context is.
struct Identity {
    std::string host;
    std::vector<std::string> methods;
};
PLEXUS_FIELDS(Identity, host, methods)

/// What one pair took: one way, in microseconds, a number for each repetition.
struct Readings {
    std::string method;
    std::vector<std::vector<double>> samples_us; ///< by size
};
PLEXUS_FIELDS(Readings, method, samples_us)

using Sizes = std::vector<std::uint64_t>;

inline constexpr Request<Identity(Station&)> identify{"plexus.probe.identify"};
/// Measures the way to another station. The answer comes when all is done.
inline constexpr Request<Readings(Station&, GlobalPointer<Station>, Sizes, Effort)> measure{
    "plexus.probe.measure"};
/// Ends the measurement under way with an error.
inline constexpr Request<void(Station&)> abandon{"plexus.probe.abandon"};
inline constexpr Request<void(Station&)> finish{"plexus.probe.finish"};

/// The station answers this player from now on; the result is where to.
inline constexpr Request<GlobalPointer<benchmark::Echo>(Station&, GlobalPointer<benchmark::Player>)> meet{
    "plexus.probe.meet"};

inline std::string station_name(std::uint32_t rank) { return "plexus.probe." + std::to_string(rank); }

} // namespace plexus::tools::probe
