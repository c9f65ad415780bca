// SPDX-License-Identifier: BSD-3-Clause
// Places of a grid for members of a network: several first guesses, the cheapest of them, and
// swaps of two members as long as they help.
#include "plexus/eco/arrange.h"

#include "topology/refuse.h"

#include <algorithm>
#include <numeric>

namespace plexus::eco {
namespace {

using PairCost = std::function<double(Rank, Rank)>;
using Places = std::vector<Rank>;

class Lattice {
  public:
    Lattice(const GridShape& shape, Rank members)
      : lengths_(shape.lengths)
      , near_(members) {
        if (lengths_.empty() || lengths_.size() > 3)
            refuse(Status::bad_argument, "a grid has one to three dimensions, not {}", lengths_.size());
        if (!shape.periodic.empty() && shape.periodic.size() != lengths_.size())
            refuse(Status::bad_argument, "{} dimensions, and {} of them are said to be periodic or not",
                   lengths_.size(), shape.periodic.size());
        std::uint64_t places = 1;
        for (const Rank length : lengths_) {
            places *= length;
            if (places == 0 || places > members) break;
        }
        if (places != members)
            refuse(Status::bad_argument, "the grid has {}{} places for {} members",
                   places > members ? "at least " : "", places, members);
        std::uint64_t stride = 1;
        for (std::size_t dimension = lengths_.size(); dimension-- > 0;) {
            const Rank length = lengths_[dimension];
            const bool round = !shape.periodic.empty() && shape.periodic[dimension] && length > 2;
            for (Rank place = 0; place < members; ++place) {
                const auto at = static_cast<Rank>(place / stride % length);
                if (at + 1 < length) join(place, static_cast<Rank>(place + stride));
                if (round && at + 1 == length) join(place, static_cast<Rank>(place - stride * at));
            }
            stride *= length;
        }
    }

    double cost_at(const Places& who, Rank place, const PairCost& cost) const {
        double sum = 0;
        for (const Rank next : near_[place]) sum += cost(who[place], who[next]);
        return sum;
    }
    double cost_of(const Places& who, const PairCost& cost) const {
        double sum = 0;
        for (Rank place = 0; place < who.size(); ++place) sum += cost_at(who, place, cost);
        return sum / 2;
    }

    /// Members in `order` fill boxes that are halved along their longest side.
    Places in_boxes(const Places& order) const {
        Places who(order.size());
        std::size_t next = 0;
        std::vector<Rank> low(lengths_.size(), 0);
        fill(low, lengths_, order, next, who);
        return who;
    }

  private:
    void join(Rank a, Rank b) {
        near_[a].push_back(b);
        near_[b].push_back(a);
    }
    void fill(std::vector<Rank> low, std::vector<Rank> size, const Places& order, std::size_t& next,
              Places& who) const {
        const auto longest = std::max_element(size.begin(), size.end());
        if (*longest == 1) {
            std::uint64_t place = 0;
            for (std::size_t dimension = 0; dimension < size.size(); ++dimension)
                place = place * lengths_[dimension] + low[dimension];
            who[place] = order[next++];
            return;
        }
        const auto dimension = static_cast<std::size_t>(longest - size.begin());
        const Rank half = size[dimension] / 2;
        const Rank rest = size[dimension] - half;
        size[dimension] = half;
        fill(low, size, order, next, who);
        low[dimension] += half;
        size[dimension] = rest;
        fill(low, size, order, next, who);
    }

    const std::vector<Rank> lengths_;
    std::vector<Places> near_;
};

/// From member 0 on, always to the nearest that is left.
Places nearest_first(Rank members, const PairCost& cost) {
    Places left(members);
    std::iota(left.begin(), left.end(), Rank{0});
    Places order;
    Rank last = 0;
    while (!left.empty()) {
        const auto best = std::min_element(left.begin(), left.end(), [&](Rank a, Rank b) {
            return (a == last ? -1 : cost(last, a)) < (b == last ? -1 : cost(last, b));
        });
        last = *best;
        order.push_back(last);
        left.erase(best);
    }
    return order;
}

/// Swaps that help, until none does or it has taken long enough.
void improve(Places& who, const Lattice& lattice, const PairCost& cost) {
    std::uint64_t looks = 200'000;
    for (bool better = true; better;) {
        better = false;
        for (Rank a = 0; a < who.size(); ++a)
            for (Rank b = a + 1; b < who.size(); ++b) {
                if (looks-- == 0) return;
                const double before = lattice.cost_at(who, a, cost) + lattice.cost_at(who, b, cost);
                std::swap(who[a], who[b]);
                const double after = lattice.cost_at(who, a, cost) + lattice.cost_at(who, b, cost);
                if (after < before * (1 - 1e-9)) {
                    better = true;
                } else {
                    std::swap(who[a], who[b]);
                }
            }
    }
}

} // namespace

std::vector<Rank> arrange(const GridShape& shape, Rank members, const PairCost& cost) {
    const Lattice lattice(shape, members);
    Places best(members); // the ranks as they are: taken where nothing is better
    std::iota(best.begin(), best.end(), Rank{0});
    double least = lattice.cost_of(best, cost);
    const Places near = nearest_first(members, cost);
    for (Places guess : {best, near, lattice.in_boxes(near)}) {
        improve(guess, lattice, cost);
        const double sum = lattice.cost_of(guess, cost);
        if (sum >= least * (1 - 1e-9)) continue;
        least = sum;
        best = std::move(guess);
    }
    return best;
}

} // namespace plexus::eco
