// SPDX-License-Identifier: BSD-3-Clause
#include "synthesis/evolution_individual.h"

#include <limits>
#include <utility>

namespace plexus::eco {

Individual::Individual(const EvolutionProblem& problem, std::uint32_t rounds, std::vector<Gene> genes)
  : problem_(&problem)
  , rounds_(rounds)
  , genes_(std::move(genes))
  , loads_(static_cast<std::size_t>(rounds) * problem.links()) {
    for (std::uint32_t each = 0; each < genes_.size(); ++each) add(each);
}

void Individual::add(std::uint32_t number) noexcept {
    const Gene gene = genes_[number];
    std::uint32_t* const loads = loads_.data() + static_cast<std::size_t>(gene.round) * problem_->links();
    for (const std::uint32_t link : links_of(number, gene)) conflicts_ += loads[link]++;
}

void Individual::remove(std::uint32_t number) noexcept {
    const Gene gene = genes_[number];
    std::uint32_t* const loads = loads_.data() + static_cast<std::size_t>(gene.round) * problem_->links();
    for (const std::uint32_t link : links_of(number, gene)) conflicts_ -= --loads[link];
}

void Individual::set(std::uint32_t number, Gene gene) noexcept {
    if (genes_[number] == gene) return;
    remove(number);
    genes_[number] = gene;
    add(number);
}

void Individual::test_paths(std::uint32_t number, std::span<const std::uint16_t> sources, Random& random) {
    remove(number);
    Gene gene = genes_[number];
    const std::uint32_t* const loads =
        loads_.data() + static_cast<std::size_t>(gene.round) * problem_->links();
    std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
    std::uint32_t equal = 0;
    for (const std::uint16_t source : sources) {
        gene.source = source;
        const std::uint32_t paths = problem_->paths(source, problem_->destination(number));
        for (std::uint32_t path = 0; path < paths; ++path) {
            gene.path = static_cast<std::uint16_t>(path);
            std::uint64_t conflicts = 0;
            for (const std::uint32_t link : links_of(number, gene)) conflicts += loads[link];
            if (conflicts > fewest) continue;
            equal = conflicts < fewest ? 1 : equal + 1;
            fewest = conflicts;
            if (random.below(equal) == 0) genes_[number] = gene;
        }
    }
    add(number);
}

} // namespace plexus::eco
