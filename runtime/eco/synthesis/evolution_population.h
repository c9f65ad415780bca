// SPDX-License-Identifier: BSD-3-Clause
// The population of the evolutionary search at a fixed number of rounds (section 4.5). Pure.
#pragma once

#include "synthesis/evolution_encoding.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace plexus::eco {

class Population {
  public:
    /// Of kChances new individuals `mutation` mutate.
    static constexpr std::uint32_t kChances = 1U << 30U;

    /// The problem and the source of random numbers have to outlive it.
    Population(const EvolutionProblem& problem, std::uint32_t rounds, std::uint32_t size,
               std::uint32_t mutation, Random& random);

    const Individual& best() const noexcept { return individuals_[order_.front()]; }
    /// Parents, model, new individuals in place of the worse half.
    void next_generation();

  private:
    void rank();
    void choose_parents();
    void estimate();
    void sample(Individual& child);

    const EvolutionProblem& problem_;
    std::uint32_t mutation_;
    Random& random_;
    std::unique_ptr<Encoding> encoding_;
    std::vector<Individual> individuals_;
    std::vector<std::uint32_t> order_; ///< individuals, best first, of equal ones the younger first
    std::vector<std::uint32_t> parents_;
    std::vector<Gene> common_;           ///< by gene, the value of the first parent
    std::vector<std::uint32_t> open_;    ///< genes in which the parents differ
    std::vector<Gene> values_;           ///< [open gene * parents + parent]
    std::vector<std::uint8_t> row_open_; ///< by row: it has an open gene
};

} // namespace plexus::eco
