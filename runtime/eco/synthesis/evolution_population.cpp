// SPDX-License-Identifier: BSD-3-Clause
#include "synthesis/evolution_population.h"

#include <algorithm>
#include <numeric>

namespace plexus::eco {

Population::Population(const EvolutionProblem& problem, std::uint32_t rounds, std::uint32_t size,
                       std::uint32_t mutation, Random& random)
  : problem_(problem)
  , mutation_(mutation)
  , random_(random)
  , encoding_(problem.scatters() ? scatter_encoding(problem, rounds) : broadcast_encoding(problem, rounds))
  , order_(size)
  , row_open_(problem.rows()) {
    individuals_.reserve(size);
    for (std::uint32_t each = 0; each < size; ++each) {
        individuals_.emplace_back(problem, rounds, encoding_->draw(random_));
        for (std::uint32_t row = 0; row < problem.rows(); ++row)
            encoding_->restore(individuals_.back(), row, random_);
    }
    std::iota(order_.begin(), order_.end(), 0U);
    rank();
}

void Population::rank() {
    std::stable_sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) {
        return individuals_[a].conflicts() < individuals_[b].conflicts();
    });
}

/// Half as many as there are individuals: each the better of two that are drawn.
void Population::choose_parents() {
    const auto size = static_cast<std::uint32_t>(individuals_.size());
    parents_.clear();
    for (std::uint32_t each = 0; each < size / 2; ++each) {
        const std::uint32_t first = random_.below(size);
        const std::uint32_t second = random_.below(size);
        const bool better = individuals_[first].conflicts() < individuals_[second].conflicts();
        parents_.push_back(better ? first : second);
    }
}

/// The marginal distribution of each gene is the list of its values in the parents: to draw one of them is
/// to sample it. A gene of one value only needs no list.
void Population::estimate() {
    const auto first = individuals_[parents_.front()].genes();
    common_.assign(first.begin(), first.end());
    std::vector<std::uint8_t> differs(common_.size());
    for (const std::uint32_t parent : parents_) {
        const auto genes = individuals_[parent].genes();
        for (std::size_t each = 0; each < common_.size(); ++each)
            differs[each] |= static_cast<std::uint8_t>(genes[each] != common_[each]);
    }
    open_.clear();
    values_.clear();
    std::fill(row_open_.begin(), row_open_.end(), 0);
    for (std::uint32_t each = 0; each < common_.size(); ++each) {
        if (differs[each] == 0) continue;
        open_.push_back(each);
        row_open_[each / problem_.width()] = 1;
        for (const std::uint32_t parent : parents_) values_.push_back(individuals_[parent].gene(each));
    }
}

void Population::sample(Individual& child) {
    const auto parents = static_cast<std::uint32_t>(parents_.size());
    std::size_t next = 0;
    for (std::uint32_t each = 0; each < common_.size(); ++each) {
        if (next < open_.size() && open_[next] == each) {
            child.set(each, values_[next * parents + random_.below(parents)]);
            ++next;
        } else {
            child.set(each, common_[each]);
        }
    }
    for (std::uint32_t row = 0; row < problem_.rows(); ++row)
        if (row_open_[row] != 0) encoding_->restore(child, row, random_);
    if (random_.below(kChances) < mutation_) encoding_->mutate(child, random_);
}

void Population::next_generation() {
    choose_parents();
    estimate();
    const auto half = static_cast<std::ptrdiff_t>(order_.size() / 2);
    for (auto each = order_.end() - half; each != order_.end(); ++each) sample(individuals_[*each]);
    std::rotate(order_.begin(), order_.end() - half, order_.end());
    rank();
}

} // namespace plexus::eco
