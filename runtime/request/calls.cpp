// SPDX-License-Identifier: BSD-3-Clause
#include "request/calls.h"

#include "base/log.h"

namespace plexus::request {

Result<std::uint32_t> Calls::add(Entry entry) {
    Lock hold(mutex_);
    if (free_.empty()) {
        if (slots_.size() >= most_)
            return fail(
                Status::again,
                "{} calls wait for an answer, limits.calls allows no more: wait for some, or raise it",
                slots_.size());
        free_.push_back(static_cast<std::uint32_t>(slots_.size()));
        slots_.emplace_back();
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    slots_[slot].entry = std::move(entry);
    return slots_[slot].generation << kSlotBits | slot;
}

const Calls::Slot* Calls::find(std::uint32_t number, const comm::Peer* peer) const {
    const std::size_t slot = number & (kMost - 1);
    if (slot >= slots_.size()) return nullptr;
    const Slot& found = slots_[slot];
    const bool same = found.entry.state != nullptr && found.entry.peer == peer &&
                      found.generation << kSlotBits == (number & ~(static_cast<std::uint32_t>(kMost) - 1));
    return same ? &found : nullptr;
}

Calls::Entry Calls::free(std::size_t slot) {
    Entry entry = std::exchange(slots_[slot].entry, Entry{});
    ++slots_[slot].generation;
    free_.push_back(static_cast<std::uint32_t>(slot));
    return entry;
}

Calls::Entry Calls::take(std::uint32_t number, const comm::Peer* peer) {
    Lock hold(mutex_);
    return find(number, peer) == nullptr ? Entry{} : free(number & (kMost - 1));
}

std::span<std::byte> Calls::destination(std::uint32_t number, const comm::Peer* peer) const {
    Lock hold(mutex_);
    const Slot* const slot = find(number, peer);
    return slot == nullptr ? std::span<std::byte>{} : slot->entry.into;
}

std::vector<Calls::Entry> Calls::take_all(const comm::Peer* peer) {
    Lock hold(mutex_);
    std::vector<Entry> taken;
    for (std::size_t slot = 0; slot < slots_.size(); ++slot)
        if (slots_[slot].entry.state != nullptr && slots_[slot].entry.peer == peer)
            taken.push_back(free(slot));
    return taken;
}

bool Calls::awaits(const comm::Peer* peer) const {
    Lock hold(mutex_);
    for (const Slot& slot : slots_)
        if (slot.entry.state != nullptr && slot.entry.peer == peer) return true;
    return false;
}

} // namespace plexus::request
