// SPDX-License-Identifier: BSD-3-Clause
#include "tools/schedule/schedule_file.h"

#include "plexus/error.h"
#include "tools/common/json.h"
#include "tools/schedule/checker.h"
#include "tools/schedule/graph_file.h"
#include "tools/schedule/refuse.h"

#include <fmt/format.h>
#include <map>
#include <unordered_map>

namespace plexus::tools::schedule {
namespace {

using json::Value;

const Value& member(const Value& object, const char* name, const std::string& place) {
    const Value* const found = json::find(object, name);
    if (found == nullptr) refuse(fmt::format("{}{} is missing", place, name));
    return *found;
}

std::uint32_t number(const Value& value, const std::string& place) {
    if (!value.IsUint()) refuse(place + " is no number from 0 on");
    return value.GetUint();
}

/// Paths of one graph.
class PathReader {
  public:
    explicit PathReader(const eco::LinkGraph& graph) {
        for (const std::string& each : graph.vertices)
            vertices_.emplace(each, static_cast<std::uint32_t>(vertices_.size()));
        for (const eco::DirectedLink& each : graph.links)
            links_.emplace(each, static_cast<std::uint32_t>(links_.size()));
    }

    eco::LinkPath path(const Value& value, const std::string& place) const {
        if (!value.IsArray() || value.Empty()) refuse(place + " is no list of vertices or links");
        eco::LinkPath out;
        if (value[0].IsString()) return along_vertices(value, place);
        for (const Value& each : value.GetArray()) {
            const std::uint32_t link = number(each, place);
            if (link >= links_.size())
                refuse(fmt::format("{} holds link {}; the network has {} links", place, link, links_.size()));
            out.push_back(link);
        }
        return out;
    }

  private:
    eco::LinkPath along_vertices(const Value& value, const std::string& place) const {
        if (value.Size() < 2) refuse(place + " has one vertex, which is no path");
        eco::LinkPath out;
        for (json::reader::SizeType at = 0; at + 1 < value.Size(); ++at) {
            const auto link = links_.find({vertex(value[at], place), vertex(value[at + 1], place)});
            if (link == links_.end())
                refuse(fmt::format("{}: no link leads from {} to {}", place,
                                   json::quote(value[at].GetString()),
                                   json::quote(value[at + 1].GetString())));
            out.push_back(link->second);
        }
        return out;
    }

    std::uint32_t vertex(const Value& name, const std::string& place) const {
        if (!name.IsString()) refuse(place + " holds both names and numbers");
        const std::string text(name.GetString(), name.GetStringLength());
        const auto found = vertices_.find(text);
        if (found == vertices_.end())
            refuse(fmt::format("{}: the network has no vertex {}", place, json::quote(text)));
        return found->second;
    }

    std::unordered_map<std::string, std::uint32_t> vertices_;
    std::map<eco::DirectedLink, std::uint32_t> links_;
};

eco::LinkGraph graph_of_schedule(const Value& object) {
    const Value& topology = member(object, "topology", "");
    const Value* const ports = json::find(object, "ports");
    eco::LinkGraph out;
    if (topology.IsString())
        out = eco::named_graph({topology.GetString(), topology.GetStringLength()});
    else if (topology.IsObject())
        out = graph_in(topology, "topology.");
    else
        refuse("topology is neither a name nor a graph");
    if (ports == nullptr) return out;
    const eco::Ports stated = ports_in(*ports, "ports");
    if (topology.IsObject() && json::find(topology, "ports") != nullptr && stated != out.ports)
        refuse(fmt::format("ports is \"{}\", and topology.ports \"{}\"", eco::to_string(stated),
                           eco::to_string(out.ports)));
    out.ports = stated;
    return out;
}

eco::Transfer transfer_in(const Value& value, const PathReader& paths, const std::string& place) {
    if (!value.IsObject()) refuse(place + " is no transfer");
    const std::string inside = place + ".";
    eco::Transfer out{number(member(value, "src", inside), inside + "src"),
                      number(member(value, "dst", inside), inside + "dst"),
                      number(member(value, "msg", inside), inside + "msg"),
                      {}};
    if (const Value* const path = json::find(value, "path")) out.path = paths.path(*path, inside + "path");
    return out;
}

std::vector<eco::Round> rounds_in(const Value& value, const PathReader& paths) {
    if (!value.IsArray()) refuse("rounds is no list");
    std::vector<eco::Round> out;
    for (const Value& round : value.GetArray()) {
        const std::string place = fmt::format("rounds[{}]", out.size());
        if (!round.IsArray()) refuse(place + " is no list of transfers");
        eco::Round transfers;
        for (const Value& each : round.GetArray())
            transfers.push_back(transfer_in(each, paths, fmt::format("{}[{}]", place, transfers.size())));
        out.push_back(std::move(transfers));
    }
    return out;
}

eco::CollectiveKind kind_in(const Value& value) {
    const auto kind = value.IsString() ? eco::parse_collective_kind(value.GetString()) : std::nullopt;
    if (!kind) refuse("collective is none of OAB, AAB, OAS and AAS");
    return *kind;
}

ScheduleFile schedule_in(const Value& object) {
    if (!object.IsObject())
        refuse(R"(a schedule is an object: {"topology": …, "collective": …, "rounds": …})");
    ScheduleFile out;
    out.graph = graph_of_schedule(object);
    out.schedule.kind = kind_in(member(object, "collective", ""));
    const bool has_root =
        out.schedule.kind == eco::CollectiveKind::oab || out.schedule.kind == eco::CollectiveKind::oas;
    const Value* const root = has_root ? &member(object, "root", "") : json::find(object, "root");
    if (root != nullptr && (has_root || !root->IsNull())) out.schedule.root = number(*root, "root");
    out.schedule.rounds = rounds_in(member(object, "rounds", ""), PathReader(out.graph));
    if (const Value* const bound = json::find(object, "bound")) {
        if (!bound->IsUint64()) refuse("bound is no number from 0 on");
        out.bound = bound->GetUint64();
    }
    if (const Value* const reason = json::find(object, "reason")) {
        if (!reason->IsString()) refuse("reason is no text");
        out.reason.assign(reason->GetString(), reason->GetStringLength());
    }
    return out;
}

std::string path_text(const eco::LinkGraph& graph, const eco::LinkPath& path, PathText as) {
    if (as == PathText::links) return fmt::format("[{}]", fmt::join(path, ","));
    std::vector<std::string> names{json::quote(graph.vertices[graph.links[path.front()].from])};
    for (const std::uint32_t link : path) names.push_back(json::quote(graph.vertices[graph.links[link].to]));
    return json::list(names);
}

std::string round_text(const eco::LinkGraph& graph, const eco::Round& round, PathText paths) {
    std::vector<std::string> transfers;
    for (const eco::Transfer& each : round) {
        json::Object transfer;
        transfer.add("src", each.src).add("dst", each.dst).add("msg", each.msg);
        if (!each.path.empty()) transfer.raw("path", path_text(graph, each.path, paths));
        transfers.push_back(transfer.text());
    }
    return json::list(transfers);
}

} // namespace

ScheduleFile load_schedule(const std::string& file) {
    const json::Document document = json::load(file, kLargestScheduleFile, Status::bad_argument);
    try {
        return schedule_in(document);
    } catch (const Error& error) { refuse(fmt::format("{}: {}", file, error.what())); }
}

std::optional<ScheduleFile> valid_schedule_of(const std::string& name_or_file) {
    if (!is_graph_file(name_or_file)) return std::nullopt;
    const json::Document document = json::load(name_or_file, kLargestScheduleFile, Status::bad_argument);
    if (!document.IsObject() || json::find(document, "rounds") == nullptr) return std::nullopt;
    try {
        ScheduleFile out = schedule_in(document);
        out.schedule = with_paths(out.graph, std::move(out.schedule));
        if (const auto broken = violation(out.graph, out.schedule, out.bound)) refuse(*broken);
        return out;
    } catch (const Error& error) { refuse(fmt::format("{}: {}", name_or_file, error.what())); }
}

std::string to_json(const ScheduleFile& file, PathText paths) {
    const eco::LinkGraph& graph = file.graph;
    std::string rounds;
    for (const eco::Round& each : file.schedule.rounds)
        rounds += (rounds.empty() ? "\n" : ",\n") + round_text(graph, each, paths);
    json::Object out;
    out.raw("topology", graph.name.empty() ? to_json(graph) : json::quote(graph.name));
    out.add("collective", eco::to_string(file.schedule.kind)).add("root", file.schedule.root);
    out.add("ports", eco::to_string(graph.ports)).raw("rounds", "[" + rounds + "]");
    if (file.bound) out.add("bound", *file.bound);
    if (!file.reason.empty()) out.add("reason", file.reason);
    return out.text() + "\n";
}

std::string loadable_text(const ScheduleFile& file, std::size_t most_bytes) {
    const auto is_too_large = [most_bytes](const std::string& text) {
        return text.size() > most_bytes || json::values_in(text) > json::kMostValues;
    };
    std::string text = to_json(file);
    if (!is_too_large(text)) return text;
    text = to_json(file, PathText::links);
    if (!is_too_large(text)) return text;
    throw Error(Status::too_large,
                fmt::format("the schedule has {} values and {} bytes as a file, {} and {} are the most",
                            json::values_in(text), text.size(), json::kMostValues, most_bytes));
}

} // namespace plexus::tools::schedule
