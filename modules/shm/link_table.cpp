// SPDX-License-Identifier: BSD-3-Clause
#include "shm/link_table.h"

#include "shm/copy_report.h"

namespace plexus::shm {

bool LinkTable::add(Link& link) {
    const Lock hold(mutex_);
    if (free_slots_.empty() && slots_.size() == MailboxPage::kBits) return false;
    if (free_slots_.empty()) {
        link.slot = static_cast<std::uint32_t>(slots_.size());
        slots_.push_back(&link);
    } else {
        link.slot = free_slots_.back();
        free_slots_.pop_back();
        slots_[link.slot] = &link;
    }
    return true;
}

void LinkTable::remove(Link& link) {
    if (link.ready.load(std::memory_order_relaxed)) {
        open_links_.fetch_sub(1, std::memory_order_relaxed);
        segment_bytes_.fetch_sub(link.shared.segment.size(), std::memory_order_relaxed);
    }
    const Lock hold(mutex_);
    if (link.slot == Link::kNoSlot) {
        std::erase(strays_, &link);
    } else {
        slots_[link.slot] = nullptr;
        free_slots_.push_back(link.slot);
    }
    delete &link;
}

void LinkTable::clear() {
    const Lock hold(mutex_);
    for (Link* const link : slots_) delete link;
    for (Link* const link : strays_) delete link;
    slots_.clear();
    strays_.clear();
}

void LinkTable::count_open(const Link& link) noexcept {
    open_links_.fetch_add(1, std::memory_order_relaxed);
    segment_bytes_.fetch_add(link.shared.segment.size(), std::memory_order_relaxed);
}

CopyChoice::AllLearned LinkTable::learned(const SocketName& peer) const {
    CopyChoice::AllLearned most;
    const Lock hold(mutex_);
    for (const Link* const link : slots_) {
        if (link == nullptr || !link->ready.load(std::memory_order_acquire)) continue; // [ready]
        if (link->shared.peer != peer) continue;
        const CopyChoice::AllLearned all = link->sender.learned();
        if (classes_measured(all) > classes_measured(most)) most = all;
    }
    return most;
}

std::uint64_t LinkTable::queued_bytes() const {
    std::uint64_t bytes = 0;
    const Lock hold(mutex_);
    for (const Link* const link : slots_)
        if (link != nullptr && link->ready.load(std::memory_order_acquire)) // [ready]
            bytes += link->sender.queued_bytes();
    return bytes;
}

} // namespace plexus::shm
