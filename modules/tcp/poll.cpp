// SPDX-License-Identifier: BSD-3-Clause
// The turn: who is asked for work, in which order, at which price. An idle turn is one
// system call: either a read of the link that spoke last or one of epoll.
#include "tcp/module.h"

#include <algorithm>

namespace plexus::tcp {

std::int32_t Module::poll(std::uint32_t budget) {
    if (std::exchange(slept_, false)) {
        const module::Lock hold(mutex_);
        armed_ = false;
    }
    std::uint32_t handled = 0;
    if (any_noted_.load(std::memory_order_relaxed)) handled += attend_noted(budget); // [noted]
    if (backlog_ != nullptr) handled += backlog_->resume(budget - std::min(budget, handled));
    if (backlog_ == nullptr && handled < budget) {
        handled += read_hot(budget - handled);
        if (hot_count_ == 0 || skips_left_ == 0) {
            wait(budget, handled);
        } else {
            --skips_left_;
        }
    }
    poller_.bury();
    return static_cast<std::int32_t>(handled);
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

std::uint32_t Module::read_hot(std::uint32_t budget) {
    std::uint32_t handled = 0;
    for (std::size_t i = 0; i < hot_count_ && handled < budget;) {
        Link* link = hot_[i];
        handled += link->read(budget - handled);
        if (i == hot_count_ || hot_[i] != link) continue; // a callback has ended it
        if (link->misses <= kMostMisses) {
            ++i;
        } else {
            cool(*link);
        }
    }
    return handled;
}

// As long as only the hot links have something, the rest is asked ever more rarely.
void Module::wait(std::uint32_t budget, std::uint32_t& handled) {
    found_cold_ = false;
    (void)poller_.wait(budget, handled);
    skips_ = found_cold_ ? 0 : std::min(2 * skips_ + 1, kMostSkips);
    skips_left_ = skips_;
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
    if (backlog_ == &link) backlog_ = nullptr;
    const auto end = hot_.begin() + static_cast<std::ptrdiff_t>(hot_count_);
    const auto found = std::find(hot_.begin(), end, &link);
    if (found == end) return;
    std::copy(found + 1, end, found);
    --hot_count_;
}

std::int32_t Module::arm(std::uint64_t& sleep_ns) {
    if (backlog_ != nullptr) return PLEXUS_AGAIN;
    {
        const module::Lock hold(mutex_);
        if (any_noted_.load(std::memory_order_relaxed)) return PLEXUS_AGAIN;
        armed_ = true;
    }
    slept_ = true;
    skips_left_ = 0; // what wakes us is found at once
    if (const auto due = poller_.next_deadline(); due != Clock::time_point::max()) {
        const auto left = std::max(Clock::duration::zero(), due - Clock::now());
        sleep_ns = std::min(sleep_ns, static_cast<std::uint64_t>(std::chrono::nanoseconds(left).count()));
    }
    return PLEXUS_OK;
}

} // namespace plexus::tcp
