// SPDX-License-Identifier: BSD-3-Clause
// OAB and AAB: a gene is a source, a path and a round; a row is the tree of one message.
#include "synthesis/evolution_encoding.h"

#include <utility>

namespace plexus::eco {
namespace {

class BroadcastEncoding final : public Encoding {
  public:
    BroadcastEncoding(const EvolutionProblem& problem, std::uint32_t rounds)
      : problem_(problem)
      , waiting_(rounds)
      , sends_left_(problem.terminals()) {}

    std::vector<Gene> draw(Random& random) override;
    void restore(Individual& individual, std::uint32_t row, Random& random) override;
    void mutate(Individual& individual, Random& random) override;

  private:
    std::uint32_t rounds() const noexcept { return static_cast<std::uint32_t>(waiting_.size()); }
    void restore_round(Individual& individual, std::uint32_t round, Random& random);
    void choose_source(Individual& individual, std::uint32_t number, std::uint32_t round, Random& random);
    void test_paths(Individual& individual, std::uint32_t number, Random& random);
    void choose_path(Gene& gene, std::uint32_t number, Random& random) const;

    const EvolutionProblem& problem_;
    std::vector<std::vector<std::uint32_t>> waiting_; ///< by round: genes of the row at hand
    std::vector<std::uint32_t> informed_;             ///< terminals that have the message
    std::vector<std::uint32_t> sends_left_;           ///< by terminal, in the round at hand; 0 of others
    std::vector<std::uint32_t> able_;                 ///< informed ones with sends left
    std::vector<std::uint16_t> sources_;              ///< whose paths are tested
    std::vector<std::uint32_t> astray_;               ///< genes whose source cannot send
};

/// OAB: all transfers in round 0, from the root: restoration spreads them. AAB: anywhere.
std::vector<Gene> BroadcastEncoding::draw(Random& random) {
    std::vector<Gene> out(problem_.genes());
    for (std::uint32_t each = 0; each < out.size(); ++each) {
        Gene& gene = out[each];
        gene.source = static_cast<std::uint16_t>(problem_.origin(each / problem_.width()));
        if (problem_.rows() > 1) gene.round = random.below(rounds());
        choose_path(gene, each, random);
    }
    return out;
}

/// Section 4.4: round by round, each transfer whose source does not have the message, or sends as many
/// copies already as it can in a round, gets another source; where none can send it waits for the next round.
void BroadcastEncoding::restore(Individual& individual, std::uint32_t row, Random& random) {
    const std::uint32_t width = problem_.width();
    for (auto& each : waiting_) each.clear();
    std::fill(sends_left_.begin(), sends_left_.end(), 0);
    informed_.assign(1, problem_.origin(row));
    const std::uint32_t start = random.below(width);
    for (std::uint32_t step = 0; step < width; ++step) {
        const std::uint32_t number = row * width + (start + step) % width;
        waiting_[individual.gene(number).round].push_back(number);
    }
    for (std::uint32_t round = 0; round < rounds(); ++round) restore_round(individual, round, random);
}

void BroadcastEncoding::restore_round(Individual& individual, std::uint32_t round, Random& random) {
    const auto& transfers = waiting_[round];
    if (transfers.empty()) return;
    for (const std::uint32_t each : informed_) sends_left_[each] = problem_.copies(each);
    astray_.clear();
    for (const std::uint32_t number : transfers) {
        std::uint32_t& left = sends_left_[individual.gene(number).source];
        if (left > 0)
            --left;
        else
            astray_.push_back(number);
    }
    able_.clear();
    if (!astray_.empty())
        for (const std::uint32_t each : informed_)
            if (sends_left_[each] > 0) able_.push_back(each);
    for (const std::uint32_t number : astray_) {
        if (able_.empty() && round + 1 < rounds()) {
            waiting_[round + 1].push_back(number);
            Gene gene = individual.gene(number);
            gene.round = round + 1;
            individual.set(number, gene);
            continue;
        }
        choose_source(individual, number, round, random);
    }
    for (const std::uint32_t number : transfers)
        if (individual.gene(number).round == round) informed_.push_back(problem_.destination(number));
}

void BroadcastEncoding::choose_source(Individual& individual, std::uint32_t number, std::uint32_t round,
                                      Random& random) {
    Gene gene = individual.gene(number);
    gene.round = round;
    if (able_.empty()) { // the last round: whoever has the message, in conflict with its other copies
        gene.source =
            static_cast<std::uint16_t>(informed_[random.below(static_cast<std::uint32_t>(informed_.size()))]);
    } else {
        std::uint32_t& chosen = able_[random.below(static_cast<std::uint32_t>(able_.size()))];
        gene.source = static_cast<std::uint16_t>(chosen);
        if (--sends_left_[chosen] == 0) {
            chosen = able_.back();
            able_.pop_back();
        }
    }
    choose_path(gene, number, random);
    individual.set(number, gene);
}

void BroadcastEncoding::choose_path(Gene& gene, std::uint32_t number, Random& random) const {
    gene.path =
        static_cast<std::uint16_t>(random.below(problem_.paths(gene.source, problem_.destination(number))));
}

/// Tests the paths from all sources that have the message before the transfer's round.
void BroadcastEncoding::test_paths(Individual& individual, std::uint32_t number, Random& random) {
    const std::uint32_t width = problem_.width();
    const std::uint32_t row = number / width;
    const std::uint32_t round = individual.gene(number).round;
    sources_.assign(1, static_cast<std::uint16_t>(problem_.origin(row)));
    for (std::uint32_t each = row * width; each < (row + 1) * width; ++each)
        if (individual.gene(each).round < round)
            sources_.push_back(static_cast<std::uint16_t>(problem_.destination(each)));
    individual.test_paths(number, sources_, random);
}

/// The transfer goes to a round that is drawn; another message that its destination accepts in that round
/// takes its round instead.
void BroadcastEncoding::mutate(Individual& individual, Random& random) {
    const std::uint32_t number = random.below(problem_.genes());
    const std::uint32_t width = problem_.width();
    Gene gene = individual.gene(number);
    if (random.below(2) == 0) {
        const std::uint32_t to = problem_.destination(number);
        const std::uint32_t old = gene.round;
        gene.round = random.below(rounds());
        individual.set(number, gene);
        const std::uint32_t start = random.below(problem_.rows());
        for (std::uint32_t step = 0; step < problem_.rows(); ++step) {
            const std::uint32_t row = (start + step) % problem_.rows();
            const std::uint32_t from = problem_.origin(row);
            if (from == to || row == number / width) continue;
            const std::uint32_t each = row * width + (to < from ? to : to - 1);
            Gene other = individual.gene(each);
            if (other.round != gene.round) continue;
            other.round = old;
            individual.set(each, other);
            test_paths(individual, each, random);
            restore(individual, row, random);
            break;
        }
    }
    test_paths(individual, number, random);
    restore(individual, number / width, random);
}

} // namespace

std::unique_ptr<Encoding> broadcast_encoding(const EvolutionProblem& problem, std::uint32_t rounds) {
    return std::make_unique<BroadcastEncoding>(problem, rounds);
}

} // namespace plexus::eco
