// SPDX-License-Identifier: BSD-3-Clause
// `plexus schedule paths`: the shortest paths between two terminals, and how many there are.
#include "tools/common/json.h"
#include "tools/common/usage.h"
#include "tools/schedule/graph_file.h"
#include "tools/schedule/options.h"
#include "tools/schedule/ways.h"
#include "tools/verb.h"

#include "plexus/error.h"

#include <charconv>
#include <cstdio>
#include <fmt/format.h>

namespace plexus::tools::schedule {
namespace {

constexpr std::size_t kMostPrinted = 100;

std::vector<std::string> vertices_of(const eco::LinkGraph& graph, const eco::LinkPath& path) {
    std::vector<std::string> out{graph.vertices[graph.links[path.front()].from]};
    for (const std::uint32_t link : path) out.push_back(graph.vertices[graph.links[link].to]);
    return out;
}

void print_json(const eco::LinkGraph& graph, const std::vector<eco::LinkPath>& paths, std::uint64_t count) {
    std::vector<std::string> lists;
    for (const eco::LinkPath& path : paths) {
        std::vector<std::string> names;
        for (const std::string& vertex : vertices_of(graph, path)) names.push_back(json::quote(vertex));
        lists.push_back(json::list(names));
    }
    json::Object out;
    out.add("count", count).add("links", paths.front().size()).raw("paths", json::list(lists));
    std::printf("%s\n", out.text().c_str());
}

} // namespace

std::uint32_t terminal_of(const eco::LinkGraph& graph, const std::string& text, const std::string& what) {
    std::uint32_t out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc{} || end != text.data() + text.size() || out >= graph.terminals.size())
        throw Error(Status::bad_argument, fmt::format("{} {} is no terminal: there are 0 to {}", what,
                                                      json::quote(text), graph.terminals.size() - 1));
    return out;
}

int print_paths(const Options& options) {
    if (options.words.size() != 3) usage_error("schedule", "paths takes NAME|FILE and two terminals");
    const eco::LinkGraph graph = graph_of(options.words[0]);
    eco::check(graph);
    const std::uint32_t from = terminal_of(graph, options.words[1], "terminal");
    const std::uint32_t to = terminal_of(graph, options.words[2], "terminal");
    if (from == to) usage_error("schedule", "paths takes two terminals that differ");
    const WaysTo ways(graph, links_into(graph), graph.terminals[to].out);
    const std::uint64_t count = ways.count(graph.terminals[from].in);
    const std::vector<eco::LinkPath> paths = eco::shortest_paths(graph, from, to, kMostPrinted);
    if (options.json) {
        print_json(graph, paths, count);
        return kOk;
    }
    for (const eco::LinkPath& path : paths)
        std::printf("%s\n", fmt::format("{}", fmt::join(vertices_of(graph, path), " ")).c_str());
    if (count > paths.size())
        std::printf("and %s%llu more\n", count == WaysTo::kMostCounted ? "at least " : "",
                    static_cast<unsigned long long>(count - paths.size()));
    return kOk;
}

} // namespace plexus::tools::schedule
