// SPDX-License-Identifier: BSD-3-Clause
#include "tools/schedule/show/drawing.h"

#include <fmt/format.h>

namespace plexus::tools::drawing {
namespace {

std::string counted(std::size_t number, std::string_view what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : what.ends_with("ch") ? "es" : "s");
}

std::size_t switches_of(const eco::LinkGraph& graph) {
    std::vector<bool> is_terminal(graph.vertices.size());
    for (const eco::Terminal& each : graph.terminals) is_terminal[each.in] = is_terminal[each.out] = true;
    std::size_t out = 0;
    for (const bool each : is_terminal) out += each ? 0 : 1;
    return out;
}

} // namespace

std::string about_network(const eco::LinkGraph& graph) {
    const std::size_t switches = switches_of(graph);
    return fmt::format("{}{}, {}, {}-port", counted(graph.terminals.size(), "terminal"),
                       switches > 0 ? ", " + counted(switches, "switch") : "",
                       counted(graph.links.size(), "directed link"), eco::to_string(graph.ports));
}

std::string certificate(const Drawing& drawing) {
    std::string out =
        fmt::format("{}, bound {}", counted(drawing.schedule.rounds.size(), "round"), drawing.bound.rounds);
    if (!drawing.bound.reason.empty()) out += fmt::format(" ({})", drawing.bound.reason);
    return out;
}

std::vector<std::size_t> expected_messages(const Drawing& drawing) {
    const std::size_t terminals = drawing.graph.terminals.size();
    const eco::CollectiveKind kind = drawing.schedule.kind;
    if (kind == eco::CollectiveKind::aab || kind == eco::CollectiveKind::aas)
        return std::vector<std::size_t>(terminals, terminals - 1);
    std::vector<std::size_t> out(terminals, 1);
    out[drawing.schedule.root] = 0;
    return out;
}

std::vector<std::size_t> received_messages(const Drawing& drawing, std::size_t last) {
    std::vector<std::size_t> out(drawing.graph.terminals.size());
    for (std::size_t round = 0; round <= last && round < drawing.schedule.rounds.size(); ++round)
        for (const eco::Transfer& each : drawing.schedule.rounds[round]) ++out[each.dst];
    return out;
}

std::string about_round(const Drawing& drawing, std::size_t round) {
    const eco::Round& transfers = drawing.schedule.rounds[round];
    std::size_t links = 0;
    for (const eco::Transfer& each : transfers) links += each.path.size();
    return fmt::format("round {} of {}: {} on {} of {}", round + 1, drawing.schedule.rounds.size(),
                       counted(transfers.size(), "transfer"), links,
                       counted(drawing.graph.links.size(), "link"));
}

std::string about_transfer(const eco::Transfer& transfer) {
    if (transfer.msg == transfer.src) return fmt::format("{} to {}", transfer.src, transfer.dst);
    return fmt::format("{} to {}, message of {}", transfer.src, transfer.dst, transfer.msg);
}

} // namespace plexus::tools::drawing
