// SPDX-License-Identifier: BSD-3-Clause
// The order in which one message goes from cluster to cluster: heuristics and the exact optimum, by predicted
// completion. Values, seconds. Pure. Any thread.
#pragma once

#include "plexus/export.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace plexus::eco {

/// A send from i to j that starts when i is ready takes i for spacing_s[i][j], and the message is at j
/// latency_s[i][j] after that. The diagonals do not count. A latency is negative if the sender is busy for
/// longer than the message takes, as in LinkCost.
struct InterclusterInstance {
    std::vector<std::vector<double>> latency_s;
    std::vector<std::vector<double>> spacing_s;
    std::vector<double> inside_s; ///< how long each cluster needs to spread the message inside
    std::size_t root = 0;
};

/// At most so many clusters have their optimum searched for.
inline constexpr std::size_t kOptimalClusters = 8;

/// What the next send is, of those from a cluster that has the message to one that waits; of equals that of
/// the lowest sender, then of the lowest receiver. A send's end is the time at which its message has arrived.
enum class ScheduleRule : std::uint8_t {
    flat,         ///< the root sends to all, in their order
    fef,          ///< the least latency (first edge first)
    ecef,         ///< the earliest end (early completion edge first)
    ecef_la,      ///< the least sum of end and cheapest further send of the receiver
    ecef_lat_min, ///< the least sum of end and the least (further send + time inside its receiver)
    ecef_lat_max, ///< the least sum of end and the greatest (further send + time inside its receiver)
    bottom_up,    ///< to the receiver that ends last inside, each by its earliest sender
    optimal,      ///< the least completion; up to kOptimalClusters
};

inline constexpr ScheduleRule kScheduleRules[] = {
    ScheduleRule::flat,         ScheduleRule::fef,          ScheduleRule::ecef,      ScheduleRule::ecef_la,
    ScheduleRule::ecef_lat_min, ScheduleRule::ecef_lat_max, ScheduleRule::bottom_up, ScheduleRule::optimal};

/// "ecef_lat_min". @thread any
PLEXUS_API std::string_view to_string(ScheduleRule rule) noexcept;

/// When a cluster begins to spread the message inside.
enum class Completion : std::uint8_t {
    after,   ///< after its last send to another cluster
    overlap, ///< as soon as it has the message
};

struct ClusterSend {
    std::size_t from;
    std::size_t to;
    bool operator==(const ClusterSend&) const = default;
};

struct InterclusterSchedule {
    std::optional<ScheduleRule> rule; ///< by which it was made; none: of play()
    std::vector<ClusterSend> sends;   ///< each from a cluster that has the message by then
    double after_s = 0;               ///< completion by Completion::after
    double overlap_s = 0;
    double completion_s(Completion completion) const noexcept {
        return completion == Completion::after ? after_s : overlap_s;
    }
};

/// Returns where `instance` is one. @error bad_argument no cluster, rows of other lengths, a root that is
/// none, a number that is not finite, a time that is negative: L + g, g or T (thrown; names it)
PLEXUS_API void check(const InterclusterInstance& instance);

/// The schedule of these sends, with its completions. @error bad_argument no such instance; a send from who
/// has nothing or to who has it already; a cluster that is not reached (thrown)
PLEXUS_API InterclusterSchedule play(const InterclusterInstance& instance, std::vector<ClusterSend> sends);

/// `completion` is what `optimal` makes least; the heuristics do not ask for it.
/// @error bad_argument no such instance, or optimal of more than kOptimalClusters (thrown)
PLEXUS_API InterclusterSchedule schedule(const InterclusterInstance& instance, ScheduleRule rule,
                                         Completion completion = Completion::after);

/// By every rule, in the order of kScheduleRules; without optimal for more than kOptimalClusters.
/// @error bad_argument no such instance (thrown)
PLEXUS_API std::vector<InterclusterSchedule> schedules(const InterclusterInstance& instance,
                                                       Completion completion = Completion::after);

/// The first of those that complete earliest; `among` is not empty.
PLEXUS_API const InterclusterSchedule& earliest(const std::vector<InterclusterSchedule>& among,
                                                Completion completion = Completion::after) noexcept;

} // namespace plexus::eco
