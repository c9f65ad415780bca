// SPDX-License-Identifier: BSD-3-Clause
#include "stream_link/event_loop.h"

#include "stream_link/link.h"

#include <algorithm>

namespace plexus::stream_link {

void EventLoop::notify(Link& link) {
    if (notified_.add(link)) poller_.wake();
}

void EventLoop::watch(Link& link) {
    if (!watchdog_.on() || !watchdog_.add(link)) return;
    if (notified_.request_turn()) poller_.wake();
}

void EventLoop::forget(Link& link) {
    cool(link);
    watchdog_.remove(link);
    notified_.remove(link);
}

// Four kinds of work, each with a share of its own, so that no kind starves while another never ends:
// requests of other threads, links with messages in a receive buffer, hot links, and the epoll set.
std::int32_t EventLoop::poll(std::uint32_t budget) {
    notified_.disarm();
    coalescer_.write(); // what a batch that was not ended left behind
    const auto share_beside = [budget](std::uint32_t used) {
        return std::max({budget - std::min(budget, used), budget / 4, 1U});
    };
    std::uint32_t asked_for = 0;
    if (notified_.any()) asked_for = attend(budget);
    std::uint32_t handled = 0;
    if (buffers_.held() > 0) handled += resume(budget);
    if (!hot_.empty()) handled += hot_.read(share_beside(handled));
    if (hot_.empty() || skips_.is_due()) handled += wait(share_beside(handled));
    poller_.bury();
    return static_cast<std::int32_t>(asked_for + handled);
}

std::uint32_t EventLoop::attend(std::uint32_t budget) {
    const std::vector<Link*> links = notified_.take(budget);
    watchdog_.begin_watch();
    for (Link* link : links) link->attend();
    return static_cast<std::uint32_t>(links.size());
}

std::uint32_t EventLoop::resume(std::uint32_t budget) {
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

std::uint32_t EventLoop::wait(std::uint32_t budget) {
    skips_.begin_wait();
    const std::uint32_t handled = poller_.wait(budget);
    skips_.end_wait();
    return handled;
}

std::int32_t EventLoop::arm(std::uint64_t& sleep_ns) {
    if (buffers_.held() > 0 || coalescer_.holds()) return PLEXUS_AGAIN;
    if (!notified_.arm()) return PLEXUS_AGAIN;
    skips_.stop(); // the next turn looks for the event that woke the thread
    if (const auto due = poller_.next_deadline(); due != Clock::time_point::max()) {
        const auto left = std::max(Clock::duration::zero(), due - Clock::now());
        sleep_ns = std::min(sleep_ns, static_cast<std::uint64_t>(std::chrono::nanoseconds(left).count()));
    }
    return PLEXUS_OK;
}

} // namespace plexus::stream_link
