// SPDX-License-Identifier: BSD-3-Clause
#include "poll/lane_turns.h"

namespace plexus::poll {

namespace {

constexpr double kCheapNs = 40;      // a poll without a system call
constexpr double kBesideNs = 60;     // what a measured poll costs beside the poll itself
constexpr double kQuietNs = 20'000;  // no work in any other lane for so long: nobody is hurt
constexpr std::uint64_t kLearn = 32; // polls after which a lane may count as cheap

} // namespace

LaneTurns::LaneTurns(double idle_share)
  : idle_share_(idle_share)
  , nanoseconds_per_tick_(nanoseconds_per_tick())
  , clock_(nanoseconds_per_tick_) {}

Lane& LaneTurns::place(LaneSource source) {
    const AutoSkip::Limits limits{idle_share_, kCheapNs / nanoseconds_per_tick_,
                                  kBesideNs / nanoseconds_per_tick_};
    auto lane = std::make_unique<Lane>(std::move(source), limits);
    lane->fixed_turns.store(lane->source.skip_poll.value_or(1), std::memory_order_relaxed);
    return lanes_.add(std::move(lane));
}

void LaneTurns::ask_all() noexcept {
    known_ = begun_.load(std::memory_order_acquire); // pairs with [begun]: also before the first turn
    for (const auto& lane : lanes_.all()) lane->due = 0;
    next_due_ = 0;
}

std::uint32_t LaneTurns::ask_due() {
    std::uint32_t handled = 0;
    known_ = begun_.load(std::memory_order_acquire); // pairs with [begun]
    const auto lanes = asked();
    for (const auto& lane : lanes)
        if (!lane->every_turn && lane->due <= turns_) handled += poll_lane(*lane);
    asked_.clear();
    next_due_ = UINT64_MAX;
    for (const auto& lane : lanes) {
        lane->every_turn = lane->due == turns_ + 1;
        if (lane->every_turn) {
            asked_.push_back(lane.get());
        } else {
            next_due_ = std::min(next_due_, lane->due);
        }
    }
    return handled;
}

std::uint32_t LaneTurns::poll_specially(Lane& lane) {
    const bool guarded = lane.guards.load(std::memory_order_relaxed) > 0;
    if (lane.confined.load(std::memory_order_relaxed) && !guarded) {
        ask_again(lane, 1);
        return 0;
    }
    if (lane.watcher != nullptr) {
        if (!guarded) return poll_watched(lane);
        lane.watcher->raise(); // the poll that follows undoes what arm() did
    }
    const std::uint32_t handled = poll_measured(lane);
    if (guarded) ask_again(lane, 1);
    return handled;
}

// A blocking lane: asked only after its watcher has seen something, or its timer has run out.
std::uint32_t LaneTurns::poll_watched(Lane& lane) {
    ask_again(lane, 1);
    if (!lane.watcher->raised()) return 0;
    const std::uint32_t handled = poll_measured(lane);
    std::uint64_t longest = UINT64_MAX;
    if (handled == 0 && lane.source.ops->arm(lane.module, &longest) == PLEXUS_OK)
        lane.watcher->watch(longest);
    ask_again(lane, 1);
    return handled;
}

std::uint32_t LaneTurns::poll_measured(Lane& lane) {
    const std::uint64_t start = ticks();
    const auto handled = static_cast<std::uint32_t>(lane.poll(lane.module, clock_.budget()));
    const std::uint64_t end = ticks();
    bump(lane.polls);
    if (handled > 0) {
        bump(lane.hits);
        ++hits_;
        clock_.note_poll(end - start);
    }
    const std::uint64_t own = lane.hits.load(std::memory_order_relaxed);
    if (own != std::exchange(lane.own_seen, own)) lane.busy_at = start;
    if (const std::uint64_t others = hits_ - own; others != std::exchange(lane.others_seen, others))
        lane.others_busy_at = start;
    const auto lately = [&](std::uint64_t at) {
        return static_cast<double>(start - at) * nanoseconds_per_tick_ <= kQuietNs;
    };
    const std::uint32_t turns = lane.skip.after_poll(
        {end - start, start - lane.last_end, turns_ - lane.last_turn, handled > 0, lately(lane.busy_at),
         !lately(lane.others_busy_at) && !crowd_.computes(), idlers_ + (lane.skipped ? 0 : 1)});
    lane.last_end = end;
    lane.last_turn = turns_;
    lane.cost_ticks.store(lane.skip.cost_ticks(), std::memory_order_relaxed);

    const bool automatic = lane.automatic.load(std::memory_order_relaxed);
    const std::uint32_t next =
        automatic ? turns : std::max(1u, lane.fixed_turns.load(std::memory_order_relaxed));
    ask_again(lane, next);
    lane.turns.store(next, std::memory_order_relaxed);
    const bool skipped = automatic && next > 1;
    if (skipped != std::exchange(lane.skipped, skipped)) idlers_ += skipped ? 1 : -1;
    // A cheap lane that is asked in every turn needs no watching over, but now and then.
    lane.timed = !(automatic && next == 1 && lane.polls.load(std::memory_order_relaxed) >= kLearn &&
                   lane.skip.cost_ticks() * nanoseconds_per_tick_ <= kCheapNs);
    return handled;
}

} // namespace plexus::poll
