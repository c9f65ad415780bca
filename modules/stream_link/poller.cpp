// SPDX-License-Identifier: BSD-3-Clause
#include "stream_link/poller.h"

#include <algorithm>
#include <array>
#include <sys/socket.h>
#include <unistd.h>

namespace plexus::stream_link {

Watched::~Watched() { clear_deadline(); }

void Watched::set_deadline(Clock::time_point when) {
    clear_deadline();
    due_ = when;
    has_deadline_ = true;
    poller_.deadlines_.emplace(when, this);
}

void Watched::clear_deadline() {
    if (!std::exchange(has_deadline_, false)) return;
    poller_.deadlines_.erase({due_, this});
}

Poller::Poller()
  : process_(::getpid())
  , epoll_(::epoll_create1(EPOLL_CLOEXEC))
  , wake_(EventFd::create()) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (usable()) (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event);
}

bool Poller::add(int fd, std::uint32_t events, Watched& who) noexcept {
    epoll_event event{};
    event.events = events;
    event.data.ptr = &who;
    return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void Poller::change(int fd, std::uint32_t events, Watched& who) noexcept {
    epoll_event event{};
    event.events = events;
    event.data.ptr = &who;
    (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

bool Poller::is_own_process() const noexcept { return ::getpid() == process_; }

void Poller::close(int fd) noexcept {
    if (is_own_process()) {
        (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
        (void)::shutdown(fd, SHUT_RDWR);
    }
    ::close(fd);
}

void Poller::abort(int fd) noexcept {
    if (is_own_process()) {
        (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
        sockaddr nobody{};
        nobody.sa_family = AF_UNSPEC; // TCP sends a reset, also while another process holds the socket
        (void)::connect(fd, &nobody, sizeof nobody);
    }
    ::close(fd);
}

void Poller::wake() noexcept { wake_.wake(); }

// At most one socket for each unit of the budget: each socket gets a share, and the kernel puts the reported
// sockets behind the others.
std::uint32_t Poller::wait(std::uint32_t budget) {
    std::array<epoll_event, kBatch> events;
    const auto most = static_cast<int>(std::clamp<std::uint32_t>(budget, 1, kBatch));
    const int found = ::epoll_wait(epoll_.get(), events.data(), most, 0);
    std::uint32_t handled = 0;
    for (int i = 0; i < found; ++i) {
        const epoll_event& event = events[static_cast<std::size_t>(i)];
        if (event.data.ptr == nullptr) {
            wake_.clear();
            continue;
        }
        auto& who = *static_cast<Watched*>(event.data.ptr);
        if (who.retired_) continue;
        const std::uint32_t left = budget - std::min(budget, handled);
        const auto others = static_cast<std::uint32_t>(found - i);
        who.ready(event.events, others == 1 ? std::max(left, 1U) : std::max(left / others, 1U), handled);
    }
    if (!deadlines_.empty()) run_deadlines();
    return handled;
}

Clock::time_point Poller::next_deadline() const noexcept {
    return deadlines_.empty() ? Clock::time_point::max() : deadlines_.begin()->first;
}

void Poller::run_deadlines() {
    const auto now = Clock::now();
    while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
        Watched* who = deadlines_.begin()->second;
        who->clear_deadline();
        who->expired();
    }
}

} // namespace plexus::stream_link
