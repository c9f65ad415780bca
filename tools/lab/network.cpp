// SPDX-License-Identifier: BSD-3-Clause
#include "tools/lab/network.h"

#include "plexus/error.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace plexus::tools::lab {
namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";

[[noreturn]] void refuse(const Network& network, const std::string& sentence) {
    throw Error(Status::bad_config, fmt::format("the network \"{}\": {}", network.name, sentence));
}

/// Names are host names, of hosts as of all else: `plexus lab ctl` knows parts by them.
void check_names(const Network& network) {
    std::map<std::string, const char*> taken{{"lab", "the machine that the lab runs on"}};
    const auto take = [&](const std::string& name, const char* what) {
        if (name.empty() || name.size() > kLongestName ||
            name.find_first_not_of(kLetters) != std::string::npos || name.front() == '-')
            refuse(network, fmt::format("\"{}\" cannot be the name of a {}: it takes 1 to {} letters, digits "
                                        "and dashes",
                                        name, what, kLongestName));
        const auto [found, is_new] = taken.emplace(name, what);
        if (!is_new)
            refuse(network, fmt::format("\"{}\" is the name of a {}, so a {} needs another one", name,
                                        found->second, what));
    };
    for (const Place& place : network.places)
        take(place.name, place.kind == Place::Kind::bridge ? "bridge" : "segment");
    for (const Host& host : network.hosts) take(host.name, "host");
    for (const Link& link : network.links)
        if (!link.is_port) take(link.name, "link");
}

void check_queue(const Network& network, const std::string& name, const Speed& speed) {
    if (speed.queue_bytes < network.mtu + std::uint64_t{14})
        refuse(network, fmt::format("the queue of \"{}\" is too short for one frame of {} bytes", name,
                                    network.mtu + 14));
}

void check_reach(const Network& network) {
    std::vector<bool> reached(network.places.size(), false);
    std::vector<std::size_t> open{network.hosts.front().place};
    reached[open.front()] = true;
    while (!open.empty()) {
        const std::size_t place = open.back();
        open.pop_back();
        for (const Link& link : network.links) {
            if (link.a != place && link.b != place) continue;
            const std::size_t other = link.a == place ? link.b : link.a;
            if (!reached[other]) open.push_back(other);
            reached[other] = true;
        }
    }
    for (const Host& host : network.hosts)
        if (!reached[host.place])
            refuse(network,
                   fmt::format("no way leads from \"{}\" to \"{}\": join their segments by a bridge or "
                               "a link",
                               network.hosts.front().name, host.name));
}

} // namespace

void check(const Network& network) {
    if (network.hosts.empty()) refuse(network, "it has no hosts");
    if (network.hosts.size() > kMostHosts)
        refuse(network, fmt::format("{} hosts are too many: at most {}", network.hosts.size(), kMostHosts));
    if (network.mtu < 576 || network.mtu > 9000)
        refuse(network, fmt::format("an mtu of {} is not between 576 and 9000", network.mtu));
    if (network.overhead_bytes > 1000)
        refuse(network, fmt::format("an overhead of {} bytes a frame is above 1000", network.overhead_bytes));
    check_names(network);
    for (const Place& place : network.places) {
        check_queue(network, place.name, place.speed);
        if (place.kind == Place::Kind::shared && place.speed.bits_per_second == 0)
            refuse(network, fmt::format("the shared segment \"{}\" needs a rate: its hosts contend for it",
                                        place.name));
    }
    for (const Link& link : network.links) {
        if (link.a == link.b)
            refuse(network,
                   fmt::format("\"{}\" joins \"{}\" with itself", link.name, network.places[link.a].name));
        check_queue(network, link.name, link.speed);
    }
    check_reach(network);
}

Network scaled(Network network, double factor, bool keep_delays) {
    const auto scale = [&](Speed& speed) {
        if (speed.bits_per_second != 0) {
            const double rate = std::round(static_cast<double>(speed.bits_per_second) * factor);
            speed.bits_per_second = static_cast<std::uint64_t>(std::max(rate, 1.0));
        }
        if (!keep_delays) speed.delay = Time(std::llround(static_cast<double>(speed.delay.count()) / factor));
    };
    for (Place& place : network.places) scale(place.speed);
    for (Link& link : network.links) scale(link.speed);
    network.scale *= factor;
    network.scaled_delays = !keep_delays;
    return network;
}

std::size_t host_named(const Network& network, const std::string& name) {
    const auto found = std::find_if(network.hosts.begin(), network.hosts.end(),
                                    [&](const Host& host) { return host.name == name; });
    return static_cast<std::size_t>(found - network.hosts.begin());
}

} // namespace plexus::tools::lab
