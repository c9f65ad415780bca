// SPDX-License-Identifier: BSD-3-Clause
#include "tools/schedule/map_graph.h"

#include "plexus/eco/partition.h"
#include "plexus/error.h"

#include <algorithm>
#include <fmt/format.h>

namespace plexus::tools::schedule {
namespace {

/// Names of switches hold a blank, which names of hosts do not.
class Tree {
  public:
    explicit Tree(const std::vector<std::string>& hosts) {
        graph_.vertices = hosts;
        for (std::uint32_t host = 0; host < hosts.size(); ++host) {
            graph_.terminals.push_back({host, host});
            top_.push_back(host);
        }
    }

    /// Puts a switch above the hosts, if there is more than one tree among them.
    void join(const eco::Subnet& hosts, std::string name) {
        std::vector<std::uint32_t> below;
        for (const std::size_t host : hosts) below.push_back(top_[host]);
        std::sort(below.begin(), below.end());
        below.erase(std::unique(below.begin(), below.end()), below.end());
        if (below.size() < 2) return;
        const auto above = static_cast<std::uint32_t>(graph_.vertices.size());
        graph_.vertices.push_back(std::move(name));
        for (const std::uint32_t each : below) {
            graph_.links.push_back({each, above});
            graph_.links.push_back({above, each});
        }
        for (const std::size_t host : hosts) top_[host] = above;
    }

    eco::LinkGraph finish() { return std::move(graph_); }

  private:
    eco::LinkGraph graph_;
    std::vector<std::uint32_t> top_; // the uppermost vertex above each host
};

} // namespace

eco::LinkGraph graph_of_map(const eco::Map& map) {
    if (map.hosts().size() > eco::kMostTerminals)
        throw Error(Status::bad_argument, fmt::format("the map has {} hosts; {} terminals are the most",
                                                      map.hosts().size(), eco::kMostTerminals));
    const auto levels = eco::hierarchy(map.matrix(0, eco::Statistic::min, eco::Symmetry::mean));
    Tree tree(map.hosts());
    for (std::size_t level = 0; level < levels.size(); ++level)
        for (std::size_t each = 0; each < levels[level].size(); ++each)
            tree.join(levels[level][each], fmt::format("subnet {}.{}", level + 1, each));
    eco::Subnet all;
    for (std::size_t host = 0; host < map.hosts().size(); ++host) all.push_back(host);
    tree.join(all, "all subnets");
    return tree.finish();
}

} // namespace plexus::tools::schedule
