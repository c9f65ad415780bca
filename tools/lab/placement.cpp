// SPDX-License-Identifier: BSD-3-Clause
#include "tools/lab/placement.h"

#include "plexus/error.h"

#include <charconv>
#include <fmt/format.h>
#include <numeric>
#include <random>

namespace plexus::tools::lab {
namespace {

constexpr std::uint32_t kMostContexts = 4096;

[[noreturn]] void refuse(const std::string& sentence) {
    throw Error(Status::bad_argument, sentence + ": plexus lab --help tells more");
}

std::uint32_t number(std::string_view text, const std::string& whole) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        refuse(fmt::format("\"{}\" in \"{}\" is not a number", text, whole));
    return value;
}

/// The hosts of --hosts, one entry for each time that one is named.
std::vector<std::size_t> named_hosts(const Network& network, const std::vector<std::string>& words) {
    std::vector<std::size_t> hosts;
    for (const std::string& word : words) {
        const std::size_t star = word.find('*');
        const std::string name = word.substr(0, star);
        const std::size_t host = host_named(network, name);
        if (host == network.hosts.size())
            refuse(fmt::format("the network \"{}\" has no host \"{}\"", network.name, name));
        const std::uint32_t times = star == std::string::npos ? 1 : number(word.substr(star + 1), word);
        if (times == 0 || times > kMostContexts)
            refuse(fmt::format("\"{}\": a host takes 1 to {} contexts", word, kMostContexts));
        hosts.insert(hosts.end(), times, host);
    }
    return hosts;
}

/// Not std::shuffle: the same seed gives the same order with every library.
void shuffle(std::vector<std::size_t>& hosts, std::uint32_t seed) {
    std::mt19937 chance(seed);
    for (std::size_t i = hosts.size(); i > 1; --i) std::swap(hosts[i - 1], hosts[chance() % i]);
}

} // namespace

std::vector<std::size_t> place(const Network& network, const PlacementOptions& options) {
    std::vector<std::size_t> hosts = named_hosts(network, options.hosts);
    if (hosts.empty()) {
        hosts.resize(network.hosts.size());
        std::iota(hosts.begin(), hosts.end(), std::size_t{0});
    }
    const bool is_shuffled = options.order == "shuffle" || options.order.starts_with("shuffle:");
    if (is_shuffled) {
        const std::string seed = options.order == "shuffle" ? "1" : options.order.substr(8);
        shuffle(hosts, number(seed, options.order));
    } else if (options.order != "block" && options.order != "cyclic") {
        refuse(fmt::format("--order is block, cyclic, shuffle or shuffle:SEED, not \"{}\"", options.order));
    }
    const std::size_t contexts = options.contexts != 0 ? options.contexts : hosts.size() * options.per_host;
    if (contexts > kMostContexts)
        refuse(fmt::format("{} contexts are too many for one machine: at most {}", contexts, kMostContexts));
    std::vector<std::size_t> placed;
    if (options.order == "cyclic") {
        for (std::size_t rank = 0; rank < contexts; ++rank) placed.push_back(hosts[rank % hosts.size()]);
        return placed;
    }
    // Fewer ranks than hosts: the first hosts have one each. More: as even as possible, the first hosts have
    // one more.
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        const std::size_t here = contexts / hosts.size() + (i < contexts % hosts.size() ? 1 : 0);
        placed.insert(placed.end(), here, hosts[i]);
    }
    return placed;
}

} // namespace plexus::tools::lab
