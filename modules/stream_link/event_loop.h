// SPDX-License-Identifier: BSD-3-Clause
// The turn of a context: which sources are asked for work, in which order. The hot links, which received most
// recently, are read directly, everything else through one epoll set. An idle turn is one system call: a read
// of the link that received last, or epoll_wait.
#pragma once

#include "stream_link/coalescer.h"
#include "stream_link/epoll_skips.h"
#include "stream_link/hot_links.h"
#include "stream_link/notified_links.h"
#include "stream_link/poller.h"
#include "stream_link/receive_buffers.h"
#include "stream_link/watchdog.h"

#include <chrono>
#include <cstdint>

namespace plexus::stream_link {

class Link;

class EventLoop {
  public:
    /// `receive_bytes`: most bytes of one read. `dead_after`: see Watchdog.
    EventLoop(std::size_t receive_bytes, std::chrono::nanoseconds dead_after)
      : watchdog_(poller_, dead_after)
      , buffers_(receive_bytes) {}

    // @thread any
    /// Calls attend() in the next turn, and wakes a sleeping thread for the turn.
    void notify(Link& link);
    /// `link` has sent something and is not being watched.
    void watch(Link& link);

    // @thread progress
    std::int32_t poll(std::uint32_t budget);
    std::int32_t arm(std::uint64_t& sleep_ns);
    /// `link` is read directly from now on.
    void heat(Link& link) {
        if (hot_.add(link)) skips_.found();
    }
    /// `link` is not read directly any more, and its receive buffer is free.
    void cool(const Link& link) {
        buffers_.give_back(link);
        hot_.remove(link);
    }
    /// Epoll has found an event of a link that is not hot.
    void found_cold() noexcept { skips_.found(); }
    /// `link` is over: no turn names it any more.
    void forget(Link& link);
    /// There will be no more turns. @thread setup
    void stop() { notified_.clear(); }

    Poller& poller() noexcept { return poller_; } // @thread see there
    const Poller& poller() const noexcept { return poller_; }
    ReceiveBuffers& buffers() noexcept { return buffers_; }
    Coalescer& coalescer() noexcept { return coalescer_; }

  private:
    std::uint32_t attend(std::uint32_t budget);
    std::uint32_t resume(std::uint32_t budget);
    std::uint32_t wait(std::uint32_t budget);

    Poller poller_;
    Watchdog watchdog_;
    ReceiveBuffers buffers_;
    Coalescer coalescer_;
    HotLinks hot_;
    EpollSkips skips_;
    NotifiedLinks notified_;
};

} // namespace plexus::stream_link
