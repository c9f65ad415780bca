// SPDX-License-Identifier: BSD-3-Clause
#include "synthesis/weights.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace plexus::eco {

WeightedLinks::WeightedLinks(const Routes& routes, std::optional<std::uint32_t> root,
                             const std::function<bool()>& go_on)
  : routes_(routes)
  , go_on_(go_on)
  , order_(routes.terminals())
  , loads_(routes.graph().links.size())
  , least_load_(std::numeric_limits<std::uint64_t>::max()) {
    for (std::uint32_t terminal = 0; terminal < routes.terminals(); ++terminal) {
        if (!root || *root == terminal) senders_.push_back(terminal);
        for (std::uint32_t vertex = 0; vertex < routes.graph().vertices.size(); ++vertex)
            if (routes.distance(vertex, terminal) != Routes::kUnreachable) order_[terminal].push_back(vertex);
        std::stable_sort(order_[terminal].begin(), order_[terminal].end(),
                         [&](std::uint32_t a, std::uint32_t b) {
                             return routes.distance(a, terminal) < routes.distance(b, terminal);
                         });
    }
}

void WeightedLinks::weigh(const std::vector<std::uint32_t>& weights, std::uint32_t to,
                          std::vector<std::uint64_t>& lightest) const {
    for (const std::uint32_t vertex : order_[to]) {
        lightest[vertex] = routes_.distance(vertex, to) == 0 ? 0 : std::numeric_limits<std::uint64_t>::max();
        for (const std::uint32_t link : routes_.leaving(vertex))
            if (routes_.leads(link, to))
                lightest[vertex] =
                    std::min(lightest[vertex], weights[link] + lightest[routes_.graph().links[link].to]);
    }
}

WeightedLinks::Proof WeightedLinks::prove(std::vector<std::uint32_t> weights) {
    const LinkGraph& graph = routes_.graph();
    work_ += std::uint64_t{routes_.terminals()} * graph.links.size();
    Proof out;
    std::fill(loads_.begin(), loads_.end(), 0.0);
    std::vector<std::uint64_t> lightest(graph.vertices.size());
    std::vector<double> passing(graph.vertices.size());
    for (std::uint32_t to = 0; to < routes_.terminals(); ++to) {
        weigh(weights, to, lightest);
        std::fill(passing.begin(), passing.end(), 0.0);
        for (const std::uint32_t from : senders_) {
            if (from == to) continue;
            out.ways += lightest[graph.terminals[from].in];
            passing[graph.terminals[from].in] += 1;
        }
        for (auto vertex = order_[to].rbegin(); vertex != order_[to].rend(); ++vertex) { // equal ways share
            if (passing[*vertex] == 0) continue;
            std::uint32_t equals = 0;
            const auto is_lightest = [&](std::uint32_t link) {
                return routes_.leads(link, to) &&
                       weights[link] + lightest[graph.links[link].to] == lightest[*vertex];
            };
            for (const std::uint32_t link : routes_.leaving(*vertex)) equals += is_lightest(link) ? 1 : 0;
            for (const std::uint32_t link : routes_.leaving(*vertex)) {
                if (!is_lightest(link)) continue;
                loads_[link] += passing[*vertex] / equals;
                passing[graph.links[link].to] += passing[*vertex] / equals;
            }
        }
    }
    const double most = *std::max_element(loads_.begin(), loads_.end());
    least_load_ = std::min(least_load_, static_cast<std::uint64_t>(std::ceil(most - 1e-6)));
    out.links = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
    out.rounds = (out.ways + out.links - 1) / out.links;
    out.weights = std::move(weights);
    return out;
}

void WeightedLinks::consider(std::vector<std::uint32_t> weights) {
    Proof proof = prove(std::move(weights));
    if (proof.rounds > best_.rounds) best_ = std::move(proof);
}

/// The loads that all pairs' ways must have: those of the links that every way of a pair shares.
void WeightedLinks::try_single_links() {
    constexpr std::size_t kMostWays = 64;
    std::vector<std::uint64_t> forced(loads_.size());
    std::vector<std::uint32_t> ways_over(loads_.size());
    for (const std::uint32_t from : senders_) {
        if (!go_on_()) break; // what was found is forced in any case
        for (std::uint32_t to = 0; to < routes_.terminals() && work_ < kMostWork; ++to) {
            const auto paths = routes_.paths(from, to, kMostWays + 1);
            work_ += 1 + paths.size() * (paths.empty() ? 0 : paths.front().size());
            if (paths.empty() || paths.size() > kMostWays) continue;
            for (const LinkPath& path : paths)
                for (const std::uint32_t link : path) ++ways_over[link];
            for (const std::uint32_t link : paths.front())
                forced[link] += ways_over[link] == paths.size() ? 1 : 0;
            for (const LinkPath& path : paths)
                for (const std::uint32_t link : path) ways_over[link] = 0;
        }
    }
    const auto most = std::max_element(forced.begin(), forced.end());
    std::vector<std::uint32_t> weights(loads_.size());
    weights[static_cast<std::size_t>(most - forced.begin())] = 1;
    consider(std::move(weights));
}

/// Links that leave, or enter, the vertices up to some distance from a terminal or to it.
void WeightedLinks::try_surroundings() {
    const LinkGraph& graph = routes_.graph();
    for (std::uint32_t centre = 0; centre < routes_.terminals(); ++centre)
        for (std::uint32_t radius = 0; open(); ++radius) {
            const auto near = [&](std::uint32_t vertex) {
                return routes_.distance(vertex, centre) <= radius;
            };
            std::vector<std::uint32_t> entering(graph.links.size());
            std::vector<std::uint32_t> leaving(graph.links.size());
            for (std::size_t link = 0; link < graph.links.size(); ++link) {
                entering[link] = !near(graph.links[link].from) && near(graph.links[link].to) ? 1 : 0;
                leaving[link] = near(graph.links[link].from) && !near(graph.links[link].to) ? 1 : 0;
            }
            const auto any = [](const auto& weights) {
                return std::find(weights.begin(), weights.end(), 1) != weights.end();
            };
            if (!any(entering)) break;
            if (any(leaving)) consider(std::move(leaving));
            consider(std::move(entering));
        }
}

/// Multiplicative weights: a link grows with what it has to carry. Each time also the heavy links alone.
void WeightedLinks::try_loads() {
    constexpr int kTurns = 100;
    constexpr double kScale = 1 << 16;
    std::vector<double> heavy(loads_.size(), 1.0);
    for (int turn = 0; turn < kTurns && open(); ++turn) {
        const double most = *std::max_element(heavy.begin(), heavy.end());
        std::vector<std::uint32_t> weights;
        std::vector<std::uint32_t> alone;
        for (const double each : heavy) {
            weights.push_back(static_cast<std::uint32_t>(std::lround(kScale * each / most)));
            alone.push_back(2 * each >= most ? 1 : 0);
        }
        consider(std::move(alone));
        consider(std::move(weights));
        const double busiest = *std::max_element(loads_.begin(), loads_.end());
        for (std::size_t link = 0; link < heavy.size(); ++link)
            heavy[link] *= 1 + 0.5 * loads_[link] / busiest;
    }
}

WeightedLinks::Proof WeightedLinks::search() {
    try_single_links();
    consider(std::vector<std::uint32_t>(loads_.size(), 1));
    if (open()) try_loads();
    if (open()) try_surroundings();
    return best_;
}

WeightedLinks::Proof WeightedLinks::search_forwarded() {
    const LinkGraph& graph = routes_.graph();
    std::vector<std::uint32_t> layer(graph.vertices.size(),
                                     Routes::kUnreachable); // distance from the next terminal
    std::vector<std::uint32_t> reached;
    for (const Terminal& each : graph.terminals) {
        layer[each.in] = 0;
        reached.push_back(each.in);
    }
    for (std::size_t at = 0; at < reached.size(); ++at)
        for (const std::uint32_t link : routes_.leaving(reached[at])) {
            const std::uint32_t next = graph.links[link].to;
            if (layer[next] != Routes::kUnreachable) continue;
            layer[next] = layer[reached[at]] + 1;
            reached.push_back(next);
        }
    consider_forwarded(std::vector<std::uint32_t>(graph.links.size(), 1));
    for (std::uint32_t depth = 0; depth <= layer[reached.back()] && work_ < kMostWork && go_on_(); ++depth) {
        std::vector<std::uint32_t> weights;
        for (const DirectedLink& each : graph.links) weights.push_back(layer[each.from] == depth ? 1 : 0);
        if (std::find(weights.begin(), weights.end(), 1) != weights.end())
            consider_forwarded(std::move(weights));
    }
    return best_;
}

void WeightedLinks::consider_forwarded(std::vector<std::uint32_t> weights) {
    const LinkGraph& graph = routes_.graph();
    work_ += std::uint64_t{routes_.terminals()} * graph.links.size();
    std::vector<std::uint64_t> lightest(graph.vertices.size());
    Proof proof;
    for (std::uint32_t to = 0; to < routes_.terminals(); ++to) {
        weigh(weights, to, lightest);
        std::uint64_t nearest = std::numeric_limits<std::uint64_t>::max();
        for (const std::uint32_t from : senders_)
            if (from != to) nearest = std::min(nearest, lightest[graph.terminals[from].in]);
        proof.ways += nearest * (routes_.terminals() - 1);
    }
    proof.links = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
    proof.rounds = (proof.ways + proof.links - 1) / proof.links;
    proof.weights = std::move(weights);
    if (proof.rounds > best_.rounds) best_ = std::move(proof);
}

} // namespace plexus::eco
