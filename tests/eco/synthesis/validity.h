// SPDX-License-Identifier: BSD-3-Clause
// The rules of schedules (round_schedule.h), checked without the code that makes them.
#pragma once

#include "plexus/eco/round_schedule.h"

#include <cstdint>
#include <set>
#include <string>
#include <utility>

namespace plexus::testing {

using eco::CollectiveKind;
using eco::LinkGraph;
using eco::Ports;
using eco::Round;
using eco::RoundSchedule;
using eco::Transfer;

using Delivery = std::pair<std::uint32_t, std::uint32_t>; // message, terminal

inline bool all_to_all(CollectiveKind kind) {
    return kind == CollectiveKind::aab || kind == CollectiveKind::aas;
}
inline bool scatters(CollectiveKind kind) {
    return kind == CollectiveKind::oas || kind == CollectiveKind::aas;
}

/// Empty: the transfer takes a shortest way from its source to its destination.
inline std::string fault_of_path(const LinkGraph& graph, const Transfer& transfer) {
    std::uint32_t at = graph.terminals[transfer.src].in;
    for (const std::uint32_t link : transfer.path) {
        if (link >= graph.links.size() || graph.links[link].from != at) return "a way with a gap";
        at = graph.links[link].to;
    }
    if (at != graph.terminals[transfer.dst].out) return "a way to elsewhere";
    return transfer.path.size() == shortest_paths(graph, transfer.src, transfer.dst, 1).front().size()
               ? ""
               : "no shortest way";
}

/// Empty: no two transfers of the round meet.
inline std::string fault_of_round(const LinkGraph& graph, const Round& round) {
    std::set<std::uint32_t> links;
    std::set<std::uint32_t> senders;
    std::set<std::uint32_t> receivers;
    for (const Transfer& transfer : round) {
        for (const std::uint32_t link : transfer.path)
            if (!links.insert(link).second) return "a link is used twice";
        if (graph.ports == Ports::all) continue;
        if (!senders.insert(transfer.src).second) return "a terminal sends twice";
        if (!receivers.insert(transfer.dst).second) return "a terminal accepts twice";
    }
    return {};
}

/// Empty: `schedule` is valid: rules of round_schedule.h, and each delivery once.
inline std::string fault_of(const LinkGraph& graph, const RoundSchedule& schedule) {
    const auto terminals = static_cast<std::uint32_t>(graph.terminals.size());
    std::set<Delivery> missing;
    std::set<Delivery> held; // of a scatter: whose messages its source sends
    for (std::uint32_t from = 0; from < terminals; ++from) {
        if (!all_to_all(schedule.kind) && from != schedule.root) continue;
        held.insert({from, from});
        for (std::uint32_t to = 0; to < terminals; ++to)
            if (to != from) missing.insert({from, to});
    }
    for (const Round& round : schedule.rounds) {
        if (round.empty()) return "an empty round";
        if (auto fault = fault_of_round(graph, round); !fault.empty()) return fault;
        std::set<Delivery> arrived;
        for (const Transfer& each : round) {
            if (auto fault = fault_of_path(graph, each); !fault.empty()) return fault;
            if (scatters(schedule.kind) && each.src != each.msg) return "a scatter forwards";
            if (!held.contains({each.msg, each.src})) return "sent before it was received";
            if (missing.erase({each.msg, each.dst}) == 0) return "delivered twice";
            arrived.insert({each.msg, each.dst});
        }
        held.merge(arrived);
    }
    return missing.empty() ? "" : "not delivered";
}

} // namespace plexus::testing
