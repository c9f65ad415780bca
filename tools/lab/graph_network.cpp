// SPDX-License-Identifier: BSD-3-Clause
#include "tools/lab/graph_network.h"

#include "plexus/error.h"
#include "tools/common/json.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <numeric>
#include <set>

namespace plexus::tools::lab {
namespace {

constexpr std::size_t kNone = SIZE_MAX;

class GraphReader {
  public:
    GraphReader(const eco::LinkGraph& graph, const Speed& speed)
      : graph_(graph)
      , speed_(speed)
      , ways_out_(graph.vertices.size())
      , place_of_(graph.vertices.size(), kNone)
      , names_{"lab"} {
        for (const eco::DirectedLink& each : graph.links) {
            ways_.insert({each.from, each.to});
            ++ways_out_[each.from];
        }
    }

    Network read() {
        network_.name = graph_.name.empty() ? "graph" : graph_.name;
        network_.summary =
            fmt::format("{} hosts and {} switches, {} on each link", graph_.terminals.size(),
                        graph_.vertices.size() - graph_.terminals.size(), show_rate(speed_.bits_per_second));
        check_links();
        check_terminals();
        check_tree();
        add_switches();
        add_hosts();
        add_links();
        check(network_);
        return std::move(network_);
    }

  private:
    [[noreturn]] void refuse(const std::string& sentence) const {
        throw Error(Status::unsupported, fmt::format("the lab cannot express the network {}: {}; `plexus "
                                                     "schedule play` plays schedules on any network",
                                                     network_.name, sentence));
    }
    [[noreturn]] void refuse_ways(std::uint32_t from, std::uint32_t to) const {
        refuse(fmt::format("several ways join {} and {}, and its frames have one", vertex(from), vertex(to)));
    }
    /// For a sentence.
    std::string vertex(std::size_t number) const { return json::printable(graph_.vertices[number]); }

    void check_links() const {
        for (const eco::DirectedLink& each : graph_.links)
            if (ways_.count({each.to, each.from}) == 0)
                refuse(fmt::format("its link from {} to {} has one direction, and cables have two",
                                   vertex(each.from), vertex(each.to)));
    }

    void check_terminals() const {
        std::set<std::uint32_t> hosts;
        for (std::size_t i = 0; i < graph_.terminals.size(); ++i) {
            const eco::Terminal& each = graph_.terminals[i];
            if (each.in != each.out)
                refuse(fmt::format("terminal {} begins at {} and ends at {}, and a host has one cable", i,
                                   vertex(each.in), vertex(each.out)));
            if (ways_out_[each.in] != 1)
                refuse(fmt::format("terminal {} has {} ports, and a host has one", i, ways_out_[each.in]));
            hosts.insert(each.in);
        }
        for (const eco::DirectedLink& each : graph_.links)
            if (hosts.count(each.from) + hosts.count(each.to) == 2)
                refuse(
                    fmt::format("{} and {} are joined without a switch", vertex(each.from), vertex(each.to)));
    }

    /// A search for cycles: what is joined already is not joined again.
    void check_tree() const {
        std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
        for (const eco::DirectedLink& each : graph_.links)
            if (!seen.insert({each.from, each.to}).second) refuse_ways(each.from, each.to);
        std::vector<std::size_t> head(graph_.vertices.size());
        std::iota(head.begin(), head.end(), std::size_t{0});
        const auto head_of = [&](std::size_t each) {
            while (head[each] != each) each = head[each] = head[head[each]];
            return each;
        };
        for (const auto& [from, to] : ways_) {
            if (from > to) continue;
            const std::size_t a = head_of(from);
            const std::size_t b = head_of(to);
            if (a == b) refuse_ways(from, to);
            head[a] = b;
        }
    }

    /// As networks take names: other characters become dashes.
    std::string name_of(std::size_t number) {
        std::string name;
        for (const char each : graph_.vertices[number])
            name += std::isalnum(static_cast<unsigned char>(each)) != 0 ? each : '-';
        if (name.empty() || name.front() == '-' || name.size() > kLongestName || names_.count(name) > 0)
            name = fmt::format("v{}", number);
        while (!names_.insert(name).second) name += "-";
        return name;
    }

    /// A place for each vertex that is no host.
    void add_switches() {
        std::set<std::uint32_t> hosts;
        for (const eco::Terminal& each : graph_.terminals) hosts.insert(each.in);
        for (std::uint32_t number = 0; number < graph_.vertices.size(); ++number) {
            if (hosts.count(number) > 0) continue;
            place_of_[number] = network_.places.size();
            Speed cable = speed_;
            cable.delay *= 2; // between two of its hosts
            network_.places.push_back({name_of(number), Place::Kind::switched, cable});
        }
    }

    void add_hosts() {
        for (const eco::Terminal& each : graph_.terminals)
            for (const eco::DirectedLink& link : graph_.links)
                if (link.from == each.in) network_.hosts.push_back({name_of(each.in), place_of_[link.to]});
    }

    void add_links() {
        for (const auto& [from, to] : ways_) {
            if (from > to || place_of_[from] == kNone || place_of_[to] == kNone) continue;
            Link link;
            link.a = place_of_[from];
            link.b = place_of_[to];
            link.name = fmt::format("{}-{}", network_.places[link.a].name, network_.places[link.b].name);
            link.speed = speed_;
            network_.links.push_back(std::move(link));
        }
    }

    const eco::LinkGraph& graph_;
    const Speed speed_;
    std::set<std::pair<std::uint32_t, std::uint32_t>> ways_;
    std::vector<std::size_t> ways_out_; ///< of each vertex: links that leave it
    std::vector<std::size_t> place_of_; ///< of each vertex that is a switch
    std::set<std::string> names_;
    Network network_;
};

} // namespace

Network network_of(const eco::LinkGraph& graph, const Speed& speed) {
    return GraphReader(graph, speed).read();
}

} // namespace plexus::tools::lab
