// SPDX-License-Identifier: BSD-3-Clause
#include "poll/watcher.h"

#include <poll.h>

namespace plexus::poll {
Watcher::Watcher(int fd, std::function<void()> raised)
  : fd_(fd)
  , go_(EventFd::create())
  , call_(std::move(raised))
  , thread_([this] { loop(); }) {}

Watcher::~Watcher() {
    stop_.store(true, std::memory_order_release); // pairs with the load in loop()
    go_.wake();
    thread_.join();
}

void Watcher::watch(std::uint64_t limit_ns) noexcept {
    limit_.store(limit_ns, std::memory_order_relaxed);
    flag_.store(false, std::memory_order_relaxed);
    go_.wake();
}

void Watcher::loop() {
    while (!stop_.load(std::memory_order_acquire)) {
        pollfd go{go_.get(), POLLIN, 0};
        ::poll(&go, 1, -1);
        go_.clear();
        if (stop_.load(std::memory_order_acquire)) return;
        pollfd both[2]{{fd_, POLLIN, 0}, {go_.get(), POLLIN, 0}};
        const std::uint64_t limit = limit_.load(std::memory_order_relaxed);
        timespec time{};
        time.tv_sec = static_cast<time_t>(limit / 1'000'000'000);
        time.tv_nsec = static_cast<long>(limit % 1'000'000'000);
        const int ready = ::ppoll(both, 2, limit == UINT64_MAX ? nullptr : &time, nullptr);
        if (ready > 0 && both[0].revents == 0) continue; // told to stop, or to watch anew
        // Readable, out of time, or interrupted by a signal: nobody asks to watch anew before a poll.
        flag_.store(true, std::memory_order_release); // [raise]
        call_();
    }
}

} // namespace plexus::poll
