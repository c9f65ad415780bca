// SPDX-License-Identifier: BSD-3-Clause
#include "poll/scheduler.h"

#include "base/barrier.h"

#include <sys/epoll.h>

namespace plexus::poll {

using std::chrono::nanoseconds;

namespace {

constexpr double kCheapNs = 40;         // a poll without a system call
constexpr double kBesideNs = 60;        // what a measured poll costs beside the poll itself
constexpr double kQuietNs = 20'000;     // no work in any other lane for so long: nobody is hurt
constexpr double kCrowded = 0.1;        // share of yields that ran somebody else: polls take his time
constexpr std::uint64_t kSample = 1024; // every so many polls a lane of known cost is measured
constexpr std::uint64_t kLearn = 32;    // polls after which a lane may count as cheap

} // namespace

Scheduler::Scheduler(SchedulerOptions options)
  : options_(options)
  , nanoseconds_per_tick_(nanoseconds_per_tick())
  , front_(EPOLLIN)
  , back_(EPOLLIN | EPOLLONESHOT)
  , foreign_(EPOLLIN) {}

Scheduler::~Scheduler() { stop(); }

std::size_t Scheduler::add(LaneSource source) {
    const AutoSkip::Limits limits{options_.idle_share, kCheapNs / nanoseconds_per_tick_,
                                  kBesideNs / nanoseconds_per_tick_};
    Lane& lane = lanes_.emplace_back(std::move(source), limits);
    lane.fixed_turns.store(lane.source.skip_poll.value_or(1), std::memory_order_relaxed);
    if (lane.source.blocking && lane.source.sleeps)
        lane.watcher = std::make_unique<Watcher>(lane.source.ops->wait_fd(lane.module), [this] { wake(); });
    return lanes_.size() - 1;
}

void Scheduler::start_progress_thread() {
    thread_ = std::thread([this] { progress_loop(); });
}

void Scheduler::stop() {
    if (stopping_.exchange(true, std::memory_order_seq_cst)) return;
    {
        const std::lock_guard hold(mutex_);
        ++news_count_;
        leader_will_tell_ = false;
    }
    news_.notify_all();
    standby_.notify_all();
    for (Bed* bed : {&front_, &back_, &foreign_}) bed->ring();
    if (thread_.joinable()) thread_.join();
    // Whoever still waits leaves at its next look; then the lead stays here for good.
    unsigned round = 0;
    while (leading_.exchange(true, std::memory_order_acquire)) spin_pause(round);
    for (Lane& lane : lanes_) lane.watcher.reset();
}

bool Scheduler::try_lead(bool foreground) noexcept {
    if (leading_.load(std::memory_order_relaxed) || leading_.exchange(true, std::memory_order_acquire))
        return false;
    leader_.store(::pthread_self(), std::memory_order_relaxed);
    if (foreground) {
        bump(activity_);
        // The sleeping progress thread has armed the lanes; our first poll undoes that. It has to
        // know that it must come back later: once for each time it fell asleep.
        if (back_.asleep.load(std::memory_order_relaxed)) {
            back_.asleep.store(false, std::memory_order_relaxed);
            back_.ring();
        }
    }
    return true;
}

void Scheduler::unlead() noexcept {
    const bool slept = std::exchange(slept_, false);
    if (foreign_.asleep.load(std::memory_order_relaxed)) {
        foreign_.asleep.store(false, std::memory_order_relaxed);
        foreign_.ring(); // it was armed, we have polled: it must arm anew
    }
    leading_.store(false, std::memory_order_release); // [lead]
    if (slept) {
        {
            const std::lock_guard hold(mutex_);
            leader_will_tell_ = false;
        }
        standby_.notify_one();
    }
    tell_followers();
}

// [follow] A follower counts itself, runs heavy_barrier() and then looks at its condition. The
// leader changes conditions, runs light_barrier() and then looks at the count. One sees the other.
void Scheduler::tell_followers() noexcept {
    light_barrier();
    if (followers_.load(std::memory_order_relaxed) == 0) return;
    {
        const std::lock_guard hold(mutex_);
        ++news_count_;
    }
    news_.notify_all();
}

std::uint32_t Scheduler::turn() {
    in_turn_.store(true, std::memory_order_relaxed);
    std::uint32_t handled = 0;
    ++turns_;
    for (Lane* lane : asked_) handled += poll_lane(*lane);
    if (turns_ >= next_due_) handled += poll_due();
    if (chores_wanted_.load(std::memory_order_relaxed)) [[unlikely]]
        run_chores();
    in_turn_.store(false, std::memory_order_relaxed);
    if (handled > 0) tell_followers();
    return handled;
}

void Scheduler::ask_again(Lane& lane, std::uint32_t turns) noexcept {
    lane.due = turns_ + turns;
    if ((turns == 1) != lane.every_turn) next_due_ = 0;
}

std::uint32_t Scheduler::poll_due() {
    std::uint32_t handled = 0;
    for (Lane& lane : lanes_)
        if (!lane.every_turn && lane.due <= turns_) handled += poll_lane(lane);
    asked_.clear();
    next_due_ = UINT64_MAX;
    for (Lane& lane : lanes_) {
        lane.every_turn = lane.due == turns_ + 1;
        if (lane.every_turn) {
            asked_.push_back(&lane);
        } else {
            next_due_ = std::min(next_due_, lane.due);
        }
    }
    return handled;
}

std::uint32_t Scheduler::poll_lane(Lane& lane) {
    const bool guarded = lane.guards.load(std::memory_order_relaxed) > 0;
    if (lane.confined.load(std::memory_order_relaxed) && !guarded) {
        ask_again(lane, 1);
        return 0;
    }
    if (lane.watcher != nullptr && !guarded) {
        ask_again(lane, 1);
        if (!lane.watcher->raised()) return 0;
        const std::uint32_t handled = poll_measured(lane);
        std::uint64_t longest = UINT64_MAX;
        if (handled == 0 && lane.source.ops->arm(lane.module, &longest) == PLEXUS_OK) lane.watcher->watch();
        ask_again(lane, 1);
        return handled;
    }
    if (!lane.timed && lane.polls.load(std::memory_order_relaxed) % kSample != 0) {
        ask_again(lane, 1);
        bump(lane.polls);
        const auto handled = static_cast<std::uint32_t>(lane.poll(lane.module, kBudget));
        if (handled > 0) {
            bump(lane.hits);
            ++hits_;
        }
        return handled;
    }
    const std::uint32_t handled = poll_measured(lane);
    if (guarded) ask_again(lane, 1);
    return handled;
}

std::uint32_t Scheduler::poll_measured(Lane& lane) {
    const std::uint64_t start = ticks();
    const auto handled = static_cast<std::uint32_t>(lane.poll(lane.module, kBudget));
    const std::uint64_t end = ticks();
    bump(lane.polls);
    if (handled > 0) {
        bump(lane.hits);
        ++hits_;
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
         !lately(lane.others_busy_at) && crowded_ < kCrowded, idlers_ + (lane.skipped ? 0 : 1)});
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

void Scheduler::request_chores() noexcept {
    chores_wanted_.store(true, std::memory_order_release); // [chores]
    if (!inside_turn()) wake();
}

void Scheduler::run_chores() {
    chores_wanted_.exchange(false, std::memory_order_acquire); // pairs with [chores]
    const nanoseconds next = chores_();
    next_chores_ = next == nanoseconds::max() ? Clock::time_point::max() : Clock::now() + next;
}

std::uint32_t Scheduler::progress() {
    if (inside_turn() || !try_lead(true)) return 0;
    if (next_chores_ != Clock::time_point::max() && Clock::now() >= next_chores_)
        chores_wanted_.store(true, std::memory_order_relaxed);
    const std::uint32_t handled = turn();
    unlead();
    return handled;
}

bool Scheduler::arm() {
    if (!try_lead(true)) return true; // somebody else polls, and rings our bell when it leaves
    foreign_.quiet();
    nanoseconds longest = nanoseconds::max();
    const bool sleep = prepare_to_sleep(foreign_, longest);
    if (!sleep) foreign_.asleep.store(false, std::memory_order_relaxed);
    leading_.store(false, std::memory_order_release); // [lead]; not unlead(): that would ring
    return sleep;
}

void Scheduler::wake() noexcept {
    full_barrier(); // pairs with [asleep]
    for (Bed* bed : {&front_, &back_, &foreign_})
        if (bed->asleep.load(std::memory_order_relaxed)) bed->ring();
    if (followers_.load(std::memory_order_relaxed) == 0) return;
    {
        const std::lock_guard hold(mutex_);
        ++news_count_;
    }
    news_.notify_all();
}

} // namespace plexus::poll
