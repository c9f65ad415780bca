// SPDX-License-Identifier: BSD-3-Clause
#include "transport/acknowledger.h"

#include "transport/channel.h"

namespace plexus::transport {

void Acknowledger::act(Link& link, ReceiveWindow::Ack due) {
    if (due == ReceiveWindow::Ack::now) return now(link);
    if (owing_.empty()) {
        due_ = std::chrono::steady_clock::now() + kDelay;
        scheduler_.request_chores();
    }
    owing_.push_back(&link);
}

void Acknowledger::now(Link& link) {
    forget(link);
    const wire::StreamFrame ack{link.received.stream(), link.received.take_ack()};
    link.channel->on_outbox([&](Outbox& outbox) { outbox.send_ack(link, ack); });
}

void Acknowledger::forget(Link& link) noexcept { std::erase(owing_, &link); }

void Acknowledger::all() {
    const std::vector<Link*> owing = owing_;
    for (Link* link : owing) now(*link);
}

std::chrono::nanoseconds Acknowledger::run() {
    if (owing_.empty()) return std::chrono::nanoseconds::max();
    const auto left = due_ - std::chrono::steady_clock::now();
    if (left.count() > 0) return left;
    all();
    return std::chrono::nanoseconds::max();
}

} // namespace plexus::transport
