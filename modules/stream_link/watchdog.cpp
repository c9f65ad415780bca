// SPDX-License-Identifier: BSD-3-Clause
#include "stream_link/watchdog.h"

#include "stream_link/link.h"

#include <algorithm>

namespace plexus::stream_link {

bool Watchdog::add(Link& link) {
    const Lock hold(mutex_);
    links_.push_back(&link);
    return links_.size() == 1;
}

void Watchdog::remove(Link& link) {
    const Lock hold(mutex_);
    std::erase(links_, &link);
}

void Watchdog::begin_watch() {
    if (due_) return;
    {
        const Lock hold(mutex_);
        if (links_.empty()) return;
    }
    due_ = true;
    set_deadline(Clock::now() + dead_after_ / 4);
}

void Watchdog::expired() {
    due_ = false;
    std::vector<Link*> links;
    {
        const Lock hold(mutex_);
        links.swap(links_);
    }
    // Only this thread ends links, and this loop ends only the link that it looks at. A link that was removed
    // reports again when it sends.
    for (Link* link : links) {
        if (!link->has_unanswered()) continue;
        (void)add(*link);
        link->end_if_silent(dead_after_);
    }
    begin_watch();
}

} // namespace plexus::stream_link
