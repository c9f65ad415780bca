// SPDX-License-Identifier: BSD-3-Clause
// A candidate schedule of the evolutionary search and its fitness. Pure.
#pragma once

#include "synthesis/evolution_problem.h"
#include "synthesis/random.h"

#include <cstdint>
#include <span>
#include <vector>

namespace plexus::eco {

/// Keeps how many transfers use each link in each round: a changed gene costs only the links of its two
/// paths, not those of the whole schedule. The problem has to outlive it.
class Individual {
  public:
    Individual(const EvolutionProblem& problem, std::uint32_t rounds, std::vector<Gene> genes);

    std::span<const Gene> genes() const noexcept { return genes_; }
    const Gene& gene(std::uint32_t number) const noexcept { return genes_[number]; }
    std::uint32_t rounds() const noexcept { return rounds_; }
    /// Pairs of transfers of one round on one link, over all rounds and links (section 4.3): 0: valid.
    std::uint64_t conflicts() const noexcept { return conflicts_; }
    void set(std::uint32_t number, Gene gene) noexcept;
    /// Puts the transfer, in its round, on the path of the fewest conflicts among all paths from `sources`; a
    /// draw decides between equal ones.
    void test_paths(std::uint32_t number, std::span<const std::uint16_t> sources, Random& random);

  private:
    std::span<const std::uint32_t> links_of(std::uint32_t number, Gene gene) const noexcept {
        return problem_->path(gene.source, problem_->destination(number), gene.path);
    }
    void add(std::uint32_t number) noexcept;
    void remove(std::uint32_t number) noexcept;

    const EvolutionProblem* problem_;
    std::uint32_t rounds_;
    std::vector<Gene> genes_;
    std::vector<std::uint32_t> loads_; ///< [round * links + link]
    std::uint64_t conflicts_ = 0;
};

} // namespace plexus::eco
