// SPDX-License-Identifier: BSD-3-Clause
// Schedules in JSON: {"topology": NAME or graph, "collective": "OAB"|"AAB"|"OAS"|"AAS", "root": r, "ports":
// "one"|"all", "rounds": [[{"src": s, "dst": d, "msg": m, "path": ["vertex", …] or [link, …]}, …], …],
// "bound": b, "reason": "…"}. Terminals and links are numbered from 0. "path" may be absent where one
// shortest path exists, "root" where nobody is one, "ports" where the network's are meant, "bound" and
// "reason" always. Other members are not looked at. Any thread.
#pragma once

#include "plexus/eco/round_schedule.h"

#include <cstdint>
#include <optional>
#include <string>

namespace plexus::tools::schedule {

inline constexpr std::size_t kLargestScheduleFile = std::size_t{256} << 20;

struct ScheduleFile {
    eco::LinkGraph graph;        ///< with the schedule's ports
    eco::RoundSchedule schedule; ///< a transfer whose path was absent has none: see with_paths()
    std::optional<std::uint64_t> bound;
    std::string reason;
    bool operator==(const ScheduleFile&) const = default;
};

/// Whether the schedule is valid is not looked at: see violation().
/// @error not_found, too_large the file cannot be read; bad_argument it holds no schedule (thrown; names file
/// and place, such as rounds[3][1].path)
ScheduleFile load_schedule(const std::string& file);

/// Of a word that graph_of() takes for a file with "rounds": the schedule there, with all paths, and valid.
/// Nothing: it is a network. @error as load_schedule(), and bad_argument which rule it breaks (thrown)
std::optional<ScheduleFile> valid_schedule_of(const std::string& name_or_file);

enum class PathText : std::uint8_t {
    vertices, ///< their names
    links,    ///< their numbers
};

/// What load_schedule() reads: a round a line.
std::string to_json(const ScheduleFile& file, PathText paths = PathText::vertices);
/// What load_schedule() reads, of at most `most_bytes`: paths are names of vertices, or if that is too large
/// numbers of links.
/// @error too_large so is that (thrown)
std::string loadable_text(const ScheduleFile& file, std::size_t most_bytes = kLargestScheduleFile);

} // namespace plexus::tools::schedule
