// SPDX-License-Identifier: BSD-3-Clause
// The turn: which sources are asked for work, in which order. An idle turn is one system call: a read of the
// link that received last, or epoll_wait.
#include "tcp/module.h"

#include <algorithm>

namespace plexus::tcp {

// Four kinds of work, each with a share of its own, so that no kind starves while another never ends:
// requests of other threads, links with messages in a receive buffer, hot links, and the epoll set.
std::int32_t Module::poll(std::uint32_t budget) {
    if (std::exchange(slept_, false)) {
        const module::Lock hold(mutex_);
        armed_ = false;
    }
    const auto share_beside = [budget](std::uint32_t used) {
        return std::max({budget - std::min(budget, used), budget / 4, 1U});
    };
    std::uint32_t asked_for = 0;
    if (any_noted_.load(std::memory_order_relaxed)) asked_for = attend_noted(budget); // [noted]
    std::uint32_t handled = 0;
    if (buffers_.held() > 0) handled += resume_links(budget);
    if (hot_count_ > 0) handled += read_hot(share_beside(handled));
    if (hot_count_ == 0 || skips_left_ == 0) {
        handled += wait(share_beside(handled));
    } else {
        --skips_left_;
    }
    poller_.bury();
    return static_cast<std::int32_t>(asked_for + handled);
}

std::uint32_t Module::attend_noted(std::uint32_t budget) {
    std::vector<Link*> noted;
    {
        const module::Lock hold(mutex_);
        const auto end =
            noted_.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(budget, noted_.size()));
        noted.assign(noted_.begin(), end);
        noted_.erase(noted_.begin(), end);
        any_noted_.store(!noted_.empty(), std::memory_order_relaxed);
        for (Link* link : noted) link->noted = false;
    }
    watchdog_.begin_watch();
    for (Link* link : noted) link->attend();
    return static_cast<std::uint32_t>(noted.size());
}

std::uint32_t Module::resume_links(std::uint32_t budget) {
    std::uint32_t handled = 0;
    for (std::size_t left = buffers_.held(); left > 0 && buffers_.held() > 0; --left) {
        Link& link = buffers_.first();
        const auto others = static_cast<std::uint32_t>(left);
        const std::uint32_t rest = budget - std::min(budget, handled);
        handled += link.resume(others == 1 ? std::max(rest, 1U) : std::max(rest / others, 1U));
        if (buffers_.held() == 0 || &buffers_.first() != &link) continue; // a callback has ended it
        if (link.has_backlog()) {
            buffers_.rotate();
        } else {
            buffers_.give_back(link);
        }
    }
    return handled;
}

std::uint32_t Module::read_hot(std::uint32_t budget) {
    static_assert(kHot == 2, "the first gets half of what is left, the last all");
    std::uint32_t handled = 0;
    for (std::size_t i = 0; i < hot_count_;) {
        Link* link = hot_[i];
        const std::uint32_t left = budget - std::min(budget, handled);
        handled += link->read(std::max(i + 1 == hot_count_ ? left : left / 2, 1U));
        if (i == hot_count_ || hot_[i] != link) continue; // a callback has ended it
        if (link->misses <= kMostMisses) {
            ++i;
        } else {
            cool(*link);
        }
    }
    return handled;
}

// While only the hot links have work, the others are asked ever more rarely.
std::uint32_t Module::wait(std::uint32_t budget) {
    found_cold_ = false;
    const std::uint32_t handled = poller_.wait(budget);
    skips_ = found_cold_ ? 0 : std::min(2 * skips_ + 1, kMostSkips);
    skips_left_ = skips_;
    return handled;
}

void Module::heat(Link& link) {
    const auto end = hot_.begin() + static_cast<std::ptrdiff_t>(hot_count_);
    link.misses = 0;
    if (std::find(hot_.begin(), end, &link) != end) return;
    found_cold_ = true;
    if (hot_count_ < kHot) {
        hot_[hot_count_++] = &link;
        return;
    }
    const auto coldest = std::max_element(hot_.begin(), hot_.end(),
                                          [](const Link* a, const Link* b) { return a->misses < b->misses; });
    if ((*coldest)->misses > kFewMisses) *coldest = &link;
}

void Module::cool(Link& link) {
    buffers_.give_back(link);
    const auto end = hot_.begin() + static_cast<std::ptrdiff_t>(hot_count_);
    const auto found = std::find(hot_.begin(), end, &link);
    if (found == end) return;
    std::copy(found + 1, end, found);
    --hot_count_;
}

std::int32_t Module::arm(std::uint64_t& sleep_ns) {
    if (buffers_.held() > 0) return PLEXUS_AGAIN;
    {
        const module::Lock hold(mutex_);
        if (any_noted_.load(std::memory_order_relaxed)) return PLEXUS_AGAIN;
        armed_ = true;
    }
    slept_ = true;
    skips_left_ = 0; // the next turn looks for the event that woke the thread
    if (const auto due = poller_.next_deadline(); due != Clock::time_point::max()) {
        const auto left = std::max(Clock::duration::zero(), due - Clock::now());
        sleep_ns = std::min(sleep_ns, static_cast<std::uint64_t>(std::chrono::nanoseconds(left).count()));
    }
    return PLEXUS_OK;
}

} // namespace plexus::tcp
