// SPDX-License-Identifier: BSD-3-Clause
#include "tools/schedule/checker.h"

#include "plexus/error.h"
#include "tools/common/json.h"
#include "tools/schedule/ways.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <set>
#include <utility>

namespace plexus::tools::schedule {
namespace {

using eco::CollectiveKind;
using eco::LinkGraph;

constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

/// Thrown and caught in this file.
struct Violation {
    std::string what;
};

template <class... Values>
void require(bool holds, fmt::format_string<Values...> sentence, Values&&... values) {
    if (!holds) throw Violation{fmt::format(sentence, std::forward<Values>(values)...)};
}

/// Names may hold anything.
std::string name_of(const LinkGraph& graph, std::uint32_t vertex) {
    return json::printable(graph.vertices[vertex]);
}

std::string link_text(const LinkGraph& graph, std::uint32_t link) {
    return fmt::format("{} to {}", name_of(graph, graph.links[link].from),
                       name_of(graph, graph.links[link].to));
}

void check_network(const LinkGraph& graph) {
    require(graph.terminals.size() >= 2, "the network has {} terminals, and a schedule needs two or more",
            graph.terminals.size());
    std::set<std::pair<std::uint32_t, std::uint32_t>> links;
    for (std::uint32_t link = 0; link < graph.links.size(); ++link) {
        const auto [from, to] = graph.links[link];
        require(from < graph.vertices.size() && to < graph.vertices.size(), "link {} has no end", link);
        require(from != to && links.emplace(from, to).second, "link {} is there twice or leads to its start",
                link);
    }
    std::set<std::uint32_t> ins;
    std::set<std::uint32_t> outs;
    for (const eco::Terminal& each : graph.terminals) {
        require(each.in < graph.vertices.size() && each.out < graph.vertices.size(),
                "a terminal has no vertex");
        if (!ins.insert(each.in).second || !outs.insert(each.out).second)
            throw Violation{fmt::format("two terminals begin at vertex {} or end at {}",
                                        name_of(graph, each.in), name_of(graph, each.out))};
    }
}

/// What one schedule has done so far.
class Checker {
  public:
    Checker(const LinkGraph& graph, const eco::RoundSchedule& schedule)
      : graph_(graph)
      , schedule_(schedule)
      , terminals_(graph.terminals.size())
      , distances_(terminals_ * terminals_)
      , arrived_(terminals_ * terminals_, kNever)
      , link_used_(graph.links.size(), kNever)
      , sent_(terminals_, kNever)
      , accepted_(terminals_, kNever) {}

    void run() {
        measure();
        require(!from_root() || schedule_.root < terminals_, "root {} is no terminal: there are 0 to {}",
                schedule_.root, terminals_ - 1);
        for (std::uint32_t round = 0; round < schedule_.rounds.size(); ++round) {
            require(!schedule_.rounds[round].empty(), "rounds[{}] is empty", round);
            for (std::size_t at = 0; at < schedule_.rounds[round].size(); ++at) try {
                    take(schedule_.rounds[round][at], round);
                } catch (const Violation& found) {
                    throw Violation{fmt::format("rounds[{}][{}]: {}", round, at, found.what)};
                }
        }
        check_complete();
    }

  private:
    bool from_root() const {
        return schedule_.kind == CollectiveKind::oab || schedule_.kind == CollectiveKind::oas;
    }
    bool is_scatter() const {
        return schedule_.kind == CollectiveKind::oas || schedule_.kind == CollectiveKind::aas;
    }

    void measure() {
        const LinksInto into = links_into(graph_);
        for (std::size_t to = 0; to < terminals_; ++to) {
            const WaysTo ways(graph_, into, graph_.terminals[to].out);
            for (std::size_t from = 0; from < terminals_; ++from) {
                const std::uint32_t distance = ways.distance(graph_.terminals[from].in);
                require(from == to || (distance != WaysTo::kUnreachable && distance > 0),
                        "no way leads from terminal {} to terminal {}", from, to);
                distances_[from * terminals_ + to] = distance;
            }
        }
    }

    void take(const eco::Transfer& transfer, std::uint32_t round) {
        require(std::max({transfer.src, transfer.dst, transfer.msg}) < terminals_,
                "src {}, dst {} and msg {} are not all terminals: there are 0 to {}", transfer.src,
                transfer.dst, transfer.msg, terminals_ - 1);
        check_message(transfer, round);
        check_path(transfer);
        use_links(transfer, round);
        if (graph_.ports == eco::Ports::all) return;
        require(std::exchange(sent_[transfer.src], round) != round,
                "terminal {} sends a second message in this round, and is one-port", transfer.src);
        require(std::exchange(accepted_[transfer.dst], round) != round,
                "terminal {} accepts a second message in this round, and is one-port", transfer.dst);
    }

    void check_message(const eco::Transfer& transfer, std::uint32_t round) {
        const auto [src, dst, msg, path] = transfer;
        require(src != dst, "terminal {} sends to itself", src);
        require(!from_root() || msg == schedule_.root, "message {} is not the root's, which is {}", msg,
                schedule_.root);
        require(!is_scatter() || src == msg,
                "terminal {} forwards the message of terminal {}, and a scatter goes direct", src, msg);
        if (src != msg) {
            const std::uint32_t since = arrived_[src * terminals_ + msg];
            require(since != kNever, "terminal {} sends the message of terminal {} before it has it", src,
                    msg);
            require(since < round,
                    "terminal {} sends the message of terminal {} in the round in which it arrives", src,
                    msg);
        }
        require(dst != msg, "terminal {} is sent its own message", dst);
        require(std::exchange(arrived_[dst * terminals_ + msg], round) == kNever,
                "terminal {} is sent the message of terminal {} a second time", dst, msg);
    }

    void check_path(const eco::Transfer& transfer) const {
        const eco::LinkPath& path = transfer.path;
        require(!path.empty(), "the path is missing");
        for (const std::uint32_t link : path)
            require(link < graph_.links.size(), "link {} is not in the network", link);
        const std::uint32_t in = graph_.terminals[transfer.src].in;
        const std::uint32_t out = graph_.terminals[transfer.dst].out;
        if (const std::uint32_t begin = graph_.links[path.front()].from; begin != in)
            throw Violation{fmt::format("the path begins at {}, and terminal {} at {}",
                                        name_of(graph_, begin), transfer.src, name_of(graph_, in))};
        for (std::size_t at = 1; at < path.size(); ++at)
            if (graph_.links[path[at - 1]].to != graph_.links[path[at]].from)
                throw Violation{fmt::format("the path is broken: {} is followed by {}",
                                            link_text(graph_, path[at - 1]), link_text(graph_, path[at]))};
        if (const std::uint32_t end = graph_.links[path.back()].to; end != out)
            throw Violation{fmt::format("the path ends at {}, and terminal {} at {}", name_of(graph_, end),
                                        transfer.dst, name_of(graph_, out))};
        const std::uint32_t shortest = distances_[transfer.src * terminals_ + transfer.dst];
        require(path.size() == shortest, "the path has {} links, and a shortest one {}", path.size(),
                shortest);
    }

    void use_links(const eco::Transfer& transfer, std::uint32_t round) {
        for (const std::uint32_t link : transfer.path)
            if (std::exchange(link_used_[link], round) == round)
                throw Violation{fmt::format("the link from {} is used by two transfers of this round",
                                            link_text(graph_, link))};
    }

    void check_complete() const {
        for (std::size_t to = 0; to < terminals_; ++to)
            for (std::size_t msg = 0; msg < terminals_; ++msg)
                require(to == msg || (from_root() && msg != schedule_.root) ||
                            arrived_[to * terminals_ + msg] != kNever,
                        "terminal {} is never sent the message of terminal {}", to, msg);
    }

    const LinkGraph& graph_;
    const eco::RoundSchedule& schedule_;
    const std::size_t terminals_;
    std::vector<std::uint32_t> distances_; // [from * terminals_ + to], in links
    std::vector<std::uint32_t> arrived_;   // [at * terminals_ + msg]: in which round
    std::vector<std::uint32_t> link_used_; // the last round that used it
    std::vector<std::uint32_t> sent_;      // the last round in which a terminal sent
    std::vector<std::uint32_t> accepted_;
};

std::string terminal_text(const LinkGraph& graph, const eco::Terminal& terminal) {
    const std::string in = name_of(graph, terminal.in);
    return terminal.in == terminal.out ? in : in + " and " + name_of(graph, terminal.out);
}

/// Of a transfer without a path.
struct Place {
    std::size_t round;
    std::size_t at;
    auto operator<=>(const Place&) const = default;
};

/// By their destinations.
std::vector<std::vector<Place>> without_path(const LinkGraph& graph, const eco::RoundSchedule& schedule) {
    const std::size_t terminals = graph.terminals.size();
    std::vector<std::vector<Place>> out(terminals);
    for (std::size_t round = 0; round < schedule.rounds.size(); ++round)
        for (std::size_t at = 0; at < schedule.rounds[round].size(); ++at) {
            const eco::Transfer& transfer = schedule.rounds[round][at];
            if (transfer.path.empty() && std::max(transfer.src, transfer.dst) < terminals &&
                transfer.src != transfer.dst)
                out[transfer.dst].push_back({round, at});
        }
    return out;
}

std::set<std::pair<std::string, std::string>> named_links(const LinkGraph& graph) {
    std::set<std::pair<std::string, std::string>> out;
    for (const eco::DirectedLink& each : graph.links)
        out.emplace(graph.vertices[each.from], graph.vertices[each.to]);
    return out;
}

} // namespace

std::optional<std::string> violation(const LinkGraph& graph, const eco::RoundSchedule& schedule,
                                     std::optional<std::uint64_t> bound) {
    try {
        check_network(graph);
        Checker(graph, schedule).run();
        require(!bound || *bound <= schedule.rounds.size(), "the bound {} is above the {} rounds that it has",
                bound.value_or(0), schedule.rounds.size());
    } catch (const Violation& found) { return found.what; }
    return std::nullopt;
}

eco::RoundSchedule with_paths(const LinkGraph& graph, eco::RoundSchedule schedule) {
    constexpr std::uint64_t kMostLinks = std::uint64_t{1} << 26;
    const LinksInto into = links_into(graph);
    std::optional<Place> unclear; // the first
    std::string why;
    std::uint64_t links = 0;
    const auto places = without_path(graph, schedule);
    for (std::uint32_t dst = 0; dst < places.size(); ++dst) {
        if (places[dst].empty()) continue;
        const WaysTo ways(graph, into, graph.terminals[dst].out);
        for (const Place& place : places[dst]) {
            eco::Transfer& transfer = schedule.rounds[place.round][place.at];
            const std::uint32_t from = graph.terminals[transfer.src].in;
            if (ways.count(from) > 1) {
                if (unclear && *unclear < place) break;
                unclear = place;
                why = fmt::format("rounds[{}][{}].path is missing, and {} shortest paths lead from terminal "
                                  "{} to terminal {}",
                                  place.round, place.at, ways.count(from), transfer.src, dst);
                break;
            }
            if (ways.distance(from) != WaysTo::kUnreachable) links += ways.distance(from);
            if (links > kMostLinks)
                throw Error(Status::too_large,
                            fmt::format("paths that are missing have more than {} links", kMostLinks));
            transfer.path = ways.first(from);
        }
    }
    if (unclear) throw Error(Status::bad_argument, why);
    return schedule;
}

std::optional<std::string> difference(const LinkGraph& a, const LinkGraph& b) {
    if (a.terminals.size() != b.terminals.size())
        return fmt::format("it has {} terminals, the other {}", a.terminals.size(), b.terminals.size());
    if (a.ports != b.ports)
        return fmt::format("its terminals have ports \"{}\", the other's \"{}\"", eco::to_string(a.ports),
                           eco::to_string(b.ports));
    for (std::size_t each = 0; each < a.terminals.size(); ++each)
        if (a.vertices[a.terminals[each].in] != b.vertices[b.terminals[each].in] ||
            a.vertices[a.terminals[each].out] != b.vertices[b.terminals[each].out])
            return fmt::format("terminal {} is at {}, the other's at {}", each,
                               terminal_text(a, a.terminals[each]), terminal_text(b, b.terminals[each]));
    const auto of_a = named_links(a);
    const auto of_b = named_links(b);
    for (const auto& [from, to] : of_a)
        if (!of_b.contains({from, to}))
            return fmt::format("it has a link from {} to {}, the other none", json::printable(from),
                               json::printable(to));
    for (const auto& [from, to] : of_b)
        if (!of_a.contains({from, to}))
            return fmt::format("it has no link from {} to {}, the other one", json::printable(from),
                               json::printable(to));
    return std::nullopt;
}

} // namespace plexus::tools::schedule
