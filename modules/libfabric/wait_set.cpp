// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/wait_set.h"

#include "libfabric/peer.h"

#include <algorithm>
#include <array>
#include <sys/epoll.h>
#include <utility>

namespace plexus::libfabric {

WaitSet::WaitSet(std::shared_ptr<Page> page)
  : page_(std::move(page)) {}

bool WaitSet::open(int queue_fd) {
    epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
    if (!epoll_) return false;
    const auto add = [&](int fd) {
        epoll_event event{EPOLLIN, {nullptr}};
        return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
    };
    return add(page_->ring_fd()) && (queue_fd < 0 || add(queue_fd));
}

void WaitSet::watch(FabricPeer& peer) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = &peer;
    if (peer.page.process_fd() >= 0)
        (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, peer.page.process_fd(), &event);
}

void WaitSet::unwatch(const FabricPeer& peer) {
    if (peer.page.process_fd() >= 0)
        (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, peer.page.process_fd(), nullptr);
}

void WaitSet::announce_sleep() {
    announced_ = true;
    page_->announce_sleep(true);
}

std::size_t WaitSet::look(std::span<FabricPeer*> ended) {
    if (std::exchange(announced_, false)) page_->announce_sleep(false);
    std::array<epoll_event, 16> events;
    const std::size_t most = std::min(ended.size(), events.size());
    const int got = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(most), 0);
    std::size_t count = 0;
    for (int i = 0; i < got; ++i) {
        auto* const peer = static_cast<FabricPeer*>(events[static_cast<std::size_t>(i)].data.ptr);
        if (peer == nullptr) {
            page_->silence();
            continue;
        }
        unwatch(*peer);
        ended[count++] = peer;
    }
    return count;
}

} // namespace plexus::libfabric
