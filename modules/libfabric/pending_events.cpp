// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/pending_events.h"

#include <algorithm>

namespace plexus::libfabric {

using message_link::Event;

std::size_t PendingEvents::take(Event* out, std::size_t most) {
    const std::size_t count = std::min(most, events_.size());
    const auto end = events_.begin() + static_cast<std::ptrdiff_t>(count);
    std::move(events_.begin(), end, out);
    events_.erase(events_.begin(), end);
    return count;
}

std::size_t PendingEvents::fetched_over(const message_link::Peer& peer) const {
    return static_cast<std::size_t>(std::count_if(events_.begin(), events_.end(), [&](const Event& one) {
        return one.what == Event::What::fetched && one.peer == &peer;
    }));
}

void PendingEvents::forget(const message_link::Peer& peer) {
    std::erase_if(events_, [&](const Event& one) { return one.peer == &peer; });
}

void PendingEvents::keep_arrivals() {
    std::erase_if(events_, [](const Event& one) { return one.what != Event::What::arrived; });
}

} // namespace plexus::libfabric
