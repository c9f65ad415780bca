// SPDX-License-Identifier: BSD-3-Clause
// What differs between scatters and broadcasts in the evolutionary search: first individuals, heuristics and
// mutation (sections 4.2 and 4.4). Pure.
#pragma once

#include "synthesis/evolution_individual.h"
#include "synthesis/random.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace plexus::eco {

class Encoding {
  public:
    Encoding() = default;
    Encoding(const Encoding&) = delete;
    Encoding& operator=(const Encoding&) = delete;
    virtual ~Encoding() = default;

    /// Genes of an individual of the first population, before restore().
    virtual std::vector<Gene> draw(Random& random) = 0;
    /// Makes a row of genes admissible: what the paper calls acceleration (scatters) and restoration
    /// (broadcasts). An admissible row stays as it is.
    virtual void restore(Individual& individual, std::uint32_t row, Random& random) = 0;
    /// Changes a transfer at random; the row stays admissible.
    virtual void mutate(Individual& individual, Random& random) = 0;
};

/// For schedules of `rounds` rounds. The problem has to outlive it.
std::unique_ptr<Encoding> scatter_encoding(const EvolutionProblem& problem, std::uint32_t rounds);
std::unique_ptr<Encoding> broadcast_encoding(const EvolutionProblem& problem, std::uint32_t rounds);

} // namespace plexus::eco
