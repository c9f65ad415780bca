// SPDX-License-Identifier: BSD-3-Clause
#include "tools/schedule/graph_file.h"

#include "plexus/error.h"
#include "tools/common/json.h"
#include "tools/schedule/refuse.h"

#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <unordered_map>

namespace plexus::tools::schedule {
namespace {

using json::Value;

const Value& list_in(const Value& object, const char* name, const std::string& place, std::size_t most) {
    const Value* const found = json::find(object, name);
    if (found == nullptr) refuse(fmt::format("{}{} is missing", place, name));
    if (!found->IsArray()) refuse(fmt::format("{}{} is no list", place, name));
    if (found->Size() > most)
        refuse(fmt::format("{}{} has {} entries; {} are the most", place, name, found->Size(), most));
    return *found;
}

class Reader {
  public:
    explicit Reader(std::string place)
      : place_(std::move(place)) {}

    void links(const Value& list) {
        std::map<eco::DirectedLink, std::size_t> places;
        for (const Value& each : list.GetArray()) {
            const std::string where = fmt::format("{}links[{}]", place_, graph_.links.size());
            if (!each.IsArray() || each.Size() != 2) refuse(where + " is no pair of vertices");
            const eco::DirectedLink link{vertex(each[0], where), vertex(each[1], where)};
            if (link.from == link.to)
                refuse(fmt::format("{} leads from {} to itself", where, shown(link.from)));
            const auto [first, is_new] = places.emplace(link, graph_.links.size());
            if (!is_new)
                refuse(fmt::format("{} is the same as links[{}]: from {} to {}", where, first->second,
                                   shown(link.from), shown(link.to)));
            graph_.links.push_back(link);
        }
    }

    void terminals(const Value& list) {
        for (const Value& each : list.GetArray()) {
            const std::string where = fmt::format("{}terminals[{}]", place_, graph_.terminals.size());
            if (each.IsArray() && each.Size() == 2)
                graph_.terminals.push_back({vertex(each[0], where), vertex(each[1], where)});
            else if (each.IsString())
                graph_.terminals.push_back({vertex(each, where), vertex(each, where)});
            else
                refuse(where + R"( is neither "v" nor ["in","out"])");
        }
    }

    eco::LinkGraph finish(eco::Ports ports) {
        graph_.ports = ports;
        return std::move(graph_);
    }

  private:
    std::string shown(std::uint32_t vertex) const { return json::quote(graph_.vertices[vertex]); }

    std::uint32_t vertex(const Value& name, const std::string& where) {
        if (!name.IsString() || name.GetStringLength() == 0)
            refuse(where + " holds what is no vertex's name");
        std::string text(name.GetString(), name.GetStringLength());
        const auto [found, is_new] = numbers_.emplace(text, static_cast<std::uint32_t>(numbers_.size()));
        if (is_new) graph_.vertices.push_back(std::move(text));
        return found->second;
    }

    std::string place_;
    eco::LinkGraph graph_;
    std::unordered_map<std::string, std::uint32_t> numbers_;
};

/// True for "omega-12" too: a name that says which kind was meant.
bool names_a_kind(const std::string& text) {
    for (const std::string_view kind : eco::graph_kinds())
        if (text.starts_with(kind.substr(0, kind.find('-') + 1))) return true;
    return false;
}

} // namespace

bool is_graph_file(const std::string& text) {
    std::error_code none;
    return text.find_first_of("./") != std::string::npos ||
           (!names_a_kind(text) && std::filesystem::is_regular_file(text, none));
}

eco::Ports ports_in(const Value& value, const std::string& place) {
    if (value.IsString() && value == "one") return eco::Ports::one;
    if (value.IsString() && value == "all") return eco::Ports::all;
    refuse(place + R"( is neither "one" nor "all")");
}

eco::LinkGraph graph_in(const Value& value, const std::string& place) {
    if (!value.IsObject())
        refuse(R"(a graph is an object: {"links": [["u","v"], …], "terminals": ["v", …], "ports": "one"})");
    Reader reader(place);
    reader.links(list_in(value, "links", place, eco::kMostLinks));
    reader.terminals(list_in(value, "terminals", place, eco::kMostTerminals));
    const Value* const ports = json::find(value, "ports");
    return reader.finish(ports == nullptr ? eco::Ports::one : ports_in(*ports, place + "ports"));
}

std::string to_json(const eco::LinkGraph& graph) {
    const auto name = [&graph](std::uint32_t vertex) { return json::quote(graph.vertices[vertex]); };
    std::vector<std::string> links;
    for (const eco::DirectedLink& each : graph.links)
        links.push_back(json::list({name(each.from), name(each.to)}));
    std::vector<std::string> terminals;
    for (const eco::Terminal& each : graph.terminals)
        terminals.push_back(each.in == each.out ? name(each.in)
                                                : json::list({name(each.in), name(each.out)}));
    json::Object out;
    out.raw("links", json::list(links)).raw("terminals", json::list(terminals));
    return out.add("ports", eco::to_string(graph.ports)).text();
}

eco::LinkGraph graph_of(const std::string& name_or_file) {
    if (!is_graph_file(name_or_file)) return eco::named_graph(name_or_file);
    const json::Document document = json::load(name_or_file, kLargestGraphFile, Status::bad_argument);
    try {
        return graph_in(document, "");
    } catch (const Error& error) { refuse(fmt::format("{}: {}", name_or_file, error.what())); }
}

} // namespace plexus::tools::schedule
