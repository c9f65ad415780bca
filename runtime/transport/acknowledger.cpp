// SPDX-License-Identifier: BSD-3-Clause
#include "transport/acknowledger.h"

#include "transport/channel.h"

#include <algorithm>
#include <ctime>

namespace plexus::transport {
namespace {

/// Some milliseconds late, and read in a few nanoseconds.
std::chrono::steady_clock::time_point coarse_now() noexcept {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return std::chrono::steady_clock::time_point(std::chrono::seconds(now.tv_sec) +
                                                 std::chrono::nanoseconds(now.tv_nsec));
}

} // namespace

void Acknowledger::act(Link& link, ReceiveWindow::Ack due) {
    if (due == ReceiveWindow::Ack::now) return now(link);
    if (due == ReceiveWindow::Ack::look) {
        if (coarse_now() >= due_) all();
        return;
    }
    later(link);
}

void Acknowledger::arriving(Link& link) { later(link); }

void Acknowledger::later(Link& link) {
    if (std::find(ack_pending_.begin(), ack_pending_.end(), &link) != ack_pending_.end()) return;
    if (ack_pending_.empty()) {
        due_ = std::chrono::steady_clock::now() + kDelay;
        scheduler_.request_deferred_work();
    }
    ack_pending_.push_back(&link);
}

void Acknowledger::now(Link& link) {
    forget(link);
    const wire::StreamFrame ack{link.received.stream(), link.received.take_ack()};
    link.channel->on_outbox([&](Outbox& outbox) { outbox.send_ack(link, ack); });
}

void Acknowledger::forget(Link& link) noexcept { std::erase(ack_pending_, &link); }

void Acknowledger::all() {
    const std::vector<Link*> links = ack_pending_;
    for (Link* link : links) now(*link);
}

std::chrono::nanoseconds Acknowledger::run() {
    if (ack_pending_.empty()) return std::chrono::nanoseconds::max();
    const auto left = due_ - std::chrono::steady_clock::now();
    if (left.count() > 0) return left;
    all();
    return std::chrono::nanoseconds::max();
}

} // namespace plexus::transport
