// SPDX-License-Identifier: BSD-3-Clause
// OAS and AAS: a gene is a path and a round.
#include "synthesis/evolution_encoding.h"

#include <limits>
#include <utility>

namespace plexus::eco {
namespace {

constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

class ScatterEncoding final : public Encoding {
  public:
    ScatterEncoding(const EvolutionProblem& problem, std::uint32_t rounds)
      : problem_(problem)
      , user_(rounds, kNobody) {}

    std::vector<Gene> draw(Random& random) override;
    void restore(Individual& individual, std::uint32_t row, Random& random) override;
    void mutate(Individual& individual, Random& random) override;

  private:
    std::uint32_t rounds() const noexcept { return static_cast<std::uint32_t>(user_.size()); }

    const EvolutionProblem& problem_;
    std::vector<std::uint32_t> user_;   ///< by round: the gene of the row at hand that has it
    std::vector<std::uint32_t> excess_; ///< genes whose round another one has
    std::vector<std::uint32_t> free_;   ///< rounds that nobody has
};

std::vector<Gene> ScatterEncoding::draw(Random& random) {
    std::vector<Gene> out(problem_.genes());
    for (std::uint32_t each = 0; each < out.size(); ++each) {
        const std::uint32_t from = problem_.origin(each / problem_.width());
        const std::uint32_t paths = problem_.paths(from, problem_.destination(each));
        out[each] = {random.below(rounds()), static_cast<std::uint16_t>(from),
                     static_cast<std::uint16_t>(random.below(paths))};
    }
    return out;
}

/// A one-port terminal sends its messages in distinct rounds: of several in one round all but one move to
/// rounds that it has left free.
void ScatterEncoding::restore(Individual& individual, std::uint32_t row, Random& random) {
    if (!problem_.one_port() || rounds() < problem_.width()) return;
    const std::uint32_t width = problem_.width();
    excess_.clear();
    std::fill(user_.begin(), user_.end(), kNobody);
    const std::uint32_t start = random.below(width);
    for (std::uint32_t step = 0; step < width; ++step) {
        const std::uint32_t number = row * width + (start + step) % width;
        std::uint32_t& user = user_[individual.gene(number).round];
        if (user == kNobody)
            user = number;
        else
            excess_.push_back(number);
    }
    if (excess_.empty()) return;
    free_.clear();
    for (std::uint32_t round = 0; round < rounds(); ++round)
        if (user_[round] == kNobody) free_.push_back(round);
    for (const std::uint32_t number : excess_) {
        std::uint32_t& chosen = free_[random.below(static_cast<std::uint32_t>(free_.size()))];
        Gene gene = individual.gene(number);
        gene.round = std::exchange(chosen, free_.back());
        free_.pop_back();
        individual.set(number, gene);
    }
}

/// Swaps the rounds of a transfer and another one of its source, also with a round in which the source does
/// not send, and tests the paths of both.
void ScatterEncoding::mutate(Individual& individual, Random& random) {
    const std::uint32_t number = random.below(problem_.genes());
    const std::uint32_t width = problem_.width();
    const std::uint32_t round = random.below(rounds());
    Gene gene = individual.gene(number);
    const std::uint32_t start = random.below(width);
    for (std::uint32_t step = 0; step < width && round != gene.round; ++step) {
        const std::uint32_t each = number - number % width + (start + step) % width;
        Gene other = individual.gene(each);
        if (other.round != round) continue;
        other.round = std::exchange(gene.round, round);
        individual.set(number, gene);
        individual.set(each, other);
        individual.test_paths(each, {&other.source, 1}, random);
        break;
    }
    gene.round = round;
    individual.set(number, gene);
    individual.test_paths(number, {&gene.source, 1}, random);
}

} // namespace

std::unique_ptr<Encoding> scatter_encoding(const EvolutionProblem& problem, std::uint32_t rounds) {
    return std::make_unique<ScatterEncoding>(problem, rounds);
}

} // namespace plexus::eco
