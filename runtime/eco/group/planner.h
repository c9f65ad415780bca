// SPDX-License-Identifier: BSD-3-Clause
// Which plan a group's call follows: as the caller says, as the map says, or by size. Plans are
// kept by classes of sizes, schedules by sizes. Any thread; it has a lock of its own, under
// which nothing of others runs.
#pragma once

#include "base/mutex.h"
#include "group/execution.h"
#include "plexus/eco/algorithm.h"
#include "plexus/eco/levels.h"
#include "plexus/eco/network.h"

#include <atomic>
#include <map>
#include <optional>

namespace plexus::eco::detail {

class Hierarchy;

/// True: the caller leaves every choice of the algorithm open.
bool is_free(const Algorithm& algorithm);

/// Sizes for which multicast is measured: class i is 1 KiB << 2 i. Nothing: it is too small to be measured.
inline constexpr std::uint32_t kMulticastClasses = 6;
std::optional<std::uint32_t> multicast_class(std::uint64_t bytes);

/// The call of the same kind with the least size that has the same plan.
PlanRequest class_of(PlanRequest request);

/// A map, and where the members are on it.
struct MapOfMembers {
    std::shared_ptr<const Map> map;
    std::vector<std::size_t> host_of; ///< for each member, a place in map->hosts()
    Tolerance tolerance;
};

class Planner {
  public:
    Planner(Rank members, Rank me)
      : members_(members)
      , me_(me) {}

    /// Whether all members are on one host, and the levels that they have without a map. Once, before any
    /// call except those that gather their hosts.
    void learn_hosts(bool one_host, Levels levels) PLEXUS_EXCLUDES(mutex_);
    /// `network` is that of the map. `map_number` is the same where the map is. `epoch`: of a refined map.
    void learn_map(MapOfMembers map, Network network, std::uint64_t map_number, std::uint32_t epoch)
        PLEXUS_EXCLUDES(mutex_);
    /// Of the map that plans follow now.
    std::uint32_t epoch() const noexcept { return epoch_.load(std::memory_order_relaxed); }

    /// Messages above this leave in pieces of about this size, the same on all members.
    std::size_t piece_bytes() const noexcept { return one_host_ ? kNearPiece : kFarPiece; }

    /// All members share memory.
    void learn_memory() noexcept { memory_ = true; }
    /// Broadcasts can go by multicast, and were measured to be faster so in these classes of sizes: bit i
    /// stands for multicast_class() i.
    void learn_multicast(std::uint32_t faster) noexcept { multicast_ = faster; }
    /// They can't, for this reason.
    void refuse_multicast(std::string why) { no_multicast_ = std::move(why); }
    /// By the map, if there is one: no two hosts of members are further from each other than the tolerance
    /// permits inside a subnet.
    bool one_subnet(Tolerance tolerance) const PLEXUS_EXCLUDES(mutex_);

    /// Members on one host do, on each of them.
    void learn_hierarchy(const Hierarchy& hierarchy) noexcept { hierarchy_ = &hierarchy; }

    /// `blocking`: a thread waits in the call. @error as Collectives (thrown)
    std::shared_ptr<const PlannedCall> prepare(const CollectiveArgs& args, const Algorithm& algorithm,
                                               bool blocking, Lengths lengths = Lengths::of_root);
    /// By the map, if there is one.
    std::optional<double> latency_us(Rank a, Rank b) const {
        const Lock hold(mutex_);
        return network_ ? std::optional(network_->latency_us(a, b)) : std::nullopt;
    }
    /// What a call follows, with the lengths of this task.
    Plan plan_of(const PlanRequest& request, const Algorithm& algorithm) const;

  private:
    /// The receiver takes one in while the next is on its way, from memory still in the cache.
    static constexpr std::size_t kNearPiece = std::size_t{128} << 10;
    /// Between hosts a request of more than 64 KiB is over only when the far side has confirmed
    /// it: pieces that are smaller follow each other without waiting for that.
    static constexpr std::size_t kFarPiece = std::size_t{60} << 10;

    struct Key {
        Operation operation;
        Rank root;
        std::uint32_t element_bytes;
        std::uint64_t elements;
        std::uint64_t algorithm;
        bool commutative;
        bool in_place; ///< one span for both
        bool apart;    ///< there is a span for what is sent
        bool memory;
        bool hierarchical;
        bool multicast;
        auto operator<=>(const Key&) const = default;
    };
    Plan make(const PlanRequest& request, const Algorithm& algorithm) const PLEXUS_REQUIRES(mutex_);
    std::shared_ptr<const MemberPlan> plan_for(PlanRequest request, const Algorithm& algorithm, bool direct);
    Plan direct_plan(const PlanRequest& request, const Algorithm& algorithm) const PLEXUS_REQUIRES(mutex_);
    std::shared_ptr<const PlannedCall> prepare_telling(const CollectiveArgs& args, const Signature& whole);
    AlgorithmOptions options_for(const PlanRequest& request) const;
    bool goes_through_memory(const CollectiveArgs& args, const Algorithm& algorithm, bool blocking) const;
    bool goes_by_multicast(const CollectiveArgs& args, const Algorithm& algorithm, bool blocking) const;

    const Rank members_;
    const Rank me_;
    bool one_host_ = false;                  ///< see learn_hosts()
    bool memory_ = false;                    ///< before the first call that may use it
    const Hierarchy* hierarchy_ = nullptr;   ///< ditto
    std::optional<std::uint32_t> multicast_; ///< ditto; nothing: it can't be used, see no_multicast_
    std::string no_multicast_;

    mutable RankedMutex<10> mutex_;
    MapOfMembers map_ PLEXUS_GUARDED_BY(mutex_); // null without a network
    std::optional<Network> network_ PLEXUS_GUARDED_BY(mutex_);
    Levels levels_ PLEXUS_GUARDED_BY(mutex_); // without a map
    std::uint64_t map_number_ PLEXUS_GUARDED_BY(mutex_) = 0;
    std::atomic<std::uint32_t> epoch_{0}; // changes under mutex_; a reader does not wait for a plan
    std::map<Key, std::shared_ptr<const MemberPlan>> plans_ PLEXUS_GUARDED_BY(mutex_); // by class of size
    std::map<Key, std::shared_ptr<const PlannedCall>> schedules_ PLEXUS_GUARDED_BY(mutex_);
};

} // namespace plexus::eco::detail
