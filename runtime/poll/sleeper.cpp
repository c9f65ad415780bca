// SPDX-License-Identifier: BSD-3-Clause
#include "poll/sleeper.h"

#include "base/barrier.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>

namespace plexus::poll {

using std::chrono::nanoseconds;

namespace {

constexpr nanoseconds kWithoutSleep = std::chrono::milliseconds(1); // a lane can't wake us: look so often

void add(int set, int fd) noexcept {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = UINT64_MAX;
    ::epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
}

} // namespace

Sleeper::Sleeper(std::uint32_t lane_events, bool timed)
  : set_(::epoll_create1(EPOLL_CLOEXEC))
  , wake_(EventFd::create())
  , lane_events_(lane_events) {
    add(set_.get(), wake_.get());
    if (!timed) return;
    timer_.reset(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    add(set_.get(), timer_.get());
}

void Sleeper::announce() noexcept {
    armed_.store(false, std::memory_order_relaxed);
    announced_.store(true, std::memory_order_release); // [asleep]
    full_barrier();
}

bool Sleeper::arm(std::span<const std::unique_ptr<Lane>> lanes, nanoseconds& longest) {
    watched_.resize(lanes.size());
    for (std::size_t index = 0; index < lanes.size(); ++index) {
        Lane& lane = *lanes[index];
        const bool polled =
            !lane.confined.load(std::memory_order_relaxed) || lane.guards.load(std::memory_order_relaxed) > 0;
        const bool by_thread = lane.watcher != nullptr;
        if (lane.source.sleeps) watch(index, lane.source.ops->wait_fd(lane.module), polled && !by_thread);
        if (!polled) continue;
        if (by_thread) {
            if (lane.watcher->raised()) return false;
        } else if (!lane.source.sleeps || !watched_[index]) {
            longest = std::min(longest, kWithoutSleep);
        } else {
            std::uint64_t most = UINT64_MAX;
            if (lane.source.ops->arm(lane.module, &most) != PLEXUS_OK) return false;
            if (most < static_cast<std::uint64_t>(longest.count())) longest = nanoseconds(most);
        }
    }
    armed_.store(true, std::memory_order_release);
    return true;
}

void Sleeper::watch(std::size_t lane, int fd, bool wanted) {
    const bool once = (lane_events_ & EPOLLONESHOT) != 0; // to be set anew after each event
    if (wanted == watched_[lane] && !(wanted && once)) return;
    epoll_event event{};
    event.events = lane_events_;
    event.data.u64 = lane;
    const int what = !wanted ? EPOLL_CTL_DEL : watched_[lane] ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    watched_[lane] = ::epoll_ctl(set_.get(), what, fd, &event) == 0 && wanted;
}

void Sleeper::sleep(nanoseconds longest) {
    int milliseconds = -1;
    if (longest < std::chrono::hours(1)) // round up: waking early would only be idle turning
        milliseconds = static_cast<int>(std::max<std::int64_t>(0, (longest.count() + 999'999) / 1'000'000));
    epoll_event events[8];
    ::epoll_wait(set_.get(), events, 8, milliseconds);
    clear();
}

void Sleeper::wake() noexcept { wake_.wake(); }

void Sleeper::clear() noexcept { wake_.clear(); }

void Sleeper::set_timer(nanoseconds longest) noexcept {
    if (longest == nanoseconds::max() && !timer_runs_) return;
    timer_runs_ = longest != nanoseconds::max();
    itimerspec when{}; // all zero: none
    if (timer_runs_) {
        longest = std::max(longest, nanoseconds{1});
        when.it_value.tv_sec = static_cast<time_t>(longest.count() / 1'000'000'000);
        when.it_value.tv_nsec = static_cast<long>(longest.count() % 1'000'000'000);
    }
    ::timerfd_settime(timer_.get(), 0, &when, nullptr); // also takes back an earlier expiry
}

} // namespace plexus::poll
