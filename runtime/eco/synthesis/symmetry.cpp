// SPDX-License-Identifier: BSD-3-Clause
#include "synthesis/symmetry.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace plexus::eco {
namespace {

constexpr std::uint32_t kNone = Assignment::kNowhere;

/// Draws images of vertices in the order of a breadth-first walk; goes back where one has none.
class Drawing {
  public:
    Drawing(const Routes& routes, Random& random)
      : graph_(routes.graph())
      , random_(random)
      , neighbours_(graph_.vertices.size())
      , begins_(graph_.vertices.size(), kNone)
      , ends_(begins_)
      , image_(begins_)
      , taken_(graph_.vertices.size()) {
        for (std::uint32_t link = 0; link < graph_.links.size(); ++link) {
            const DirectedLink ends = graph_.links[link];
            link_[ends] = link;
            neighbours_[ends.from].push_back(ends.to);
            neighbours_[ends.to].push_back(ends.from);
        }
        for (std::uint32_t each = 0; each < graph_.terminals.size(); ++each) {
            begins_[graph_.terminals[each].in] = each;
            ends_[graph_.terminals[each].out] = each;
        }
        order_from(graph_.terminals[0].in);
    }

    std::optional<GraphSymmetry> draw(std::uint32_t steps) {
        steps_ = steps;
        if (order_.size() != graph_.vertices.size() || !extend(0)) return std::nullopt;
        GraphSymmetry out;
        for (const DirectedLink& each : graph_.links)
            out.links.push_back(link_.at({image_[each.from], image_[each.to]}));
        for (const Terminal& each : graph_.terminals) out.terminals.push_back(begins_[image_[each.in]]);
        return out;
    }

  private:
    void order_from(std::uint32_t first) {
        std::vector<bool> seen(graph_.vertices.size());
        order_.push_back(first);
        parent_.push_back(kNone);
        seen[first] = true;
        for (std::size_t at = 0; at < order_.size(); ++at)
            for (const std::uint32_t next : neighbours_[order_[at]]) {
                if (seen[next]) continue;
                seen[next] = true;
                order_.push_back(next);
                parent_.push_back(order_[at]);
            }
    }

    /// Where the vertex at this place of the order may go, by its neighbour that has an image already.
    std::vector<std::uint32_t> candidates(std::size_t at) {
        std::vector<std::uint32_t> out;
        if (at == 0) {
            for (const Terminal& each : graph_.terminals) out.push_back(each.in);
        } else {
            for (const std::uint32_t each : neighbours_[image_[parent_[at]]]) out.push_back(each);
        }
        random_.shuffle(out);
        return out;
    }

    bool extend(std::size_t at) {
        if (at == order_.size()) return true;
        if (steps_ == 0) return false;
        --steps_;
        const std::uint32_t vertex = order_[at];
        for (const std::uint32_t candidate : candidates(at)) {
            if (!fits(vertex, candidate)) continue;
            image_[vertex] = candidate;
            taken_[candidate] = true;
            if (extend(at + 1)) return true;
            image_[vertex] = kNone;
            taken_[candidate] = false;
        }
        return false;
    }

    bool fits(std::uint32_t vertex, std::uint32_t candidate) const {
        if (taken_[candidate] || neighbours_[vertex].size() != neighbours_[candidate].size()) return false;
        if ((begins_[vertex] == kNone) != (begins_[candidate] == kNone)) return false;
        if ((ends_[vertex] == kNone) != (ends_[candidate] == kNone)) return false;
        if (begins_[vertex] != kNone) {
            const std::uint32_t end = graph_.terminals[begins_[vertex]].out;
            const std::uint32_t wanted = graph_.terminals[begins_[candidate]].out;
            if (end == vertex ? wanted != candidate : image_[end] != kNone && image_[end] != wanted)
                return false;
        }
        if (ends_[vertex] != kNone) {
            const std::uint32_t begin = graph_.terminals[ends_[vertex]].in;
            const std::uint32_t wanted = graph_.terminals[ends_[candidate]].in;
            if (begin != vertex && image_[begin] != kNone && image_[begin] != wanted) return false;
        }
        return std::all_of(neighbours_[vertex].begin(), neighbours_[vertex].end(), [&](std::uint32_t next) {
            return image_[next] == kNone || (joined(vertex, next) == joined(candidate, image_[next]) &&
                                             joined(next, vertex) == joined(image_[next], candidate));
        });
    }

    bool joined(std::uint32_t from, std::uint32_t to) const { return link_.contains({from, to}); }

    const LinkGraph& graph_;
    Random& random_;
    std::map<DirectedLink, std::uint32_t> link_;
    std::vector<std::vector<std::uint32_t>> neighbours_;
    std::vector<std::uint32_t> begins_; ///< of each vertex: the terminal whose messages begin there
    std::vector<std::uint32_t> ends_;
    std::vector<std::uint32_t> image_; ///< of each vertex
    std::vector<bool> taken_;          ///< of each vertex: it is an image
    std::vector<std::uint32_t> order_;
    std::vector<std::uint32_t> parent_; ///< of each place in the order
    std::uint32_t steps_ = 0;
};

std::vector<std::uint32_t> composed(const std::vector<std::uint32_t>& first,
                                    const std::vector<std::uint32_t>& then) {
    std::vector<std::uint32_t> out;
    for (const std::uint32_t each : first) out.push_back(then[each]);
    return out;
}

bool leaves_none(const std::vector<std::uint32_t>& images) {
    for (std::uint32_t each = 0; each < images.size(); ++each)
        if (images[each] == each) return false;
    return true;
}

} // namespace

std::optional<GraphSymmetry> random_symmetry(const Routes& routes, Random& random, std::uint32_t steps) {
    return Drawing(routes, random).draw(steps);
}

std::optional<std::vector<GraphSymmetry>>
free_group(const Routes& routes, const std::vector<GraphSymmetry>& generators, std::size_t most) {
    GraphSymmetry identity{std::vector<std::uint32_t>(routes.graph().links.size()),
                           std::vector<std::uint32_t>(routes.terminals())};
    std::iota(identity.links.begin(), identity.links.end(), 0U);
    std::iota(identity.terminals.begin(), identity.terminals.end(), 0U);
    std::vector<GraphSymmetry> out{identity};
    std::set<GraphSymmetry> seen{identity};
    for (std::size_t at = 0; at < out.size(); ++at)
        for (const GraphSymmetry& each : generators) {
            GraphSymmetry product{composed(out[at].links, each.links),
                                  composed(out[at].terminals, each.terminals)};
            if (!seen.insert(product).second) continue;
            if (out.size() == most || !leaves_none(product.links) || !leaves_none(product.terminals))
                return std::nullopt;
            out.push_back(std::move(product));
        }
    return out;
}

SymmetricScatter::SymmetricScatter(const Routes& routes, std::vector<GraphSymmetry> group,
                                   const std::function<bool()>& go_on)
  : group_(std::move(group))
  , placement_(routes) {
    const std::uint32_t n = routes.terminals();
    std::vector<bool> seen(std::size_t{n} * n);
    for (std::uint32_t src = 0; src < n; ++src)
        for (std::uint32_t dst = 0; dst < n; ++dst) {
            if (src == dst || seen[std::size_t{src} * n + dst]) continue;
            for (const GraphSymmetry& each : group_)
                seen[std::size_t{each.terminals[src]} * n + each.terminals[dst]] = true;
            if (go_on() && add_task(src, dst)) continue;
            placement_ = Placement(routes);
            return;
        }
}

bool SymmetricScatter::add_task(std::uint32_t src, std::uint32_t dst) {
    const Routes& routes = placement_.routes();
    const auto links = static_cast<std::uint32_t>(routes.graph().links.size());
    placement_.begin_task();
    for (LinkPath& path : placement_.routes().paths(src, dst, kWaysTried)) {
        std::vector<std::uint32_t> used;
        for (const GraphSymmetry& each : group_) {
            for (const std::uint32_t link : path) used.push_back(each.links[link]);
            if (routes.graph().ports != Ports::one) continue;
            used.push_back(links + each.terminals[src]);
            used.push_back(links + routes.terminals() + each.terminals[dst]);
        }
        std::sort(used.begin(), used.end());
        if (std::adjacent_find(used.begin(), used.end()) != used.end()) continue;
        placement_.add_way(src, dst, used);
        paths_.push_back(std::move(path));
    }
    return placement_.tasks().back().ways > 0;
}

Transfer SymmetricScatter::image(std::uint32_t way, const GraphSymmetry& symmetry) const {
    const std::uint32_t src = symmetry.terminals[placement_.src(way)];
    return {src, symmetry.terminals[placement_.dst(way)], src, composed(paths_[way], symmetry.links)};
}

std::vector<Round> SymmetricScatter::rounds(const Assignment& assignment) const {
    std::vector<Round> out(assignment.rounds);
    for (std::size_t task = 0; task < assignment.round.size(); ++task)
        for (const GraphSymmetry& each : group_)
            out[assignment.round[task]].push_back(image(assignment.way[task], each));
    return out;
}

} // namespace plexus::eco
