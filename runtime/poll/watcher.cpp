// SPDX-License-Identifier: BSD-3-Clause
#include "poll/watcher.h"

#include <poll.h>
#include <sys/eventfd.h>

namespace plexus::poll {
namespace {

void ring(int fd) noexcept {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(fd, &one, sizeof one); // full: it is readable anyway
}

void quiet(int fd) noexcept {
    std::uint64_t count;
    [[maybe_unused]] const auto got = ::read(fd, &count, sizeof count);
}

} // namespace

Watcher::Watcher(int fd, std::function<void()> raised)
  : fd_(fd)
  , go_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
  , call_(std::move(raised))
  , thread_([this] { loop(); }) {}

Watcher::~Watcher() {
    stop_.store(true, std::memory_order_release); // pairs with the load in loop()
    ring(go_.get());
    thread_.join();
}

void Watcher::watch(std::uint64_t limit_ns) noexcept {
    limit_.store(limit_ns, std::memory_order_relaxed);
    flag_.store(false, std::memory_order_relaxed);
    ring(go_.get());
}

void Watcher::loop() {
    while (!stop_.load(std::memory_order_acquire)) {
        pollfd go{go_.get(), POLLIN, 0};
        ::poll(&go, 1, -1);
        quiet(go_.get());
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
