// SPDX-License-Identifier: BSD-3-Clause
#include "synthesis/routes.h"

namespace plexus::eco {

Routes::Routes(const LinkGraph& graph)
  : graph_(&graph)
  , first_leaving_(graph.vertices.size() + 1)
  , leaving_(graph.links.size())
  , distances_(graph.terminals.size() * graph.vertices.size(), kUnreachable) {
    std::vector<std::vector<std::uint32_t>> entering(graph.vertices.size());
    for (std::uint32_t link = 0; link < graph.links.size(); ++link) {
        ++first_leaving_[graph.links[link].from + 1];
        entering[graph.links[link].to].push_back(link);
    }
    for (std::size_t vertex = 0; vertex < graph.vertices.size(); ++vertex)
        first_leaving_[vertex + 1] += first_leaving_[vertex];
    std::vector<std::uint32_t> next(first_leaving_.begin(), first_leaving_.end() - 1);
    for (std::uint32_t link = 0; link < graph.links.size(); ++link)
        leaving_[next[graph.links[link].from]++] = link;
    for (std::uint32_t to = 0; to < graph.terminals.size(); ++to) measure(to, entering);
}

void Routes::measure(std::uint32_t to, const std::vector<std::vector<std::uint32_t>>& entering) {
    std::uint32_t* const distance = distances_.data() + to * graph_->vertices.size();
    std::vector<std::uint32_t> reached{graph_->terminals[to].out};
    distance[reached.front()] = 0;
    for (std::size_t at = 0; at < reached.size(); ++at)
        for (const std::uint32_t link : entering[reached[at]]) {
            const std::uint32_t from = graph_->links[link].from;
            if (distance[from] != kUnreachable) continue;
            distance[from] = distance[reached[at]] + 1;
            reached.push_back(from);
        }
}

std::vector<LinkPath> Routes::paths(std::uint32_t from, std::uint32_t to, std::size_t most) const {
    std::vector<LinkPath> out;
    const std::uint32_t begin = graph_->terminals[from].in;
    if (from == to || distance(begin, to) == kUnreachable || most == 0) return out;
    struct Place {
        std::uint32_t vertex;
        std::size_t next; // of the links that leave it
    };
    std::vector<Place> way{{begin, 0}};
    LinkPath path;
    while (!way.empty()) {
        Place& place = way.back();
        const auto links = leaving(place.vertex);
        while (place.next < links.size() && !leads(links[place.next], to)) ++place.next;
        if (place.next < links.size()) {
            const std::uint32_t link = links[place.next++];
            path.push_back(link);
            way.push_back({graph_->links[link].to, 0});
            continue;
        }
        if (distance(place.vertex, to) == 0) {
            out.push_back(path);
            if (out.size() == most) break;
        }
        way.pop_back();
        if (!path.empty()) path.pop_back();
    }
    return out;
}

} // namespace plexus::eco
