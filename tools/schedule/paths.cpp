// SPDX-License-Identifier: BSD-3-Clause
// `plexus schedule paths`: the shortest paths between two terminals, and how many there are.
#include "tools/common/json.h"
#include "tools/common/usage.h"
#include "tools/schedule/arguments.h"
#include "tools/schedule/ways.h"
#include "tools/verb.h"

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

int print_paths(const Options& options) {
    std::vector<std::string> words = options.words;
    const eco::LinkGraph graph = take_graph(words, options);
    if (words.size() != 2) usage_error("schedule", "paths takes a network and two terminals");
    const std::uint32_t from = terminal_of(graph, words[0], "terminal");
    const std::uint32_t to = terminal_of(graph, words[1], "terminal");
    if (from == to) usage_error("schedule", "paths takes two terminals that differ");
    const WaysTo ways(graph, links_into(graph), graph.terminals[to].out);
    const std::uint64_t count = ways.count(graph.terminals[from].in);
    const std::vector<eco::LinkPath> paths = eco::shortest_paths(graph, from, to, kMostPrinted);
    if (options.json) {
        print_json(graph, paths, count);
        return kOk;
    }
    for (const eco::LinkPath& path : paths) {
        std::vector<std::string> names;
        for (const std::string& vertex : vertices_of(graph, path)) names.push_back(json::printable(vertex));
        std::printf("%s\n", fmt::format("{}", fmt::join(names, " ")).c_str());
    }
    if (count > paths.size())
        std::printf("and %s%llu more\n", count == WaysTo::kMostCounted ? "at least " : "",
                    static_cast<unsigned long long>(count - paths.size()));
    return kOk;
}

} // namespace plexus::tools::schedule
