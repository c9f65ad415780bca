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

void Watcher::watch() noexcept {
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
        ::poll(both, 2, -1);
        if (both[0].revents == 0) continue;           // told to stop, or to watch anew
        flag_.store(true, std::memory_order_release); // [raise]
        call_();
    }
}

} // namespace plexus::poll
