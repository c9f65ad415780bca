// SPDX-License-Identifier: BSD-3-Clause
#include "tools/probe/schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

namespace plexus::tools::probe {
namespace {

constexpr double eco::Cost::*kNumbers[] = {&eco::Cost::min_us, &eco::Cost::p25_us, &eco::Cost::median_us,
                                           &eco::Cost::p75_us, &eco::Cost::p95_us};

void add_missing(std::vector<std::string>& list, const std::vector<std::string>& names) {
    for (const std::string& name : names)
        if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
}

} // namespace

std::vector<Round> rounds_of(std::size_t hosts) {
    std::vector<Round> rounds;
    if (hosts < 2) return rounds;
    // The last seat stays, the others move round by one; with an odd number it is empty.
    const std::size_t seats = hosts + hosts % 2;
    const std::size_t moving = seats - 1;
    for (std::size_t turn = 0; turn < moving; ++turn) {
        Round round;
        for (std::size_t place = 0; place < seats / 2; ++place) {
            const std::size_t one = place == 0 ? moving : (turn + place) % moving;
            const std::size_t other = (turn + moving - place) % moving;
            if (std::max(one, other) < hosts) round.push_back({std::min(one, other), std::max(one, other)});
        }
        std::sort(round.begin(), round.end());
        rounds.push_back(std::move(round));
    }
    return rounds;
}

std::vector<Round> one_by_one(const std::vector<Round>& rounds) {
    std::vector<Round> out;
    for (const Round& round : rounds)
        for (const HostPair& pair : round) out.push_back({pair});
    return out;
}

std::uint32_t passes_of(const eco::Map& map, const HostPair& pair) {
    std::uint32_t out = std::numeric_limits<std::uint32_t>::max();
    for (std::size_t size = 0; size < map.sizes_bytes().size(); ++size)
        for (const eco::Cost* cost : {&map.cost(size, pair.a, pair.b), &map.cost(size, pair.b, pair.a)})
            out = std::min(out, cost->measured() ? cost->passes : 0);
    return out;
}

eco::Map extended(const eco::Map& old, const std::vector<std::string>& hosts,
                  const std::vector<std::string>& methods, std::string date) {
    std::vector<std::string> all_hosts = old.hosts();
    std::vector<std::string> all_methods = old.methods();
    add_missing(all_hosts, hosts);
    add_missing(all_methods, methods);
    eco::Map map(std::move(all_hosts), std::move(all_methods), old.sizes_bytes(), std::move(date));
    for (std::size_t size = 0; size < old.sizes_bytes().size(); ++size)
        for (std::size_t from = 0; from < old.hosts().size(); ++from)
            for (std::size_t to = 0; to < old.hosts().size(); ++to)
                if (from != to) map.set(size, from, to, old.cost(size, from, to));
    map.set_shared_wires(old.shared_wires());
    map.set_acquired(old.acquired());
    return map;
}

void keep_models(eco::Map& map, const eco::Partition& subnets, const std::vector<eco::AcquiredModel>& fresh) {
    std::vector<std::size_t> subnet_of(map.hosts().size());
    for (std::size_t at = 0; at < subnets.size(); ++at)
        for (const std::size_t host : subnets[at]) subnet_of[host] = at;
    using Key = std::tuple<std::size_t, std::size_t, std::string>;
    const auto key = [&](const eco::AcquiredModel& each) -> Key {
        const auto [low, high] = std::minmax(subnet_of[each.from], subnet_of[each.to]);
        return {low, high, each.model};
    };
    std::set<Key> had;
    for (const eco::AcquiredModel& each : map.acquired())
        if (each.has_parameters()) had.insert(key(each));
    std::set<Key> replaced;
    std::vector<eco::AcquiredModel> kept;
    for (const eco::AcquiredModel& each : fresh) {
        if (!each.has_parameters() && had.contains(key(each))) continue;
        replaced.insert(key(each));
        kept.push_back(each);
    }
    for (const eco::AcquiredModel& each : map.acquired())
        if (!replaced.contains(key(each))) kept.push_back(each);
    map.set_acquired(std::move(kept));
}

eco::Cost rounded(eco::Cost cost) {
    constexpr double kSteps = 1e4; // of a microsecond
    for (const auto number : kNumbers) cost.*number = std::round(cost.*number * kSteps) / kSteps;
    return cost;
}

eco::Cost least_of(const eco::Cost& one, const eco::Cost& other) {
    eco::Cost out = other.min_us < one.min_us ? other : one;
    out.samples = one.samples + other.samples;
    out.passes = one.passes + other.passes;
    // The lesser ones of numbers that rise in both rise as well.
    for (const auto number : kNumbers) out.*number = std::min(one.*number, other.*number);
    return out;
}

eco::Cost second_least_of(std::span<const eco::Cost> repeats) {
    eco::Cost out = repeats.back();
    out.samples = 0;
    for (const eco::Cost& each : repeats) out.samples += each.samples;
    // What is second of numbers that rise in every repeat rises as well.
    const std::size_t place = std::min<std::size_t>(repeats.size(), 2) - 1;
    for (const auto number : kNumbers) {
        std::vector<double> values;
        for (const eco::Cost& each : repeats) values.push_back(each.*number);
        std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(place), values.end());
        out.*number = values[place];
    }
    return rounded(out);
}

} // namespace plexus::tools::probe
