// SPDX-License-Identifier: BSD-3-Clause
#include "synthesis/list_schedule.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

namespace plexus::eco {
namespace {

class Filler {
  public:
    Filler(const Placement& placement, std::uint32_t rounds, Random& random,
           const std::function<bool()>& go_on)
      : placement_(placement)
      , random_(random)
      , go_on_(go_on)
      , rounds_(rounds)
      , left_(placement.resources())
      , waiting_(placement.resources())
      , order_(placement.resources())
      , busy_(placement.resources(), Assignment::kNowhere)
      , owner_(placement.resources())
      , refused_(placement.tasks().size())
      , unplaced_(placement.tasks().size()) {
        out_.round.assign(placement.tasks().size(), Assignment::kNowhere);
        out_.way.assign(placement.tasks().size(), 0);
        std::vector<std::uint32_t> tasks(placement.tasks().size());
        std::iota(tasks.begin(), tasks.end(), 0U);
        random.shuffle(tasks);
        for (const std::uint32_t task : tasks) {
            if (!go_on_()) break;
            enter(task);
        }
        std::iota(order_.begin(), order_.end(), 0U);
    }

    bool done() const noexcept { return unplaced_ == 0; }

    void fill(std::uint32_t round) {
        out_.rounds = round + 1;
        ++pass_;
        random_.shuffle(order_);
        std::stable_sort(order_.begin(), order_.end(),
                         [this](std::uint32_t a, std::uint32_t b) { return left_[a] > left_[b]; });
        std::size_t next = 0;
        for (; next < order_.size() && left_[order_[next]] > later(round); ++next) {
            if (busy_[order_[next]] == round) continue;
            if (!go_on_()) break;
            serve(order_[next], round);
        }
        if (next > 0 && go_on_() && repair(next, round)) ++pass_;
        for (; next < order_.size() && left_[order_[next]] > 0; ++next) {
            if (busy_[order_[next]] == round) continue;
            if (!go_on_()) break;
            serve(order_[next], round);
        }
    }

    Assignment finish() { return std::move(out_); }

  private:
    double share(const Task& task) const noexcept { return 1.0 / task.ways; }

    /// A task with several ways counts for each of them a share.
    void count(std::uint32_t task, double sign) {
        const Task& each = placement_.tasks()[task];
        for (std::uint32_t way = each.first_way; way < each.first_way + each.ways; ++way)
            for (const std::uint32_t resource : placement_.used_by(way))
                left_[resource] += sign * share(each);
    }

    void enter(std::uint32_t task) {
        count(task, 1);
        const Task& each = placement_.tasks()[task];
        for (std::uint32_t way = each.first_way; way < each.first_way + each.ways; ++way)
            for (const std::uint32_t resource : placement_.used_by(way))
                if (waiting_[resource].empty() || waiting_[resource].back() != task)
                    waiting_[resource].push_back(task);
    }

    /// Places one of the tasks that wait for `resource`, if one fits. Those that have a place leave the list.
    void serve(std::uint32_t resource, std::uint32_t round) {
        std::vector<std::uint32_t>& list = waiting_[resource];
        std::size_t tried = 0;
        for (std::size_t at = list.empty() ? 0 : random_.below(list.size()); tried < list.size();) {
            if (at >= list.size()) at = 0;
            const std::uint32_t task = list[at];
            if (out_.round[task] != Assignment::kNowhere && out_.round[task] != round) {
                list[at] = list.back();
                list.pop_back();
                continue;
            }
            if (out_.round[task] != round && refused_[task] != pass_) {
                if (place(task, round)) return;
                refused_[task] = pass_;
            }
            ++at;
            ++tried;
        }
    }

    bool place(std::uint32_t task, std::uint32_t round) {
        const Task& each = placement_.tasks()[task];
        const std::uint32_t first = each.ways > 1 ? random_.below(each.ways) : 0;
        for (std::uint32_t turn = 0; turn < each.ways; ++turn) {
            const std::uint32_t way = each.first_way + (first + turn) % each.ways;
            const auto used = placement_.used_by(way);
            if (std::any_of(used.begin(), used.end(), [&](std::uint32_t r) { return busy_[r] == round; }))
                continue;
            put_in(task, way, round);
            return true;
        }
        return false;
    }

    void put_in(std::uint32_t task, std::uint32_t way, std::uint32_t round) {
        for (const std::uint32_t resource : placement_.used_by(way)) {
            busy_[resource] = round;
            owner_[resource] = task;
        }
        out_.round[task] = round;
        out_.way[task] = way;
        count(task, -1);
        --unplaced_;
    }

    void put_out(std::uint32_t task) {
        for (const std::uint32_t resource : placement_.used_by(out_.way[task]))
            busy_[resource] = Assignment::kNowhere;
        out_.round[task] = Assignment::kNowhere;
        count(task, 1);
        ++unplaced_;
    }

    /// How much a resource can carry in the rounds after `round`: one with more left has to be used now.
    double later(std::uint32_t round) const noexcept { return rounds_ - round - 1 + 1e-6; }

    bool missed(std::uint32_t resource, std::uint32_t round) const noexcept {
        return busy_[resource] != round && left_[resource] > later(round);
    }

    /// Where one of the first `urgent` resources of the order stayed without a task though it has to be used
    /// now: puts tasks in that put others out, a few times.
    bool repair(std::size_t urgent, std::uint32_t round) {
        constexpr int kMoves = 40;
        std::uint32_t last = Assignment::kNowhere; // put in; it stays for the next move
        for (int move = 0; move < kMoves; ++move) {
            std::vector<std::uint32_t> missing;
            for (std::size_t at = 0; at < urgent; ++at)
                if (missed(order_[at], round)) missing.push_back(order_[at]);
            if (missing.empty()) return move > 0;
            last = force(missing[random_.below(missing.size())], round, last);
        }
        return true;
    }

    /// Of some tasks that wait for `resource` puts in the one after which the fewest resources are missed.
    /// Returns the task, or kNowhere.
    std::uint32_t force(std::uint32_t resource, std::uint32_t round, std::uint32_t keep) {
        constexpr int kSamples = 12;
        const std::vector<std::uint32_t>& list = waiting_[resource];
        std::uint32_t best = Assignment::kNowhere;
        std::uint32_t best_way = 0;
        int least = 0;
        for (int sample = 0; sample < kSamples && !list.empty(); ++sample) {
            const std::uint32_t task = list[random_.below(list.size())];
            if (out_.round[task] != Assignment::kNowhere) continue;
            const Task& each = placement_.tasks()[task];
            const std::uint32_t way = each.first_way + (each.ways > 1 ? random_.below(each.ways) : 0);
            const auto change = missed_more(way, round, keep);
            if (!change || (best != Assignment::kNowhere && *change >= least)) continue;
            best = task;
            best_way = way;
            least = *change;
        }
        if (best == Assignment::kNowhere) return best;
        for (const std::uint32_t used : placement_.used_by(best_way))
            if (busy_[used] == round) put_out(owner_[used]);
        put_in(best, best_way, round);
        return best;
    }

    /// By how many more resources are missed if `way` is taken; nothing: it would put out `keep`.
    std::optional<int> missed_more(std::uint32_t way, std::uint32_t round, std::uint32_t keep) const {
        int out = 0;
        const auto used = placement_.used_by(way);
        std::vector<std::uint32_t> losers;
        for (const std::uint32_t resource : used) {
            if (missed(resource, round)) --out;
            if (busy_[resource] == round) losers.push_back(owner_[resource]);
        }
        std::sort(losers.begin(), losers.end());
        losers.erase(std::unique(losers.begin(), losers.end()), losers.end());
        for (const std::uint32_t loser : losers) {
            if (loser == keep) return std::nullopt;
            for (const std::uint32_t resource : placement_.used_by(out_.way[loser]))
                if (left_[resource] + share(placement_.tasks()[loser]) > later(round) &&
                    std::find(used.begin(), used.end(), resource) == used.end())
                    ++out;
        }
        return out;
    }

    const Placement& placement_;
    Random& random_;
    const std::function<bool()>& go_on_;
    std::uint32_t rounds_;                            ///< that are to be enough
    std::vector<double> left_;                        ///< of each resource: shares of tasks without a place
    std::vector<std::vector<std::uint32_t>> waiting_; ///< of each resource: tasks, placed ones among them
    std::vector<std::uint32_t> order_;                ///< of resources
    std::vector<std::uint32_t> busy_;                 ///< the last round in which each resource was used
    std::vector<std::uint32_t> owner_;                ///< the task that used each resource then
    std::vector<std::uint32_t> refused_;              ///< the last pass in which each task did not fit
    std::uint32_t pass_ = 0;                          ///< over the tasks: one or two in a round
    std::size_t unplaced_;
    Assignment out_;
};

} // namespace

Assignment list_schedule(const Placement& placement, std::uint32_t rounds, Random& random,
                         const std::function<bool()>& go_on) {
    Filler filler(placement, rounds, random, go_on);
    for (std::uint32_t round = 0; round < rounds && !filler.done() && go_on(); ++round) filler.fill(round);
    return filler.finish();
}

bool add_rounds(const Placement& placement, Assignment& assignment, const std::function<bool()>& go_on,
                InHaste then) {
    constexpr std::uint64_t kFull = ~std::uint64_t{0};
    constexpr std::size_t kAskEvery = 16;
    bool hastens = false;
    std::vector<std::vector<std::uint64_t>> busy(
        placement.resources());                                 // of each, a bit for each further round
    std::vector<std::size_t> first_free(placement.resources()); // of each, a word of these that is not full
    const auto first_fit = [&](std::uint32_t way) {
        const auto used = placement.used_by(way);
        std::size_t word = 0;
        for (const std::uint32_t each : used) word = std::max(word, first_free[each]);
        for (;; ++word) {
            std::uint64_t taken = 0;
            for (const std::uint32_t each : used)
                if (word < busy[each].size()) taken |= busy[each][word];
            if (taken != kFull)
                return static_cast<std::uint32_t>(64 * word +
                                                  static_cast<std::size_t>(std::countr_one(taken)));
        }
    };
    const std::uint32_t first = assignment.rounds;
    for (std::size_t task = 0; task < assignment.round.size(); ++task) {
        if (assignment.round[task] != Assignment::kNowhere) continue;
        if (task % kAskEvery == 0) hastens = hastens || !go_on();
        if (hastens && then == InHaste::give_up) return false;
        const Task& each = placement.tasks()[task];
        std::uint32_t best = each.first_way;
        std::uint32_t round = first_fit(best);
        const std::uint32_t end = each.first_way + (hastens ? 1 : each.ways);
        for (std::uint32_t way = each.first_way + 1; way < end; ++way)
            if (const std::uint32_t other = first_fit(way); other < round) {
                best = way;
                round = other;
            }
        for (const std::uint32_t resource : placement.used_by(best)) {
            std::vector<std::uint64_t>& words = busy[resource];
            if (words.size() <= round / 64) words.resize(round / 64 + 1);
            words[round / 64] |= std::uint64_t{1} << (round % 64);
            while (first_free[resource] < words.size() && words[first_free[resource]] == kFull)
                ++first_free[resource];
        }
        assignment.round[task] = first + round;
        assignment.way[task] = best;
        assignment.rounds = std::max(assignment.rounds, first + round + 1);
    }
    return true;
}

} // namespace plexus::eco
