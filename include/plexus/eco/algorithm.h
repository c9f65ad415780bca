// SPDX-License-Identifier: BSD-3-Clause
// What the user of a group may choose: the algorithm of its calls, the network on which its
// members sit, and how long a silent member is waited for. Values. Any thread.
#pragma once

#include "plexus/eco/intercluster.h"
#include "plexus/eco/map.h"
#include "plexus/eco/partition.h"
#include "plexus/eco/plan.h"
#include "plexus/eco/schedule_plan.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plexus::eco {

/// By which algorithm a call runs. All members must choose the same.
class Algorithm {
  public:
    enum class Kind : std::uint8_t {
        automatic,
        pattern,
        eco,
        models,
        memory,
        messages,
        multicast,
        levels,
        rule,
        schedule
    };

    /// Automatic. Blocking calls use shared memory if all members share it, and the hierarchical algorithm
    /// for small messages on several hosts. All other calls follow the map if there is one, or an algorithm
    /// chosen by size.
    Algorithm() = default;
    /// This one for every call. @error unsupported it does not support the operation (thrown by the call)
    Algorithm(const AlgorithmOptions& options) // NOLINT: implicit on purpose
      : kind_(Kind::pattern)
      , options_(options) {}
    Algorithm(Pattern pattern) // NOLINT: implicit on purpose
      : Algorithm(AlgorithmOptions{pattern}) {}
    /// The plan that follows the map. @error bad_argument the group has no map (thrown by the call)
    static Algorithm eco() { return Algorithm(Kind::eco); }

    /// The memory that all members on one host share. For blocking calls only.
    /// @error unsupported the members share no memory, the call returns a future, or it combines elements
    /// so large that one element of each member does not fit into 64 KiB (thrown by the call)
    static Algorithm memory() { return Algorithm(Kind::memory); }
    /// As Algorithm(), but never through shared memory.
    static Algorithm messages() { return Algorithm(Kind::messages); }
    /// By a pattern for each level of the members' network, the widest first: between sites, between
    /// clusters, between hosts, between the sockets of a host, inside a socket. As plan_by_level() with
    /// Network::levels() of the group's map; without a map the levels are the sockets of each host, the hosts
    /// and all. Of v forms not for all_to_all_v, and for gather_v and scatter_v only in blocking calls.
    /// @error bad_argument no pattern; otherwise as plan_by_level() (thrown by the call)
    static Algorithm by_level(std::vector<AlgorithmOptions> widest_first) {
        Algorithm algorithm(Kind::levels);
        algorithm.levels_ = std::make_shared<const std::vector<AlgorithmOptions>>(std::move(widest_first));
        return algorithm;
    }
    /// Between clusters by the schedule of a rule, which the map's costs give, and inside them by a pattern
    /// for each level, the widest first: as plan_by_rule(). For broadcasts and reductions.
    /// @error bad_argument the group has no map; otherwise as plan_by_rule() (thrown by the call)
    static Algorithm by_rule(ScheduleRule rule, std::vector<AlgorithmOptions> inside) {
        Algorithm algorithm = by_level(std::move(inside));
        algorithm.kind_ = Kind::rule;
        algorithm.rule_ = rule;
        return algorithm;
    }
    /// What the poly-model chooses for the group's map: between clusters a schedule or a pattern, inside each
    /// cluster the pattern that ends first under the model which describes it best. As plan_by_models(). For
    /// all operations but scans, which have a plan in a single cluster alone. Of v forms not for
    /// all_to_all_v, and for gather_v and scatter_v only in blocking calls.
    /// @error bad_argument the group has no map (thrown by the call)
    /// @error unsupported as plan_by_models() (thrown by the call)
    static Algorithm by_models() { return Algorithm(Kind::models); }
    /// By IP multicast, inside one subnet: the root sends each datagram once, and members that miss some ask
    /// it for them. For broadcasts of blocking calls only; the root returns when all members have the data.
    /// Chosen automatically only if eco.multicast is "auto" and it was faster when the group was made.
    /// @error unsupported another operation, a v form, a call with a future, or the members can't reach each
    /// other so: the text says why, such as eco.multicast, which is off (thrown by the call)
    static Algorithm multicast() { return Algorithm(Kind::multicast); }
    /// By this schedule of rounds: see Group::by(), by which members agree on one. For the operations and the
    /// root of to_plan() alone; v forms of a schedule in which nobody passes anything on (OAS, AAS) as well.
    /// @error as to_plan() (thrown by the call)
    PLEXUS_API static Algorithm by(std::shared_ptr<const GroupSchedule> schedule);

    Kind kind() const noexcept { return kind_; }
    bool follows_map() const noexcept { return kind_ == Kind::eco; }
    bool uses_models() const noexcept { return kind_ == Kind::models; }
    bool uses_memory() const noexcept { return kind_ == Kind::memory; }
    bool uses_messages() const noexcept { return kind_ == Kind::messages; }
    bool uses_multicast() const noexcept { return kind_ == Kind::multicast; }
    /// Null: by no schedule.
    const GroupSchedule* schedule() const noexcept { return schedule_.get(); }
    /// A hash of the schedule. 0: there is none.
    std::uint64_t schedule_number() const noexcept { return schedule_number_; }
    const std::optional<AlgorithmOptions>& options() const noexcept { return options_; }
    /// Nothing: by no rule.
    std::optional<ScheduleRule> rule() const noexcept { return rule_; }
    /// Null: not by level and by no rule.
    const std::vector<AlgorithmOptions>* levels() const noexcept { return levels_.get(); }

  private:
    explicit Algorithm(Kind kind)
      : kind_(kind) {}

    Kind kind_ = Kind::automatic;
    std::optional<AlgorithmOptions> options_;
    std::shared_ptr<const std::vector<AlgorithmOptions>> levels_;
    std::optional<ScheduleRule> rule_;
    std::shared_ptr<const GroupSchedule> schedule_;
    std::uint64_t schedule_number_ = 0;
};

/// Whether calls of the operation can go by it, in a group that has what it needs: a map, shared memory,
/// multicast.
/// @thread any
PLEXUS_API bool supports(const Algorithm& algorithm, Operation operation) noexcept;

/// "auto" (the default), "eco", "models", "memory", "messages", "multicast", "star", "tree:4" (of arity 4),
/// "binary", "binomial", "chain", "chain:64KiB" (in segments of 64 KiB; a size without spaces), "ring",
/// "butterfly", "bruck", "pairwise", "levels:chain:64KiB/binomial" (patterns of Algorithm::by_level(), the
/// widest level's first), "ecef_la/binomial" (a rule of kScheduleRules between clusters, and the patterns
/// inside them: see Algorithm::by_rule()). Returns nothing for any other text. @thread any
PLEXUS_API std::optional<Algorithm> parse_algorithm(std::string_view text);

struct GroupOptions {
    /// The measured network: a value, or the file that `plexus probe` wrote. All members must
    /// have the same. Between two hosts, the mean of both directions counts. Without either the network is
    /// unknown.
    std::shared_ptr<const Map> map = nullptr;
    std::string map_file = {};
    Tolerance tolerance = {}; ///< for the subnets of the map
    /// The name of this member's host in the map. Empty: the system's host name.
    std::string host = {};
    Algorithm algorithm = {}; ///< of every call that does not choose another
    /// A member is asked whether it lives after it has been waited for so long, and again after each such
    /// time. A lost member is therefore reported within this time plus the time that its method needs to
    /// notice the loss.
    std::chrono::milliseconds watch{100};
    /// Limit of the bytes that members may send to this one for calls that it has not begun yet.
    /// Exceeding it breaks the group: let members meet at a barrier from time to time.
    std::size_t ahead_bytes = std::size_t{256} << 20;
    /// The name of this member's socket, its processor package: members of one host with the same name share
    /// a socket. Up to 255 bytes, no line break. Empty: the number of the package to which all processors
    /// belong that the process's main thread may use. Where they belong to several packages the member is on
    /// no socket in particular, and all members of its host count as on one socket.
    /// @error bad_argument it is longer, or has a line break (thrown where the group is made)
    std::string socket = {};
};

} // namespace plexus::eco
