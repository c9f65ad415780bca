// SPDX-License-Identifier: BSD-3-Clause
#include "synthesis/evolution_problem.h"

#include "plexus/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace plexus::eco {
namespace {

constexpr std::uint32_t kNoPort = std::numeric_limits<std::uint32_t>::max();
/// Of the shortest paths of a pair at most so many are kept, and of all pairs together.
constexpr std::size_t kMostPathsOfPair = 256;
constexpr std::size_t kMostPaths = 1U << 21U;
constexpr std::size_t kMostPathLinks = std::size_t{1} << 28U; // 1 GiB

} // namespace

EvolutionProblem::EvolutionProblem(const LinkGraph& graph, CollectiveKind kind, std::uint32_t root)
  : routes_(graph)
  , kind_(kind)
  , root_(root)
  , links_(static_cast<std::uint32_t>(graph.links.size()))
  , injection_(graph.terminals.size(), kNoPort)
  , acceptance_(graph.terminals.size(), kNoPort)
  , copies_(graph.terminals.size(), 1) {
    number_ports();
    find_paths();
}

void EvolutionProblem::number_ports() {
    const LinkGraph& graph = routes_.graph();
    std::vector<std::uint32_t> entering(graph.vertices.size());
    for (const DirectedLink& link : graph.links) ++entering[link.to];
    for (std::uint32_t each = 0; each < terminals(); ++each) {
        const auto leaving = static_cast<std::uint32_t>(routes_.leaving(graph.terminals[each].in).size());
        if (!one_port()) {
            copies_[each] = leaving;
            continue;
        }
        if (leaving > 1) injection_[each] = links_++;
        if (entering[graph.terminals[each].out] > 1) acceptance_[each] = links_++;
    }
}

void EvolutionProblem::find_paths() {
    const std::size_t pairs = static_cast<std::size_t>(terminals()) * terminals();
    const std::size_t most = std::clamp<std::size_t>(kMostPaths / pairs, 1, kMostPathsOfPair);
    first_path_.reserve(pairs + 1);
    first_path_.push_back(0);
    first_link_.push_back(0);
    for (std::uint32_t from = 0; from < terminals(); ++from)
        for (std::uint32_t to = 0; to < terminals(); ++to) {
            for (const LinkPath& way : routes_.paths(from, to, most)) {
                path_links_.insert(path_links_.end(), way.begin(), way.end());
                if (injection_[from] != kNoPort) path_links_.push_back(injection_[from]);
                if (acceptance_[to] != kNoPort) path_links_.push_back(acceptance_[to]);
                if (path_links_.size() > kMostPathLinks)
                    throw Error(
                        Status::too_large,
                        fmt::format("the shortest paths have more than {} links together", kMostPathLinks));
                first_link_.push_back(path_links_.size());
            }
            first_path_.push_back(static_cast<std::uint32_t>(first_link_.size() - 1));
        }
}

RoundSchedule EvolutionProblem::schedule(std::span<const Gene> genes, std::uint32_t rounds) const {
    RoundSchedule out;
    out.kind = kind_;
    out.root = root_;
    out.rounds.resize(rounds);
    for (std::uint32_t each = 0; each < genes.size(); ++each) {
        const Gene& gene = genes[each];
        const std::uint32_t to = destination(each);
        const auto ways = path(gene.source, to, gene.path);
        LinkPath links;
        for (const std::uint32_t link : ways)
            if (link < routes_.graph().links.size()) links.push_back(link);
        out.rounds[gene.round].push_back({gene.source, to, origin(each / width()), std::move(links)});
    }
    std::erase_if(out.rounds, [](const Round& round) { return round.empty(); });
    return out;
}

} // namespace plexus::eco
