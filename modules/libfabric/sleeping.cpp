// SPDX-License-Identifier: BSD-3-Clause
// Module: how long its host may sleep, and what the descriptors say that would wake it.
#include "libfabric/module.h"

#include <algorithm>
#include <sys/epoll.h>

namespace plexus::libfabric {
namespace {

// How long the host may sleep while no descriptor tells the news.
constexpr std::uint64_t kHurryNs = 50'000;
constexpr std::uint64_t kShortNs = 1'000'000;
constexpr std::uint64_t kLongNs = 200'000'000;

} // namespace

void Module::hear_events() {
    std::array<epoll_event, 64> events;
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
    for (int i = 0; i < count; ++i) {
        const std::uint64_t tag = events[static_cast<std::size_t>(i)].data.u64;
        if (tag == kRing) page_.silence();
        if (tag < kPeer) continue;
        Link* const link = slots_[static_cast<std::size_t>(tag - kPeer)];
        if (link == nullptr || link->bereaved) continue;
        link->bereaved = true;
        (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, link->page.process_fd(), nullptr);
        begin_ending(*link);
    }
}

void Module::wake_up() {
    if (std::exchange(armed_, false)) page_.ring_own();
}

std::int32_t Module::arm(std::uint64_t& sleep_ns) {
    {
        const module::Lock hold(notes_mutex_);
        if (any_noted_.load(std::memory_order_relaxed)) return PLEXUS_AGAIN;
        armed_ = true;
    }
    slept_ = true;
    page_.announce_sleep(true);
    for (const auto& port : ports_) {
        if (port->is_shut() && !port->end_is_known) return PLEXUS_AGAIN;
        if (port->is_shut()) continue;
        if (port->wait_fd() >= 0 ? !port->may_sleep() : port->look()) return PLEXUS_AGAIN;
        if (port->wait_fd() < 0) sleep_ns = std::min(sleep_ns, port->under_way() ? kHurryNs : kLongNs);
    }
    if (!carrying_.empty() || !ending_.empty()) sleep_ns = std::min(sleep_ns, kShortNs);
    for (const Link* const link : wishing_)
        if (link->hurries()) sleep_ns = std::min(sleep_ns, kHurryNs);
    for (const Link* const link : slots_) {
        if (link == nullptr) continue;
        const bool unheard =
            link->port.wait_fd() < 0 && !link->peer_rings && link->state == Link::State::open;
        const bool watched = link->page.is_open() || options_.dead_after.count() == 0;
        if (unheard) sleep_ns = std::min(sleep_ns, kShortNs);
        if (link->opening()) sleep_ns = std::min(sleep_ns, kLongNs / 10);
        if (link->doubts_reading()) sleep_ns = std::min(sleep_ns, kLongNs);
        if (!watched)
            sleep_ns = std::min(sleep_ns, static_cast<std::uint64_t>(options_.dead_after.count()) / 6);
    }
    return PLEXUS_OK;
}

} // namespace plexus::libfabric
