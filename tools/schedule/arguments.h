// SPDX-License-Identifier: BSD-3-Clause
// The words of `plexus schedule` as values. All errors are bad_argument, thrown.
#pragma once

#include "plexus/eco/round_schedule.h"
#include "tools/schedule/options.h"
#include "tools/schedule/search.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plexus::tools::schedule {

/// The network of --map or of the first word, which is taken off `words`, with --ports; one that schedules
/// can be made for. @error also those of load_map()
eco::LinkGraph take_graph(std::vector<std::string>& words, const Options& options);

/// "3": a terminal of the graph. Errors begin with `what`.
std::uint32_t terminal_of(const eco::LinkGraph& graph, const std::string& text, const std::string& what);

/// "AAB", in small letters too.
eco::CollectiveKind collective_of(const std::string& text);

/// OAB and OAS.
bool has_root(eco::CollectiveKind kind);

/// --root, or 0. @error it is given, and operations of this kind have none; no such terminal
std::uint32_t root_of(const Options& options, const eco::LinkGraph& graph, eco::CollectiveKind kind);

/// --seed, or 1.
std::uint64_t seed_of(const Options& options);
/// --time, or `usual`.
Seconds time_of(const Options& options, Seconds usual);
/// Times and size for Equation (1), see round_time_s().
struct TimeModel {
    double start_s;
    double byte_s;
    std::uint64_t bytes;
    double time_s(const eco::RoundSchedule& schedule) const {
        return eco::round_time_s(schedule, bytes, start_s, byte_s);
    }
};
/// --start, --byte and --size; nothing: none of them is given. @error not all three are
std::optional<TimeModel> time_model_of(const Options& options);
/// A whole number from 1 to `most`, or `usual` where there is no text. Errors name `option`.
std::uint32_t count_of(const std::string& text, const char* option, std::uint32_t usual, std::uint32_t most);

} // namespace plexus::tools::schedule
