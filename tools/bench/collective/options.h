// SPDX-License-Identifier: BSD-3-Clause
// What a user asked `plexus bench collective` for. Plain data; all members have the same.
#pragma once

#include "plexus/eco/algorithm.h"
#include "plexus/eco/round_schedule.h"
#include "plexus/eco/schedule_plan.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plexus::tools::benchmark {

/// How transfers that share a link follow each other.
enum class Timing : std::uint8_t {
    permissions, ///< one waits for another
    paced,       ///< by a pace that is measured before
    best,        ///< paced where a round in lockstep takes clearly longer
};

/// A schedule for the members as terminals of a network: `made`, or looked for when it is needed.
struct ScheduleRequest {
    eco::LinkGraph graph;
    std::optional<eco::RoundSchedule> made;
    std::uint32_t overlap = 0; ///< as GroupSchedule has it
    Timing timing = Timing::permissions;
};

/// The kind of schedule that an operation follows; nothing: there is none.
constexpr std::optional<eco::CollectiveKind> scheduled_as(eco::Operation operation) {
    using eco::Operation;
    switch (operation) {
    case Operation::broadcast:
    case Operation::reduce:
        return eco::CollectiveKind::oab;
    case Operation::all_gather:
        return eco::CollectiveKind::aab;
    case Operation::scatter:
    case Operation::gather:
        return eco::CollectiveKind::oas;
    case Operation::all_to_all:
        return eco::CollectiveKind::aas;
    default:
        return std::nullopt;
    }
}

struct NamedPattern {
    std::string name; ///< as it was written: "tree:4"
    eco::Algorithm algorithm;
    std::optional<ScheduleRequest> schedule = {};
    bool supports(eco::Operation operation) const {
        if (schedule && schedule->made) return eco::supports(schedule->made->kind, operation);
        if (schedule) return scheduled_as(operation).has_value();
        return eco::supports(algorithm, operation);
    }
};

/// `common`: from the start, at one time on all clocks, until the last member is done (the ECO
/// paper, section 6.1). `own`: the longest duration of the call on any member, after a barrier (as MPI's
/// benchmarks do).
enum class TimedBy : std::uint8_t { common, own };

constexpr const char* name_of(TimedBy by) { return by == TimedBy::common ? "common" : "own"; }

struct CollectiveOptions {
    std::vector<eco::Operation> operations;
    std::vector<NamedPattern> patterns;
    std::vector<std::uint64_t> sizes; ///< bytes: of the vector, or of each member's part
    std::vector<TimedBy> clocks;
    /// Seeds that shuffle the members; nullopt: by their ranks in the job.
    std::vector<std::optional<std::uint64_t>> orders;
    std::vector<eco::Rank> members; ///< how many take part, the first of the order; empty: all
    eco::Rank root = 0;             ///< a rank in that order
    std::string map_file;
    std::uint64_t iterations = 0; ///< 0: as many as take about kSeconds
    bool json = false;

    static constexpr double kSeconds = 0.5;
    /// How long member 0 looks for a schedule, about; the others wait.
    static constexpr std::chrono::seconds kSearchTime{10};
};

/// True of the operations that add numbers of 8 bytes.
constexpr bool adds_up(eco::Operation operation) {
    using eco::Operation;
    return operation == Operation::reduce || operation == Operation::all_reduce ||
           operation == Operation::reduce_scatter || operation == Operation::scan ||
           operation == Operation::exclusive_scan;
}

/// True of the operations that only the root begins: the other members wait for a message.
constexpr bool begins_at_root(eco::Operation operation) {
    return operation == eco::Operation::broadcast || operation == eco::Operation::scatter;
}

} // namespace plexus::tools::benchmark
