// SPDX-License-Identifier: BSD-3-Clause
#include "shm/copy_choice.h"

#include <algorithm>
#include <bit>

namespace plexus::shm {
namespace {

// From this ratio to the best cost on a strategy gets two messages of a trial, and one.
constexpr float kClearlyWorse = 1.25F;
constexpr float kMuchWorse = 2.5F;
// A strategy with few messages may be the best if it costs less than so much of the best.
constexpr float kNear = 1.1F;
// A new best has to cost less than so much of the last.
constexpr float kClearlyBetter = 0.95F;
// The pause after a trial has at least so many messages for each one that it took through the caches.
constexpr std::uint32_t kPauseShare = 60;

constexpr std::size_t index_of(Copy copy) noexcept { return static_cast<std::size_t>(copy); }

} // namespace

std::size_t CopyChoice::class_of(std::uint64_t bytes) noexcept {
    const auto doublings = static_cast<std::size_t>(std::bit_width(std::max(bytes, kLeast) / kLeast)) - 1;
    return std::min(doublings, kClasses - 1);
}

CopyChoice::Pick CopyChoice::next(std::uint64_t bytes, CopySet allowed, bool may_measure) noexcept {
    Class& of = classes_[class_of(bytes)];
    if (may_measure && allowed.several()) {
        if (of.trial.runs && of.trial.asked < of.trial.planned && !allowed.has(of.trial.plan[of.trial.asked]))
            of.trial.runs = false;
        if (!of.trial.runs && of.pause == 0) begin_trial(of, bytes, allowed);
    }
    if (of.trial.runs && of.trial.asked < of.trial.planned && allowed.has(of.trial.plan[of.trial.asked])) {
        if (in_block(of)) return {Copy::cached, may_measure && of.trial.warm_up == 0, of.trial.number};
        if (may_measure) return {of.trial.plan[of.trial.asked], true, of.trial.number};
    }
    return {best_of(of, allowed), false, of.trial.number};
}

void CopyChoice::sent(std::uint64_t bytes, const Pick& pick) noexcept {
    Class& of = classes_[class_of(bytes)];
    if (pick.measure)
        ++of.trial.asked;
    else if (of.trial.runs && of.trial.asked < of.trial.planned && in_block(of))
        of.trial.warm_up -= std::min(of.trial.warm_up, 1u);
    else if (of.pause > 0)
        --of.pause;
}

void CopyChoice::note(std::uint64_t bytes, const Pick& pick, std::uint64_t ns) noexcept {
    Class& of = classes_[class_of(bytes)];
    if (!of.trial.runs || pick.trial != of.trial.number) return; // that trial was given up
    const std::size_t i = index_of(pick.copy);
    if (ns > 0 && of.trial.seen[i] < kRounds)
        of.trial.costs[i][of.trial.seen[i]++] =
            static_cast<float>(static_cast<double>(ns) / static_cast<double>(bytes));
    if (++of.trial.answered == of.trial.planned) judge(of);
}

CopyChoice::AllLearned CopyChoice::learned() const noexcept {
    AllLearned all;
    for (std::size_t i = 0; i < kClasses; ++i) all[i] = {classes_[i].best, classes_[i].cost};
    return all;
}

// The best, or, where that is not allowed, what costs least of what is.
Copy CopyChoice::best_of(const Class& of, CopySet allowed) noexcept {
    if (allowed.has(of.best)) return of.best;
    Copy found = of.best;
    float least = 0;
    for (const Copy copy : kAllCopies) {
        if (!allowed.has(copy)) continue;
        const float cost = of.cost[index_of(copy)];
        if (allowed.has(found) && (cost == 0 || (least > 0 && cost >= least))) continue;
        found = copy;
        least = cost;
    }
    return found;
}

std::uint32_t CopyChoice::rounds_for(const Class& of, Copy copy) noexcept {
    const float cost = of.cost[index_of(copy)];
    const float best = of.cost[index_of(of.best)];
    if (of.in_full || cost < best * kClearlyWorse || cost == 0 || best == 0) return kRounds;
    return cost < best * kMuchWorse ? 2 : 1;
}

// The next message of the trial is one of those through the caches that follow each other.
bool CopyChoice::in_block(const Class& of) noexcept {
    return of.best == Copy::nontemporal && of.trial.plan[of.trial.asked] == Copy::cached;
}

// Each second round goes backwards: sizes or loads that alternate favour no strategy.
void CopyChoice::begin_trial(Class& of, std::uint64_t bytes, CopySet allowed) const noexcept {
    of.best = best_of(of, allowed);
    const bool has_block = of.best == Copy::nontemporal && allowed.has(Copy::cached);
    std::array<std::uint32_t, kCopies> rounds{};
    std::uint32_t most = 2;
    for (const Copy copy : kAllCopies) {
        if (!allowed.has(copy) || copy == of.best || (has_block && copy == Copy::cached)) continue;
        rounds[index_of(copy)] = rounds_for(of, copy);
        most = std::max(most, rounds[index_of(copy)]);
    }
    rounds[index_of(of.best)] = most;
    of.trial.planned = 0;
    for (std::uint32_t round = 0; round < most; ++round) {
        const auto from = of.trial.plan.begin() + of.trial.planned;
        of.trial.plan[of.trial.planned++] = of.best;
        for (const Copy copy : kAllCopies)
            if (copy != of.best && round < rounds[index_of(copy)]) of.trial.plan[of.trial.planned++] = copy;
        if (round % 2 == 1) std::reverse(from, of.trial.plan.begin() + of.trial.planned);
    }
    of.trial.warm_up = 0;
    if (has_block) {
        const std::uint32_t block = rounds_for(of, Copy::cached);
        for (std::uint32_t i = 0; i < block; ++i) of.trial.plan[of.trial.planned++] = Copy::cached;
        of.trial.warm_up = static_cast<std::uint32_t>(area_bytes_ / bytes);
    }
    of.longest_pause = std::max(kLongestPause, has_block ? kPauseShare * of.trial.warm_up : 0);
    of.trial.asked = of.trial.answered = 0;
    of.trial.seen = {};
    of.trial.runs = true;
    ++of.trial.number;
}

void CopyChoice::judge(Class& of) noexcept {
    of.trial.runs = false;
    const bool was_full = of.in_full;
    of.in_full = false;
    const Copy before = of.best;
    Copy winner = before;
    float least = 0;
    bool undecided = false;
    for (const Copy copy : kAllCopies) {
        const std::size_t i = index_of(copy);
        if (of.trial.seen[i] == 0) continue;
        // A message that was interrupted says nothing: the lower median of the costs.
        const auto end = of.trial.costs[i].begin() + of.trial.seen[i];
        const auto middle = of.trial.costs[i].begin() + (of.trial.seen[i] - 1) / 2;
        std::nth_element(of.trial.costs[i].begin(), middle, end);
        of.cost[i] = *middle;
    }
    const float limit = of.cost[index_of(before)];
    for (const Copy copy : kAllCopies) {
        const std::size_t i = index_of(copy);
        if (copy == before || of.trial.seen[i] == 0) continue;
        if (!was_full && of.trial.seen[i] < kRounds) {
            undecided = undecided || of.cost[i] < limit * kNear;
        } else if (of.cost[i] < (least > 0 ? least : limit * kClearlyBetter)) {
            winner = copy;
            least = of.cost[i];
        }
    }
    const bool is_new = winner != before;
    undecided = undecided || (is_new && !of.confirming);
    if (is_new && of.confirming) of.best = winner;
    of.confirming = is_new && !of.confirming;
    of.in_full = undecided;
    if (of.best != before)
        of.pause_length = kFirstPause;
    else
        of.pause_length = std::clamp(of.pause_length * 2, of.longest_pause / 8, of.longest_pause);
    of.pause = undecided ? 0 : of.pause_length;
}

} // namespace plexus::shm
