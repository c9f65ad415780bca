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
class Caller;
struct Answerer;

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

/// One of the experiments that eco::acquire() asks for, without its load.
struct Trial {
    std::uint8_t quantity = 0; ///< an eco::Quantity
    std::uint64_t bytes = 0;
    double seconds = 0;       ///< as many repetitions as begin within,
    std::uint32_t fewest = 1; ///< but so many
    bool under_load = false;
    double patience_s = 60; ///< a message that finds no room for so long is given up
};
PLEXUS_FIELDS(Trial, quantity, bytes, seconds, fewest, under_load, patience_s)

/// What typical_time() says of the repetitions, and what was sent for it, both ways.
struct TrialTime {
    double time_s = 0;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
};
PLEXUS_FIELDS(TrialTime, time_s, messages, bytes)

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

// Single messages: see caller.h. With each goes its stamp, and how large the answer is to be.
inline constexpr std::uint64_t kNoAnswer = ~std::uint64_t{0};
inline constexpr Request<void(Answerer&, std::uint64_t, std::uint64_t, benchmark::Bytes)> ping{
    "plexus.probe.ping"};
inline constexpr Request<void(Caller&, std::uint64_t, benchmark::Bytes)> answered{"plexus.probe.answered"};
/// The result answers this caller, whose context has this rank.
inline constexpr Request<GlobalPointer<Answerer>(Station&, std::uint32_t, GlobalPointer<Caller>)> call_on{
    "plexus.probe.call_on"};
/// Makes one experiment on the way to another station.
inline constexpr Request<TrialTime(Station&, GlobalPointer<Station>, Trial)> attempt{"plexus.probe.attempt"};
/// Sends messages of this size to another station until end_load(), for so many seconds at most; the answer
/// comes when so many are under way that more would only wait.
inline constexpr Request<void(Station&, GlobalPointer<Station>, std::uint64_t, double)> begin_load{
    "plexus.probe.begin_load"};
/// The result counts what was sent for the load; its time means nothing. An error: there was no load, or not
/// until now.
inline constexpr Request<TrialTime(Station&)> end_load{"plexus.probe.end_load"};

inline std::string station_name(std::uint32_t rank) { return "plexus.probe." + std::to_string(rank); }

} // namespace plexus::tools::probe
