// SPDX-License-Identifier: BSD-3-Clause
#include "message_link/link_table.h"

#include <algorithm>

namespace plexus::message_link {

bool LinkTable::add(std::unique_ptr<Link> link, const plexus_host& host) {
    host.random(host.self, &link->mine.token, sizeof link->mine.token);
    const Lock hold(mutex_);
    if (!free_.empty()) {
        link->mine.slot = free_.back();
        free_.pop_back();
        slots_[link->mine.slot] = std::move(link);
        return true;
    }
    if (slots_.size() >= kNoSlot) {
        strays_.push_back(std::move(link));
        return false;
    }
    link->mine.slot = static_cast<std::uint32_t>(slots_.size());
    slots_.push_back(std::move(link));
    return true;
}

void LinkTable::remove(const Link& link) {
    std::unique_ptr<Link> last; // freed without the lock
    const Lock hold(mutex_);
    if (link.mine.slot != kNoSlot) {
        last = std::move(slots_[link.mine.slot]);
        free_.push_back(link.mine.slot);
        return;
    }
    std::erase_if(strays_, [&](const auto& each) { return each.get() == &link; });
}

std::uint64_t LinkTable::queued_bytes() const {
    std::uint64_t out = 0;
    const Lock hold(mutex_);
    for (const auto& each : slots_) {
        if (each == nullptr) continue;
        const Hold port(each->port.lock);
        out += each->sender.queued_bytes();
    }
    return out;
}

} // namespace plexus::message_link
