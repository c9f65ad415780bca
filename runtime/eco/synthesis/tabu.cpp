// SPDX-License-Identifier: BSD-3-Clause
#include "synthesis/tabu.h"

#include <algorithm>

namespace plexus::eco {
namespace {

constexpr std::uint32_t kFree = Assignment::kNowhere;

class Search {
  public:
    Search(const Placement& placement, const TabuOptions& options, Assignment& assignment, Random& random)
      : placement_(placement)
      , random_(random)
      , out_(assignment)
      , owner_(std::size_t{options.rounds} * placement.resources(), kFree)
      , tabu_(placement.tasks().size())
      , tabu_rounds_(options.rounds)
      , seen_(placement.tasks().size()) {
        if (options.keep_rounds) home_ = out_.round;
        out_.rounds = options.rounds;
        for (std::uint32_t task = 0; task < placement.tasks().size(); ++task) {
            if (out_.round[task] != Assignment::kNowhere &&
                holders(owners(out_.round[task]), out_.way[task], 0) == 0) {
                own(task, task);
            } else {
                out_.round[task] = Assignment::kNowhere;
                unplaced_.push_back(task);
            }
        }
        least_unplaced_ = unplaced_.size();
    }

    bool done() const noexcept { return unplaced_.empty(); }
    std::uint64_t moves_since_best() const noexcept { return moves_ - moves_at_best_; }

    void move() {
        ++moves_;
        const std::size_t at = random_.below(unplaced_.size());
        const std::uint32_t task = unplaced_[at];
        const Place best = best_place(task);
        if (best.round == kFree) return;
        unplaced_[at] = unplaced_.back();
        unplaced_.pop_back();
        for (const std::uint32_t resource : placement_.used_by(best.way)) {
            const std::uint32_t other = owners(best.round)[resource];
            if (other != kFree) put_out(other);
        }
        out_.round[task] = best.round;
        out_.way[task] = best.way;
        own(task, task);
        if (unplaced_.size() >= least_unplaced_) return;
        least_unplaced_ = unplaced_.size();
        moves_at_best_ = moves_;
    }

  private:
    struct Place {
        std::uint32_t round = kFree;
        std::uint32_t way = 0;
    };
    struct Ban {
        std::uint32_t round;
        std::uint64_t until; ///< a number of moves
    };

    std::uint32_t* owners(std::uint32_t round) noexcept {
        return owner_.data() + std::size_t{round} * placement_.resources();
    }

    void own(std::uint32_t task, std::uint32_t owner) {
        for (const std::uint32_t resource : placement_.used_by(out_.way[task]))
            owners(out_.round[task])[resource] = owner;
    }

    void put_out(std::uint32_t task) {
        own(task, kFree);
        unplaced_.push_back(task);
        const std::uint64_t tenure = unplaced_.size() * 6 / 10 + random_.below(10) + 1;
        tabu_[task].push_back({out_.round[task], moves_ + tenure});
        out_.round[task] = Assignment::kNowhere;
    }

    /// How many tasks hold a part of `way` in a round; counts no further than one more than `enough`.
    std::size_t holders(const std::uint32_t* owner, std::uint32_t way, std::size_t enough) {
        ++stamp_;
        std::size_t out = 0;
        for (const std::uint32_t resource : placement_.used_by(way)) {
            const std::uint32_t other = owner[resource];
            if (other == kFree || seen_[other] == stamp_) continue;
            seen_[other] = stamp_;
            if (++out > enough) break;
        }
        return out;
    }

    /// A place that puts out the fewest, of equals any. One that is tabu counts only where it leaves fewer
    /// unplaced than ever before.
    Place best_place(std::uint32_t task) {
        Place best;
        std::size_t least = kFree;
        std::size_t equals = 0;
        const Task& each = placement_.tasks()[task];
        std::erase_if(tabu_[task], [this](const Ban& ban) { return ban.until <= moves_; });
        for (const Ban& ban : tabu_[task]) tabu_rounds_[ban.round] = moves_;
        const std::uint32_t first = home_.empty() ? 0 : home_[task];
        const std::uint32_t end = home_.empty() ? out_.rounds : first + 1;
        for (std::uint32_t round = first; round < end; ++round) {
            const bool tabu = tabu_rounds_[round] == moves_;
            const std::uint32_t* const owner = owners(round);
            for (std::uint32_t way = each.first_way; way < each.first_way + each.ways; ++way) {
                const std::size_t out = holders(owner, way, least);
                if (out > least || (tabu && unplaced_.size() - 1 + out >= least_unplaced_)) continue;
                equals = out < least ? 1 : equals + 1;
                least = out;
                if (equals == 1 || random_.below(equals) == 0) best = {round, way};
            }
        }
        return best;
    }

    const Placement& placement_;
    Random& random_;
    Assignment& out_;
    std::vector<std::uint32_t> home_;        ///< of each task its only round; empty: any
    std::vector<std::uint32_t> owner_;       ///< [round * resources + resource]: a task, or kFree
    std::vector<std::vector<Ban>> tabu_;     ///< of each task
    std::vector<std::uint64_t> tabu_rounds_; ///< of each round: the last move that it was tabu for
    std::vector<std::uint64_t> seen_;        ///< of each task: the stamp of the last count that met it
    std::vector<std::uint32_t> unplaced_;
    std::size_t least_unplaced_ = 0;
    std::uint64_t moves_ = 0;
    std::uint64_t moves_at_best_ = 0;
    std::uint64_t stamp_ = 0;
};

} // namespace

bool tabu_search(const Placement& placement, const TabuOptions& options, Assignment& assignment,
                 Random& random, const std::function<bool()>& go_on) {
    if (std::size_t{options.rounds} * placement.resources() > kTabuCells || !go_on()) return false;
    Search search(placement, options, assignment, random);
    constexpr std::uint64_t kAskEvery = 64;
    for (std::uint64_t move = 0; !search.done() && search.moves_since_best() < options.patience; ++move) {
        if (move % kAskEvery == 0 && !go_on()) break;
        search.move();
    }
    return search.done();
}

} // namespace plexus::eco
