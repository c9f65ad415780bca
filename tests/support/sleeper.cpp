// SPDX-License-Identifier: BSD-3-Clause
#include "support/sleeper.h"

#include <array>
#include <poll.h>
#include <sys/eventfd.h>

namespace plexus::testing {

Sleeper::Sleeper(BareHost& host)
  : host_(host)
  , stop_(::eventfd(0, EFD_CLOEXEC))
  , thread_([this] { run(); }) {}

Sleeper::~Sleeper() {
    const std::uint64_t one = 1;
    if (::write(stop_.get(), &one, sizeof one) != static_cast<ssize_t>(sizeof one)) std::abort();
    thread_.join();
}

void Sleeper::run() {
    constexpr std::uint64_t kForever = UINT64_MAX;
    std::array<pollfd, 2> items{pollfd{host_.wait_fd(), POLLIN, 0}, pollfd{stop_.get(), POLLIN, 0}};
    for (;;) {
        if (host_.poll() > 0) continue;
        std::uint64_t sleep_ns = kForever;
        timespec wait{};
        const bool sleep = host_.arm(&sleep_ns) != PLEXUS_AGAIN;
        if (sleep) {
            wait.tv_sec = static_cast<time_t>(std::min<std::uint64_t>(sleep_ns / 1'000'000'000, 60));
            wait.tv_nsec = static_cast<long>(sleep_ns % 1'000'000'000);
            asleep_ = true;
            ++naps_;
        }
        ::ppoll(items.data(), items.size(), sleep && sleep_ns == kForever ? nullptr : &wait, nullptr);
        asleep_ = false;
        if ((items[1].revents & POLLIN) != 0) return;
    }
}

} // namespace plexus::testing
