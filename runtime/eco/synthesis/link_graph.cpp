// SPDX-License-Identifier: BSD-3-Clause
#include "plexus/eco/link_graph.h"

#include "plexus/error.h"
#include "synthesis/routes.h"
#include "synthesis/shown.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>

namespace plexus::eco {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(Status::bad_argument, why); }

void check_numbers(const LinkGraph& graph) {
    const std::size_t vertices = graph.vertices.size();
    if (graph.terminals.size() < 2)
        refuse(fmt::format("a schedule is between two terminals or more; the graph has {}",
                           graph.terminals.size()));
    if (graph.terminals.size() > kMostTerminals)
        refuse(fmt::format("the graph has {} terminals; {} are the most", graph.terminals.size(),
                           kMostTerminals));
    if (graph.links.size() > kMostLinks || vertices > kMostLinks)
        refuse(fmt::format("the graph has {} vertices and {} links; {} of each are the most", vertices,
                           graph.links.size(), kMostLinks));
    for (const Terminal& each : graph.terminals)
        if (each.in >= vertices || each.out >= vertices)
            refuse("a terminal is at a vertex that is not there");
    for (const DirectedLink& each : graph.links)
        if (each.from >= vertices || each.to >= vertices) refuse("a link has an end that is not there");
}

void check_links(const LinkGraph& graph) {
    std::vector<DirectedLink> sorted = graph.links;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end())
        refuse(fmt::format("the link from {} to {} is there twice", shown(graph.vertices[twice->from]),
                           shown(graph.vertices[twice->to])));
    for (const DirectedLink& each : graph.links)
        if (each.from == each.to)
            refuse(fmt::format("{} has a link to itself", shown(graph.vertices[each.from])));
}

void check_terminals(const LinkGraph& graph) {
    std::vector<std::uint32_t> ins;
    std::vector<std::uint32_t> outs;
    for (const Terminal& each : graph.terminals) {
        ins.push_back(each.in);
        outs.push_back(each.out);
    }
    for (std::vector<std::uint32_t>* each : {&ins, &outs}) {
        std::sort(each->begin(), each->end());
        const auto twice = std::adjacent_find(each->begin(), each->end());
        if (twice != each->end())
            refuse(fmt::format("{} is the vertex of two terminals", shown(graph.vertices[*twice])));
    }
    const Routes routes(graph);
    for (std::uint32_t from = 0; from < graph.terminals.size(); ++from)
        for (std::uint32_t to = 0; to < graph.terminals.size(); ++to) {
            const std::uint32_t distance = routes.distance(graph.terminals[from].in, to);
            if (from != to && distance == Routes::kUnreachable)
                refuse(fmt::format("no way leads from terminal {} ({}) to terminal {} ({})", from,
                                   shown(graph.vertices[graph.terminals[from].in]), to,
                                   shown(graph.vertices[graph.terminals[to].out])));
            if (from != to && distance == 0)
                refuse(fmt::format("terminal {} begins where terminal {} ends", from, to));
        }
}

} // namespace

std::string_view to_string(Ports ports) noexcept { return ports == Ports::one ? "one" : "all"; }

void check(const LinkGraph& graph) {
    check_numbers(graph);
    check_links(graph);
    check_terminals(graph);
}

bool is_tree(const LinkGraph& graph) {
    const std::size_t vertices = graph.vertices.size();
    if (vertices == 0 || graph.links.size() != 2 * (vertices - 1)) return false;
    std::vector<DirectedLink> sorted = graph.links;
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::vector<std::uint32_t>> next(vertices);
    for (const DirectedLink& each : sorted) {
        if (!std::binary_search(sorted.begin(), sorted.end(), DirectedLink{each.to, each.from})) return false;
        next[each.from].push_back(each.to);
    }
    std::vector<bool> seen(vertices);
    std::vector<std::uint32_t> reached{0};
    seen[0] = true;
    for (std::size_t at = 0; at < reached.size(); ++at)
        for (const std::uint32_t vertex : next[reached[at]])
            if (!seen[vertex]) {
                seen[vertex] = true;
                reached.push_back(vertex);
            }
    return reached.size() == vertices;
}

std::vector<LinkPath> shortest_paths(const LinkGraph& graph, std::uint32_t from, std::uint32_t to,
                                     std::size_t most) {
    if (from >= graph.terminals.size() || to >= graph.terminals.size())
        refuse(fmt::format("the graph has terminals 0 to {}", graph.terminals.size() - 1));
    return Routes(graph).paths(from, to, most);
}

} // namespace plexus::eco
