// SPDX-License-Identifier: BSD-3-Clause
// What the contexts of a probe say to each other: the coordinator (rank 0) asks stations, one
// in each context, and stations play ping-pong.
#pragma once

#include "tools/probe/options.h"

#include "plexus/plexus.h"

#include <cstddef>
#include <cstdint>
#include <span>
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

using Bytes = std::span<const std::byte>;
using Sizes = std::vector<std::uint64_t>;

inline constexpr Request<Identity(Station&)> identify{"plexus.probe.identify"};
/// Measures the way to another station. The answer comes when all is done.
inline constexpr Request<Readings(Station&, GlobalPointer<Station>, Sizes, Effort)> measure{
    "plexus.probe.measure"};
/// Gives up what is being measured.
inline constexpr Request<void(Station&)> abandon{"plexus.probe.abandon"};
inline constexpr Request<void(Station&)> finish{"plexus.probe.finish"};

/// Whom to answer from now on.
inline constexpr Request<void(Station&, GlobalPointer<Station>)> meet{"plexus.probe.meet"};
/// With the number of a game, so that what belongs to one that was given up is known.
inline constexpr Request<void(Station&, std::uint64_t, Bytes)> ping{"plexus.probe.ping"};
inline constexpr Request<void(Station&, std::uint64_t, Bytes)> pong{"plexus.probe.pong"};

inline std::string station_name(std::uint32_t rank) { return "plexus.probe." + std::to_string(rank); }

} // namespace plexus::tools::probe
