// SPDX-License-Identifier: BSD-3-Clause
#include "model/drift.h"

#include "topology/refuse.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace plexus::eco {
namespace {

constexpr std::size_t kEdgesPerHost = 4;
constexpr std::uint32_t kLatestCheck = 256; // times AdaptOptions::every

using Place = std::size_t;
using Edge = std::pair<Place, Place>; // the lower place first

Edge edge(Place one, Place other) { return {std::min(one, other), std::max(one, other)}; }

std::vector<std::size_t> groups_of(const Partition& partition, std::size_t count) {
    std::vector<std::size_t> group(count, partition.size());
    for (std::size_t each = 0; each < partition.size(); ++each)
        for (const std::size_t one : partition[each]) group[one] = each;
    return group;
}

/// The first member on the host of each member: its host's name among members.
std::vector<Rank> hosts_of(const Network& network) {
    std::vector<Rank> first(network.size());
    for (Rank member = 0; member < network.size(); ++member) {
        first[member] = member;
        for (Rank before = 0; before < member; ++before)
            if (network.same_host(before, member)) {
                first[member] = before;
                break;
            }
    }
    return first;
}

struct ChangedCost {
    Edge pair;
    std::size_t size;
    double was_us;
    double is_us;
};

/// Of each pair the largest size that differs by drift, or the smallest; the greatest change first.
std::vector<ChangedCost> changed_costs(const Map& before, const Map& after, const AdaptOptions& options) {
    const std::size_t largest = before.sizes_bytes().size() - 1;
    std::vector<ChangedCost> out;
    for (Place a = 0; a < before.hosts().size(); ++a)
        for (Place b = a + 1; b < before.hosts().size(); ++b)
            for (const std::size_t size : {largest, std::size_t{0}}) {
                const double was = before.cost(size, a, b).min_us;
                const double is = after.cost(size, a, b).min_us;
                if (drift_of(was, is, options) == Drift::none) continue;
                out.push_back({{a, b}, size, was, is});
                break;
            }
    const auto change = [](const ChangedCost& each) {
        return std::abs(std::log(std::max(each.is_us, 1e-9) / std::max(each.was_us, 1e-9)));
    };
    std::stable_sort(out.begin(), out.end(), [&](const ChangedCost& one, const ChangedCost& other) {
        return change(one) > change(other);
    });
    return out;
}

/// What follows others: the change of each size as a ratio, the least of all that were added.
class LeastChange {
  public:
    LeastChange(Drift way, std::size_t sizes)
      : way_(way)
      , ratios_(sizes, way == Drift::slower ? std::numeric_limits<double>::infinity() : 0.0) {}
    void add(std::size_t size, double ratio) {
        ratios_[size] = way_ == Drift::slower ? std::min(ratios_[size], std::max(1.0, ratio))
                                              : std::max(ratios_[size], std::min(1.0, ratio));
    }
    double ratio(std::size_t size) const { return ratios_[size]; }

  private:
    Drift way_;
    std::vector<double> ratios_;
};

class Refinement {
  public:
    Refinement(const Map& map, std::span<const MeasuredEdge> edges, std::uint64_t large_bytes,
               const Partition& closest)
      : map_(map)
      , edges_(edges)
      , large_bytes_(static_cast<double>(large_bytes))
      , group_(groups_of(closest, map.hosts().size())) {}

    std::vector<CostChange> changes() {
        for (const MeasuredEdge& each : edges_)
            if (each.drifted()) set_measured(each);
        for (const Drift way : {Drift::slower, Drift::faster}) {
            follow_groups(way);
            follow_hosts(way);
        }
        std::vector<CostChange> out;
        for (const auto& [where, us] : costs_) {
            const auto& [size, pair] = where;
            out.push_back({static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(pair.first),
                           static_cast<std::uint32_t>(pair.second), us});
        }
        return out;
    }

  private:
    static bool goes(const MeasuredEdge& each, Drift way) {
        const Drift decides = each.large_drift != Drift::none ? each.large_drift : each.small_drift;
        return decides == way;
    }

    double mean_us(std::size_t size, Edge pair) const {
        const Cost& there = map_.cost(size, pair.first, pair.second);
        const Cost& back = map_.cost(size, pair.second, pair.first);
        if (!there.measured()) return back.measured() ? back.min_us : 0;
        return back.measured() ? (there.min_us + back.min_us) / 2 : there.min_us;
    }

    /// A latency and a time for each byte, as two sizes show them. What of these has not drifted stays: the
    /// groups of close hosts hang on small differences of latencies, and the difference of two latencies is
    /// no time of bytes.
    void set_measured(const MeasuredEdge& each) {
        const std::vector<std::uint64_t>& sizes = map_.sizes_bytes();
        const Edge pair = edge(each.one, each.other);
        const double per_byte =
            std::max(0.0, each.large_us - each.small_us) / std::max(1.0, large_bytes_ - 1);
        for (std::size_t size = 0; size < sizes.size(); ++size) {
            const double bytes = std::max(0.0, static_cast<double>(sizes[size]) - 1);
            const double before = mean_us(size, pair);
            const bool is_small = bytes * per_byte < each.small_us;
            if (is_small && each.small_drift == Drift::none && before > 0) continue;
            const double of_bytes = each.bytes_drift == Drift::none && before > 0
                                        ? std::max(0.0, before - mean_us(0, pair))
                                        : bytes * per_byte;
            costs_[{size, pair}] = each.small_us + of_bytes;
        }
    }

    void follow_groups(Drift way) {
        std::map<Edge, std::vector<const MeasuredEdge*>> between;
        for (const MeasuredEdge& each : edges_)
            if (group_[each.one] != group_[each.other])
                between[edge(group_[each.one], group_[each.other])].push_back(&each);
        for (const auto& [groups, measured] : between) {
            if (!all_go(measured, way)) continue;
            const LeastChange least = least_of(measured, way);
            for (Place a = 0; a < group_.size(); ++a)
                for (Place b = a + 1; b < group_.size(); ++b)
                    if (edge(group_[a], group_[b]) == groups) follow({a, b}, least);
        }
    }

    void follow_hosts(Drift way) {
        std::map<Place, std::vector<const MeasuredEdge*>> at;
        for (const MeasuredEdge& each : edges_) {
            at[each.one].push_back(&each);
            at[each.other].push_back(&each);
        }
        for (const auto& [host, measured] : at) {
            if (measured.size() < 2 || !all_go(measured, way)) continue;
            const LeastChange least = least_of(measured, way);
            for (Place other = 0; other < group_.size(); ++other)
                if (other != host) follow(edge(host, other), least);
        }
    }

    static bool all_go(const std::vector<const MeasuredEdge*>& measured, Drift way) {
        return std::all_of(measured.begin(), measured.end(),
                           [&](const MeasuredEdge* each) { return goes(*each, way); });
    }

    LeastChange least_of(const std::vector<const MeasuredEdge*>& measured, Drift way) const {
        LeastChange least(way, map_.sizes_bytes().size());
        for (const MeasuredEdge* const each : measured)
            for (std::size_t size = 0; size < map_.sizes_bytes().size(); ++size) {
                const Edge pair = edge(each->one, each->other);
                const auto found = costs_.find({size, pair});
                const double before = mean_us(size, pair);
                least.add(size, found == costs_.end() || before <= 0 ? 1.0 : found->second / before);
            }
        return least;
    }

    void follow(Edge pair, const LeastChange& least) {
        for (const MeasuredEdge& each : edges_)
            if (edge(each.one, each.other) == pair) return;
        for (std::size_t size = 0; size < map_.sizes_bytes().size(); ++size) {
            const double before = mean_us(size, pair);
            const double ratio = least.ratio(size);
            if (before <= 0 || ratio == 1.0 || !std::isfinite(ratio)) continue;
            costs_[{size, pair}] = before * ratio;
        }
    }

    const Map& map_;
    const std::span<const MeasuredEdge> edges_;
    const double large_bytes_;
    const std::vector<std::size_t> group_;
    std::map<std::pair<std::size_t, Edge>, double> costs_;
};

} // namespace

Drift drift_of(double expected_us, double measured_us, const AdaptOptions& options) noexcept {
    if (!std::isfinite(expected_us) || !std::isfinite(measured_us)) return Drift::none;
    if (std::abs(measured_us - expected_us) <= options.least_us) return Drift::none;
    if (measured_us > options.drift * expected_us) return Drift::slower;
    return measured_us * options.drift < expected_us ? Drift::faster : Drift::none;
}

std::vector<MemberPair> edges_of(const Plan& plan, const Network& network) {
    struct EdgeLoad {
        std::uint64_t bytes = 0;
        MemberPair members{};
    };
    const std::vector<Rank> host = hosts_of(network);
    std::map<Edge, EdgeLoad> loads;
    for (const Message& each : plan.messages) {
        if (host[each.from] == host[each.to]) continue;
        const auto [found, fresh] = loads.try_emplace(edge(host[each.from], host[each.to]));
        if (fresh) found->second.members = {each.from, each.to};
        found->second.bytes += plan.bytes_of(each);
    }
    std::vector<EdgeLoad> sorted;
    for (const auto& [hosts, load] : loads) sorted.push_back(load);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const EdgeLoad& one, const EdgeLoad& other) { return one.bytes > other.bytes; });
    const std::set<Rank> all(host.begin(), host.end());
    sorted.resize(std::min(sorted.size(), kEdgesPerHost * all.size()));
    std::vector<MemberPair> out;
    for (const EdgeLoad& each : sorted) out.push_back(each.members);
    return out;
}

void add_edges(std::vector<MemberPair>& edges, std::span<const MemberPair> more, const Network& network) {
    const std::vector<Rank> host = hosts_of(network);
    std::set<Edge> have;
    for (const MemberPair& each : edges) have.insert(edge(host[each.from], host[each.to]));
    for (const MemberPair& each : more)
        if (have.insert(edge(host[each.from], host[each.to])).second) edges.push_back(each);
}

std::vector<MemberPair> edges_beside(std::span<const MemberPair> drifted, std::span<const MemberPair> known,
                                     const Network& network, const Partition& closest) {
    const std::vector<Rank> host = hosts_of(network);
    const std::vector<std::size_t> group = groups_of(closest, network.size());
    std::set<Edge> have;
    for (const MemberPair& each : known) have.insert(edge(host[each.from], host[each.to]));
    std::vector<MemberPair> out;
    const auto add = [&](Rank from, Rank to) {
        if (have.insert(edge(host[from], host[to])).second) out.push_back({from, to});
    };
    // Another host, of the same group where there is one.
    const auto other_than = [&](Rank one, Rank peer, bool same_group) -> Rank {
        Rank found = network.size();
        for (Rank each = 0; each < network.size(); ++each) {
            if (host[each] == host[one] || host[each] == host[peer]) continue;
            if (group[each] == group[one]) return each;
            if (!same_group && found == network.size()) found = each;
        }
        return found;
    };
    for (const MemberPair& each : drifted) {
        if (group[each.from] != group[each.to]) {
            const Rank from = other_than(each.from, each.to, true);
            const Rank to = other_than(each.to, each.from, true);
            if (from < network.size() && to < network.size()) add(from, to);
        }
        for (const auto& [one, peer] : {std::pair(each.from, each.to), std::pair(each.to, each.from)})
            if (const Rank third = other_than(one, peer, false); third < network.size()) add(one, third);
    }
    return out;
}

std::vector<ProbeRound> rounds_of(std::span<const MemberPair> edges, const Network& network,
                                  const Partition& closest) {
    struct Busy {
        std::set<Rank> hosts;
        std::set<std::size_t> groups;
        std::set<std::uint32_t> wires;
    };
    const std::vector<Rank> host = hosts_of(network);
    const std::vector<std::size_t> group = groups_of(closest, network.size());
    std::vector<ProbeRound> rounds;
    std::vector<Busy> busy;
    for (const MemberPair& each : edges) {
        Busy needs{{host[each.from], host[each.to]}, {}, {}};
        if (group[each.from] != group[each.to]) needs.groups = {group[each.from], group[each.to]};
        for (const Rank end : {each.from, each.to})
            if (const auto wire = network.shared_wire_of(end)) needs.wires.insert(wire->number);
        const auto meet = [](const auto& one, const auto& other) {
            return std::any_of(one.begin(), one.end(), [&](auto what) { return other.contains(what); });
        };
        std::size_t round = 0;
        while (round < rounds.size() &&
               (meet(needs.hosts, busy[round].hosts) || meet(needs.groups, busy[round].groups) ||
                meet(needs.wires, busy[round].wires)))
            ++round;
        if (round == rounds.size()) {
            rounds.emplace_back();
            busy.emplace_back();
        }
        rounds[round].push_back(each);
        busy[round].hosts.merge(needs.hosts);
        busy[round].groups.merge(needs.groups);
        busy[round].wires.merge(needs.wires);
    }
    return rounds;
}

MeasuredEdge compared(MemberPair pair, double small_us, double large_us, std::uint64_t large_bytes,
                      const Network& network, std::span<const std::size_t> places,
                      const AdaptOptions& options) {
    const double latency = network.latency_us(pair.from, pair.to);
    const double per_byte = network.us_per_byte(pair.from, pair.to);
    MeasuredEdge out{places[pair.from], places[pair.to], small_us, std::max(small_us, large_us)};
    out.small_drift = drift_of(latency + per_byte, out.small_us, options);
    out.large_drift = drift_of(latency + per_byte * static_cast<double>(large_bytes), out.large_us, options);
    // Two parts that have drifted by less each may drift together.
    out.bytes_drift = out.small_drift == Drift::none
                          ? out.large_drift
                          : drift_of(per_byte * (static_cast<double>(large_bytes) - 1),
                                     out.large_us - out.small_us, options);
    return out;
}

std::vector<CostChange> refine(const Map& map, std::span<const MeasuredEdge> edges, std::uint64_t large_bytes,
                               const Partition& closest) {
    return Refinement(map, edges, large_bytes, closest).changes();
}

Map with_changes(const Map& map, std::span<const CostChange> changes) {
    Map out = map;
    std::set<Edge> changed;
    for (const CostChange& each : changes) {
        if (each.size >= map.sizes_bytes().size())
            refuse(Status::bad_argument, "a change of size {} in a map of {}", each.size,
                   map.sizes_bytes().size());
        out.set_both(each.size, each.one, each.other,
                     {each.us, each.us, each.us, each.us, each.us, 1, Cost::kNoMethod});
        changed.insert(edge(each.one, each.other));
    }
    std::vector<AcquiredModel> acquired = map.acquired();
    std::erase_if(acquired,
                  [&](const AcquiredModel& each) { return changed.contains(edge(each.from, each.to)); });
    out.set_acquired(std::move(acquired));
    return out;
}

std::vector<DriftedEdge> drifted_edges(const Map& before, const Map& after, const AdaptOptions& options) {
    std::vector<DriftedEdge> out;
    for (const ChangedCost& each : changed_costs(before, after, options))
        out.push_back({before.hosts()[each.pair.first], before.hosts()[each.pair.second],
                       before.sizes_bytes()[each.size], each.was_us, each.is_us});
    return out;
}

std::vector<MemberPair> changed_edges(const Map& before, const Map& after,
                                      std::span<const std::size_t> places, const AdaptOptions& options,
                                      std::size_t most) {
    std::vector<MemberPair> out;
    for (const ChangedCost& each : changed_costs(before, after, options)) {
        if (out.size() == most) break;
        const auto one = std::find(places.begin(), places.end(), each.pair.first);
        const auto other = std::find(places.begin(), places.end(), each.pair.second);
        if (one != places.end() && other != places.end())
            out.push_back(
                {static_cast<Rank>(one - places.begin()), static_cast<Rank>(other - places.begin())});
    }
    return out;
}

std::vector<std::string> slow_hosts(const Map& before, const Map& after, const AdaptOptions& options) {
    const std::size_t hosts = before.hosts().size();
    const auto is_slower = [&](Place a, Place b) {
        for (const std::size_t size : {before.sizes_bytes().size() - 1, std::size_t{0}})
            if (drift_of(before.cost(size, a, b).min_us, after.cost(size, a, b).min_us, options) ==
                Drift::slower)
                return true;
        return false;
    };
    std::vector<std::string> out;
    for (Place host = 0; host < hosts && hosts > 2; ++host) {
        bool all = true;
        for (Place other = 0; other < hosts && all; ++other)
            all = other == host || is_slower(std::min(host, other), std::max(host, other));
        if (all) out.push_back(before.hosts()[host]);
    }
    return out;
}

std::uint32_t calls_until_check(double check_us, double call_us, const AdaptOptions& options) noexcept {
    const double least = options.every;
    const double most = std::min(least * kLatestCheck, double{UINT32_MAX});
    const double wanted = check_us / std::max(options.share * call_us, 1e-9);
    return static_cast<std::uint32_t>(std::isfinite(wanted) ? std::clamp(std::ceil(wanted), least, most)
                                                            : most);
}

std::string to_text(const AdaptReport& report) {
    const auto time = [](double us) {
        return us < 1000 ? fmt::format("{:.3g} us", us) : fmt::format("{:.3g} ms", us / 1000);
    };
    std::string out;
    for (const std::string& host : report.slow_hosts)
        out += fmt::format("{} is slower than the map says, to all other hosts\n", host);
    for (const DriftedEdge& each : report.drifted)
        out += fmt::format("messages of {} bytes between {} and {} take {:.3g} times as long as the map says "
                           "({} in place of {})\n",
                           each.bytes, each.one, each.other, each.now_us / std::max(each.map_us, 1e-9),
                           time(each.now_us), time(each.map_us));
    return out;
}

} // namespace plexus::eco
