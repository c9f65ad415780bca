// SPDX-License-Identifier: BSD-3-Clause
#include "tools/probe/coordinator.h"

#include "tools/probe/acquisition.h"
#include "tools/probe/links.h"
#include "tools/probe/start_map.h"
#include "tools/probe/wires.h"
#include "tools/probe/without_polling.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

namespace plexus::tools::probe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kShortPatience{5};
constexpr Deadline kLostPatience = deadline(std::chrono::milliseconds(100));
constexpr std::size_t kMostRepeatRounds = 3;

std::string show_time(double seconds) {
    const auto whole = static_cast<long>(seconds + 0.5);
    if (whole < 100) return fmt::format("{} s", whole);
    if (whole < 100 * 60) return fmt::format("{} min", (whole + 30) / 60);
    return fmt::format("{:.1f} h", seconds / 3600);
}

/// Tells all stations to finish, however the probe ends.
class Dismissal {
  public:
    explicit Dismissal(const Members& members)
      : members_(members) {}
    ~Dismissal() {
        std::vector<std::future<void>> answers;
        const auto tell = [&](const GlobalPointer<Station>& station) {
            try {
                answers.push_back(without_polling(station.call(finish)));
            } catch (const Error&) {
                // The station is gone: its pairs were reported as missing, or the launcher reports the
                // process.
            }
        };
        for (const auto& station : members_.resting) tell(station);
        for (const Member& member : members_.measuring)
            if (!member.lost)
                tell(member.station);
            else // it may go on one day; nobody waits for it
                static_cast<void>(member.station.with(kLostPatience).try_send(finish));
        const auto deadline = Clock::now() + kShortPatience;
        for (auto& answer : answers) answer.wait_until(deadline);
    }
    Dismissal(const Dismissal&) = delete;
    Dismissal& operator=(const Dismissal&) = delete;

  private:
    const Members& members_;
};

class Coordinator {
  public:
    Coordinator(const ProbeOptions& options, Members& members, std::size_t contexts)
      : options_(options)
      , members_(members)
      , map_(start_map(options, members_))
      , saver_(options.file)
      , contexts_(contexts) {
        for (const Member& member : members_.measuring) place_.push_back(map_.index_of(member.name));
        save(map_, options.file); // a file that cannot be written is found before hours of work
    }

    Outcome run() {
        const auto start = Clock::now();
        std::vector<std::string> missing;
        std::vector<std::string> unconfirmed;
        const std::size_t measured = measure_passes(missing, unconfirmed);
        const std::size_t repeated = repeat_deciding_edges(unconfirmed);
        if (!options_.per_context) find_wires(unconfirmed);
        const std::size_t acquired = options_.models ? acquire_all() : 0;
        progress_.clear();
        saver_.now(map_);
        return {map_,
                partition(),
                acquired,
                contexts_,
                measured,
                repeated,
                std::move(missing),
                std::move(unconfirmed),
                std::chrono::duration<double>(Clock::now() - start).count()};
    }

  private:
    // Pairs are of places in members_.measuring.

    HostPair in_map(const HostPair& pair) const { return {place_[pair.a], place_[pair.b]}; }

    bool is_anew(const HostPair& pair) const {
        const auto is_refreshed = [&](std::size_t member) {
            return std::find(options_.refresh.begin(), options_.refresh.end(),
                             members_.measuring[member].name) != options_.refresh.end();
        };
        return !options_.continues() || is_refreshed(pair.a) || is_refreshed(pair.b);
    }

    /// How many passes the pair lacks.
    std::uint32_t passes_due(const HostPair& pair) const {
        if (is_anew(pair)) return options_.passes;
        if (!options_.resume) return 0;
        return options_.passes - std::min(options_.passes, passes_of(map_, in_map(pair)));
    }

    /// ECO's characterisation: all pairs, the whole of it several times, and the least is kept. What disturbs
    /// a pair for a while is over, or somewhere else, in another pass. Returns the number of pairs measured.
    std::size_t measure_passes(std::vector<std::string>& missing, std::vector<std::string>& unconfirmed) {
        const std::vector<Round> all = rounds_of(members_.measuring.size());
        std::map<HostPair, std::uint32_t> due;
        for (const Round& round : all)
            for (const HostPair& pair : round) due[pair] = passes_due(pair);
        std::map<HostPair, std::vector<std::string>> failed; // and why, in each pass
        for (std::uint32_t pass = 1; pass <= options_.passes; ++pass) {
            const std::string what =
                options_.passes == 1 ? "pairs" : fmt::format("pairs, pass {} of {}", pass, options_.passes);
            measure_all(only(all, [&](const HostPair& pair) { return due[pair] >= pass; }), what,
                        [&](const HostPair& pair, const std::vector<eco::Cost>& costs) {
                            keep(pair, costs, due[pair] < options_.passes);
                        });
            for (const auto& [pair, why] : missing_)
                failed[pair].push_back(
                    fmt::format("{} and {}, pass {}: {}", name(pair.a), name(pair.b), pass, why));
        }
        for (const auto& [pair, whys] : failed)
            if (passes_.contains(in_map(pair)) || due[pair] < options_.passes)
                unconfirmed.insert(unconfirmed.end(), whys.begin(), whys.end());
            else
                missing.push_back(whys.front()); // later ones may say no more than that a host is lost
        return passes_.size();
    }

    /// `goes_on`: the map has passes of an earlier probe, which count.
    void keep(const HostPair& pair, const std::vector<eco::Cost>& costs, bool goes_on) {
        const HostPair hosts = in_map(pair);
        std::vector<eco::Cost>& passes = passes_[hosts];
        if (passes.empty() && goes_on) passes.push_back(map_.cost(deciding_size(), hosts.a, hosts.b));
        for (std::size_t size = 0; size < costs.size(); ++size)
            map_.set_both(size, hosts.a, hosts.b,
                          passes.empty() ? costs[size]
                                         : least_of(map_.cost(size, hosts.a, hosts.b), costs[size]));
        passes.push_back(costs[deciding_size()]);
    }

    std::size_t deciding_size() const { return options_.cost ? map_.size_index(*options_.cost) : 0; }

    eco::CostMatrix deciding_costs() const {
        return map_.matrix(deciding_size(), eco::Statistic::min, eco::Symmetry::min);
    }

    eco::Partition partition() const { return eco::partition(deciding_costs(), options_.tolerance); }

    /// ECO's rule tolerates an edge that was measured too high, but not an edge that was measured too low.
    /// New costs may make other edges decide, so the search is repeated a few times. Of all passes
    /// and repeats the second least is kept: one that came out too low does not decide, nor do disturbances.
    std::size_t repeat_deciding_edges(std::vector<std::string>& unconfirmed) {
        std::set<HostPair> tried;
        std::set<HostPair> repeated;
        const std::size_t size = deciding_size();
        for (std::size_t again = 0; options_.confirm > 0 && again < kMostRepeatRounds; ++again) {
            std::set<HostPair> deciding;
            for (const HostPair& edge : edges_to_remeasure(deciding_costs(), options_.tolerance))
                if (!tried.contains(edge)) deciding.insert(edge);
            const auto rounds = only(rounds_of(members_.measuring.size()), [&](const HostPair& pair) {
                const HostPair hosts = in_map(pair);
                return deciding.contains({std::min(hosts.a, hosts.b), std::max(hosts.a, hosts.b)});
            });
            if (rounds.empty()) break;
            std::vector<Round> all;
            for (std::uint32_t times = 0; times < options_.confirm; ++times)
                all.insert(all.end(), rounds.begin(), rounds.end());
            std::map<HostPair, std::vector<eco::Cost>> repeats;
            measure_all(
                all, "repeats of edges that decide",
                [&](const HostPair& pair, const std::vector<eco::Cost>& costs) {
                    repeats[in_map(pair)].push_back(costs.front());
                },
                Sizes{map_.sizes_bytes()[size]});
            for (auto& [hosts, costs] : repeats) {
                const auto earlier = passes_.find(hosts);
                if (earlier == passes_.end())
                    costs.push_back(map_.cost(size, hosts.a, hosts.b));
                else
                    costs.insert(costs.end(), earlier->second.begin(), earlier->second.end());
                eco::Cost second = second_least_of(costs);
                second.passes = map_.cost(size, hosts.a, hosts.b).passes; // repeats are none
                map_.set_both(size, hosts.a, hosts.b, second);
                repeated.insert(hosts);
            }
            for (const auto& [pair, why] : missing_)
                unconfirmed.push_back(fmt::format("{} and {}, again: {}", name(pair.a), name(pair.b), why));
            tried.insert(deciding.begin(), deciding.end());
        }
        return repeated.size();
    }

    /// Finds out for every subnet with two hosts in the job whether the subnet is one wire.
    void find_wires(std::vector<std::string>& unconfirmed) {
        const eco::Partition subnets = partition();
        const auto judges = judges_of(subnets, answering(members_.measuring, place_));
        std::vector<std::optional<bool>> shared(subnets.size());
        for (std::size_t at = 0; at < subnets.size(); ++at) {
            if (!judges[at]) continue;
            const auto member = [&](std::size_t host) {
                return static_cast<std::size_t>(std::find(place_.begin(), place_.end(), host) -
                                                place_.begin());
            };
            const HostPair there{member(judges[at]->a), member(judges[at]->b)};
            shared[at] = is_wire(there);
            for (const auto& [pair, why] : missing_)
                unconfirmed.push_back(
                    fmt::format("whether {} and {} share a wire: {}", name(pair.a), name(pair.b), why));
        }
        map_.set_shared_wires(wires_of(map_, subnets, shared));
    }

    /// A subnet that looks like one wire is measured twice: another program may have disturbed the first
    /// measurement.
    std::optional<bool> is_wire(const HostPair& pair) {
        for (int look = 0; look < 2; ++look) {
            missing_.clear();
            std::vector<eco::Cost> costs;
            const auto keep = [&](const HostPair&, const std::vector<eco::Cost>& each) {
                costs.push_back(each.front());
            };
            const std::vector<Round> rounds{{pair}, {pair, {pair.b, pair.a}}};
            measure_once(rounds, "looks at subnets", keep, {kWireBytes}, kWireEffort);
            if (costs.size() < 3) return std::nullopt; // the reason is in missing_
            if (!is_one_wire(costs[0], costs[1], costs[2])) return false;
        }
        return true;
    }

    /// Returns how many models have parameters now.
    std::size_t acquire_all() {
        saver_.now(map_); // whatever happens now, the costs are there
        const eco::Partition subnets = partition();
        std::map<std::tuple<std::size_t, std::size_t, std::string>, bool> acquired;
        acquire_models(options_, members_, map_, subnets, answering(members_.measuring, place_), progress_,
                       [&](const std::vector<eco::AcquiredModel>& models) {
                           for (const eco::AcquiredModel& each : models)
                               acquired[{each.from, each.to, each.model}] = each.has_parameters();
                           keep_models(map_, subnets, models);
                           saver_.now(map_);
                       });
        return static_cast<std::size_t>(
            std::count_if(acquired.begin(), acquired.end(), [](const auto& each) { return each.second; }));
    }

    /// `sizes`: nothing means those of the map.
    template <class Keep>
    void measure_all(std::vector<Round> rounds, const std::string& what, Keep&& keep_costs,
                     const Sizes& sizes = {}) {
        if (!options_.parallel) rounds = one_by_one(rounds);
        missing_.clear();
        measure_once(rounds, what, keep_costs, sizes, options_.effort);
        // A station cannot tell which peer a reported loss belongs to, so a pair may fail because of another
        // pair.
        Round again;
        for (const auto& [pair, why] : missing_)
            if (!members_.measuring[pair.a].lost && !members_.measuring[pair.b].lost) again.push_back(pair);
        measure_once(one_by_one({again}), "pairs again", keep_costs, sizes, options_.effort);
    }

    template <class Keep>
    void measure_once(const std::vector<Round>& rounds, const std::string& what, Keep&& keep_costs,
                      const Sizes& sizes, const Effort& effort) {
        const auto start = Clock::now();
        std::size_t pairs = 0;
        for (const Round& round : rounds) pairs += round.size();
        std::size_t done = 0;
        for (const Round& round : rounds) {
            show(round, done, pairs, what, start);
            std::vector<std::optional<std::future<Readings>>> answers;
            for (const HostPair& pair : round) answers.push_back(order(pair, sizes, effort));
            const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                     std::chrono::duration<double>(options_.patience_s));
            for (std::size_t at = 0; at < round.size(); ++at)
                if (const auto costs = answer(round[at], answers[at], deadline)) {
                    missing_.erase(round[at]);
                    keep_costs(round[at], *costs);
                }
            done += round.size();
            saver_.maybe(map_);
        }
    }

    void show(const Round& round, std::size_t done, std::size_t pairs, const std::string& what,
              Clock::time_point start) {
        const double gone = std::chrono::duration<double>(Clock::now() - start).count();
        const double left =
            done == 0 ? 0 : gone / static_cast<double>(done) * static_cast<double>(pairs - done);
        progress_.show(fmt::format("{} of {} {}{}: {} and {}{}", done, pairs, what,
                                   done == 0 ? "" : ", " + show_time(left) + " left", name(round.front().a),
                                   name(round.front().b), round.size() > 1 ? ", and others" : ""));
    }

    const std::string& name(std::size_t member) const { return members_.measuring[member].name; }

    /// Nothing: one of the two is lost, which was reported.
    std::optional<std::future<Readings>> order(const HostPair& pair, const Sizes& sizes,
                                               const Effort& effort) {
        const Member& one = members_.measuring[pair.a];
        const Member& other = members_.measuring[pair.b];
        for (const Member* each : {&one, &other})
            if (each->lost) {
                miss(pair, each->name + " is lost");
                return {};
            }
        try {
            return without_polling(
                one.station.call(measure, other.station, sizes.empty() ? map_.sizes_bytes() : sizes, effort));
        } catch (const Error& error) {
            miss(pair, error.what());
            return {};
        }
    }

    std::optional<std::vector<eco::Cost>>
    answer(const HostPair& pair, std::optional<std::future<Readings>>& awaited, Clock::time_point deadline) {
        if (!awaited) return {};
        try {
            if (awaited->wait_until(deadline) != std::future_status::ready) {
                members_.measuring[pair.a].station.send(abandon);
                awaited->wait_for(short_patience());
                throw Error(Status::timed_out,
                            fmt::format("no answer within {:g} s (--patience)", options_.patience_s));
            }
            return costs_of(awaited->get());
        } catch (const Error& error) {
            for (const std::size_t each : {pair.a, pair.b}) look_after(members_.measuring[each]);
            miss(pair, error.what());
            return {};
        }
    }

    std::chrono::duration<double> short_patience() const {
        return std::min(std::chrono::duration<double>(options_.patience_s),
                        std::chrono::duration<double>(kShortPatience));
    }

    /// A measurement failed: finds out whether the member still answers.
    void look_after(Member& member) {
        if (member.lost) return;
        try {
            auto answer = without_polling(member.station.call(identify));
            member.lost = answer.wait_for(short_patience()) != std::future_status::ready;
            if (!member.lost) answer.get();
        } catch (const Error&) { member.lost = true; }
    }

    std::vector<eco::Cost> costs_of(const Readings& readings) const {
        const auto& methods = map_.methods();
        const auto found = std::find(methods.begin(), methods.end(), readings.method);
        const auto method = found == methods.end() ? eco::Cost::kNoMethod
                                                   : static_cast<std::uint16_t>(found - methods.begin());
        std::vector<eco::Cost> costs;
        for (const std::vector<double>& samples : readings.samples_us)
            costs.push_back(rounded(eco::cost_of(samples, method)));
        return costs;
    }

    void miss(const HostPair& pair, const std::string& why) { missing_[pair] = why; }

    const ProbeOptions& options_;
    Members& members_;
    eco::Map map_;
    Saver saver_;
    std::size_t contexts_;
    std::vector<std::size_t> place_;                    // of each member in the map
    std::map<HostPair, std::string> missing_;           // and why
    std::map<HostPair, std::vector<eco::Cost>> passes_; // of the deciding size; of places in the map
    benchmark::Progress progress_{0};
};

} // namespace

Outcome coordinate(Context& here, const ProbeOptions& options) {
    Members members = meet_all(here, options.per_context);
    const Dismissal dismissal(members);
    return Coordinator(options, members, here.size()).run();
}

} // namespace plexus::tools::probe
