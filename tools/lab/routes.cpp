// SPDX-License-Identifier: BSD-3-Clause
#include "tools/lab/routes.h"

#include <fmt/format.h>
#include <limits>
#include <queue>
#include <tuple>

namespace plexus::tools::lab {

Routes::Routes(const Network& network)
  : hosts_(network.hosts.size()) {
    add_places(network);
    add_links(network);
    add_routes(network);
}

std::uint32_t Routes::add_pipe(Pipe pipe) {
    pipes_.push_back(std::move(pipe));
    return static_cast<std::uint32_t>(pipes_.size() - 1);
}

void Routes::add_places(const Network& network) {
    for (const Place& place : network.places) {
        Part part{place.name, {}, {}};
        place_pipe_.push_back(0);
        if (place.kind != Place::Kind::switched) {
            place_pipe_.back() = add_pipe({place.name, "", "", place.speed, 0});
            part.pipes.push_back(place_pipe_.back());
        }
        parts_.push_back(std::move(part));
    }
    for (std::uint32_t i = 0; i < network.hosts.size(); ++i) {
        const Host& host = network.hosts[i];
        const Place& place = network.places[host.place];
        Part part{host.name, {}, {i}};
        if (place.kind == Place::Kind::shared) {
            Pipe& wire = pipes_[place_pipe_[host.place]];
            entries_.push_back({place_pipe_[host.place], wire.stations++});
            exits_.emplace_back();
        } else {
            Speed half = place.speed;
            half.delay /= 2;
            part.pipes.push_back(add_pipe({host.name, host.name, place.name, half, 1}));
            entries_.push_back({part.pipes.back(), 0});
            half.delay = place.speed.delay - half.delay;
            part.pipes.push_back(add_pipe({host.name, place.name, host.name, half, 1}));
            exits_.push_back({{part.pipes.back(), 0}});
            auto& all = parts_[host.place].pipes;
            all.insert(all.end(), part.pipes.begin(), part.pipes.end());
        }
        parts_[host.place].hosts.push_back(i);
        parts_.push_back(std::move(part));
    }
}

/// A link's own pipe, then that of the place it leads to, where it is a station.
void Routes::add_links(const Network& network) {
    crossings_.resize(network.places.size());
    for (std::size_t i = 0; i < network.links.size(); ++i) {
        const Link& link = network.links[i];
        Part part{link.name, {}, {}};
        const std::pair<std::size_t, std::size_t> directions[] = {{link.a, link.b}, {link.b, link.a}};
        for (const auto& [from, to] : directions) {
            Crossing crossing{i, to, {}};
            if (!link.is_port && link.half_duplex && !part.pipes.empty()) {
                crossing.hops.push_back({part.pipes.front(), 1});
            } else if (!link.is_port) {
                const bool half = link.half_duplex;
                part.pipes.push_back(
                    add_pipe({link.name, half ? "" : network.places[from].name,
                              half ? "" : network.places[to].name, link.speed, half ? 2U : 1U}));
                crossing.hops.push_back({part.pipes.back(), 0});
            }
            if (network.places[to].kind != Place::Kind::switched)
                crossing.hops.push_back({place_pipe_[to], pipes_[place_pipe_[to]].stations++});
            crossings_[from].push_back(std::move(crossing));
        }
        if (!link.is_port) parts_.push_back(std::move(part));
    }
}

/// To each place from `start`, where a frame is already; nothing where none leads.
std::vector<std::vector<Hop>> Routes::ways_from(std::size_t start) const {
    using Cost = std::tuple<std::size_t, Time, std::size_t>; // links, delay, place
    const std::size_t places = crossings_.size();
    std::vector<Cost> best(places, {std::numeric_limits<std::size_t>::max(), Time::max(), 0});
    std::vector<std::vector<Hop>> ways(places);
    std::priority_queue<Cost, std::vector<Cost>, std::greater<>> open;
    open.emplace(0, Time(0), start);
    best[start] = {0, Time(0), start};
    while (!open.empty()) {
        const auto [links, delay, place] = open.top();
        open.pop();
        if (Cost{links, delay, place} > best[place]) continue;
        for (const Crossing& crossing : crossings_[place]) {
            Time more{0};
            for (const Hop& hop : crossing.hops) more += pipes_[hop.pipe].speed.delay;
            const Cost cost{links + 1, delay + more, crossing.to};
            if (cost >= best[crossing.to]) continue;
            best[crossing.to] = cost;
            ways[crossing.to] = ways[place];
            ways[crossing.to].insert(ways[crossing.to].end(), crossing.hops.begin(), crossing.hops.end());
            open.push(cost);
        }
    }
    return ways;
}

void Routes::add_routes(const Network& network) {
    std::vector<std::vector<std::vector<Hop>>> ways(network.places.size());
    routes_.resize(hosts_ * hosts_);
    for (std::size_t from = 0; from < hosts_; ++from) {
        auto& mine = ways[network.hosts[from].place];
        if (mine.empty()) mine = ways_from(network.hosts[from].place);
        for (std::size_t to = 0; to < hosts_; ++to) {
            if (from == to) continue;
            auto& route = routes_[from * hosts_ + to];
            route.push_back(entries_[from]);
            const auto& between = mine[network.hosts[to].place];
            route.insert(route.end(), between.begin(), between.end());
            route.insert(route.end(), exits_[to].begin(), exits_[to].end());
        }
    }
}

Time Routes::delay(std::size_t from, std::size_t to) const {
    Time sum{0};
    for (const Hop& hop : route(from, to)) sum += pipes_[hop.pipe].speed.delay;
    return sum;
}

} // namespace plexus::tools::lab
