// SPDX-License-Identifier: BSD-3-Clause
#include "tools/map/show/dot.h"

#include "tools/common/quantity.h"
#include "tools/map/show/layout.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>

namespace plexus::tools::show {
namespace {

/// As a quoted text of the dot language.
std::string in_dot(std::string_view text) {
    std::string out = "\"";
    for (const char each : text) {
        if (each == '"' || each == '\\') out += '\\';
        out += each;
    }
    return out + '"';
}

void write_group(std::string& out, const eco::Map& map, const std::vector<eco::Partition>& levels,
                 std::size_t level, const eco::Subnet& hosts, std::size_t& clusters) {
    fmt::format_to(std::back_inserter(out), "subgraph cluster_{} {{ label={};\n", ++clusters,
                   in_dot(fmt::format("{} host{}", hosts.size(), hosts.size() == 1 ? "" : "s")));
    if (level == 0)
        for (const std::size_t host : hosts)
            fmt::format_to(std::back_inserter(out), "  h{} [label={}];\n", host, in_dot(map.hosts()[host]));
    else
        for (const eco::Subnet& part : levels[level - 1])
            if (std::binary_search(hosts.begin(), hosts.end(), part.front()))
                write_group(out, map, levels, level - 1, part, clusters);
    out += "}\n";
}

struct Edge {
    std::size_t messages = 0;
    std::uint64_t bytes = 0;
    double sent_us = 0;
    double taken_us = 0;
};

} // namespace

std::string to_dot(const eco::Map& map, const std::vector<eco::Partition>& levels, const ShownPlan& shown) {
    std::string out = fmt::format(
        "// {} by {}, {}: {} by the estimate\ndigraph plan {{\n"
        "graph [compound=true, fontname=\"sans-serif\", style=rounded, color=gray60];\n"
        "node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"sans-serif\"];\n"
        "edge [fontname=\"sans-serif\", fontsize=9];\n",
        to_string(shown.operation), shown.pattern, show_size(shown.size_bytes), show_us(shown.total_us));
    std::size_t clusters = 0;
    for (const eco::Subnet& subnet : levels.back())
        write_group(out, map, levels, levels.size() - 1, subnet, clusters);
    std::vector<std::size_t> subnet_of(map.hosts().size());
    for (std::size_t at = 0; at < levels.front().size(); ++at)
        for (const std::size_t host : levels.front()[at]) subnet_of[host] = at;
    std::map<std::pair<eco::Rank, eco::Rank>, Edge> edges;
    for (std::size_t at = 0; at < shown.plan.messages.size(); ++at) {
        const eco::Message& message = shown.plan.messages[at];
        const eco::Flight& flight = shown.flights[at];
        Edge& edge = edges[{message.from, message.to}];
        edge.sent_us = edge.messages == 0 ? flight.sent_us : std::min(edge.sent_us, flight.sent_us);
        edge.taken_us = std::max(edge.taken_us, flight.taken_us);
        edge.bytes += shown.plan.bytes_of(message);
        ++edge.messages;
    }
    for (const auto& [ends, edge] : edges)
        fmt::format_to(std::back_inserter(out), "h{} -> h{} [label={}{}];\n", ends.first, ends.second,
                       in_dot(fmt::format("{} to {}", show_us(edge.sent_us), show_us(edge.taken_us))),
                       subnet_of[ends.first] == subnet_of[ends.second]
                           ? ", color=\"#0072b2\""
                           : ", color=\"#c2500a\", style=dashed, penwidth=2");
    return out + "}\n";
}

} // namespace plexus::tools::show
