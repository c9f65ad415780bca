// SPDX-License-Identifier: BSD-3-Clause
#include "stream_link/notified_links.h"

#include "stream_link/link.h"

#include <algorithm>

namespace plexus::stream_link {

bool NotifiedLinks::add(Link& link) {
    const Lock hold(mutex_);
    if (std::exchange(link.noted, true)) return false;
    links_.push_back(&link);
    return want_turn();
}

bool NotifiedLinks::request_turn() {
    const Lock hold(mutex_);
    return want_turn();
}

bool NotifiedLinks::want_turn() {
    any_.store(true, std::memory_order_relaxed); // [noted]
    return std::exchange(armed_, false);
}

void NotifiedLinks::remove(Link& link) {
    const Lock hold(mutex_);
    if (link.noted) std::erase(links_, &link);
}

void NotifiedLinks::clear() {
    const Lock hold(mutex_);
    links_.clear();
}

std::vector<Link*> NotifiedLinks::take(std::size_t most) {
    const Lock hold(mutex_);
    const auto end = links_.begin() + static_cast<std::ptrdiff_t>(std::min(most, links_.size()));
    std::vector<Link*> taken(links_.begin(), end);
    links_.erase(links_.begin(), end);
    any_.store(!links_.empty(), std::memory_order_relaxed);
    for (Link* link : taken) link->noted = false;
    return taken;
}

bool NotifiedLinks::arm() {
    const Lock hold(mutex_);
    if (any()) return false;
    armed_ = true;
    slept_ = true;
    return true;
}

void NotifiedLinks::end_sleep() {
    slept_ = false;
    const Lock hold(mutex_);
    armed_ = false;
}

} // namespace plexus::stream_link
