// SPDX-License-Identifier: BSD-3-Clause
#include "request/calls.h"

#include "base/log.h"

#include <algorithm>

namespace plexus::request {
namespace {

constexpr std::size_t kFewDeadlines = 64;
constexpr auto kLater = [](const auto& one, const auto& other) { return one.when > other.when; };

} // namespace

Result<std::uint64_t> Calls::add(Entry entry) {
    Lock hold(mutex_);
    if (free_.empty()) {
        if (slots_.size() - retired_ >= most_)
            return fail(
                Status::again,
                "{} calls wait for an answer, limits.calls allows no more: wait for some, or raise it",
                slots_.size() - retired_);
        free_.push_back(static_cast<std::uint32_t>(slots_.size()));
        slots_.push_back({{}, first_generation_});
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    slots_[slot].entry = std::move(entry);
    return std::uint64_t{slots_[slot].generation} << 32 | slot;
}

bool Calls::present(std::uint64_t id) const noexcept {
    const auto slot = static_cast<std::uint32_t>(id);
    return slot < slots_.size() && slots_[slot].entry.state != nullptr && slots_[slot].generation == id >> 32;
}

const Calls::Slot* Calls::find(std::uint64_t id, const transport::Peer* peer) const {
    if (!present(id)) return nullptr;
    const Slot& found = slots_[static_cast<std::uint32_t>(id)];
    return found.entry.peer == peer ? &found : nullptr;
}

bool Calls::expires(std::uint64_t id, Clock::time_point when) {
    Lock hold(mutex_);
    if (!present(id)) return false;
    if (deadlines_.size() >= 2 * slots_.size() + kFewDeadlines) {
        const auto over = [&](const Deadline& each) PLEXUS_REQUIRES(mutex_) { return !present(each.id); };
        std::erase_if(deadlines_, over);
        std::make_heap(deadlines_.begin(), deadlines_.end(), kLater);
    }
    const bool earliest = deadlines_.empty() || when < deadlines_.front().when;
    deadlines_.push_back({when, id});
    std::push_heap(deadlines_.begin(), deadlines_.end(), kLater);
    return earliest;
}

std::size_t Calls::deadlines() const {
    Lock hold(mutex_);
    return deadlines_.size();
}

std::vector<Calls::Entry> Calls::take_expired(Clock::time_point now, Clock::time_point& next) {
    Lock hold(mutex_);
    std::vector<Entry> expired;
    while (!deadlines_.empty()) {
        const Deadline first = deadlines_.front();
        const bool waits = present(first.id);
        if (waits && first.when > now) break;
        std::pop_heap(deadlines_.begin(), deadlines_.end(), kLater);
        deadlines_.pop_back();
        if (waits) expired.push_back(free(static_cast<std::uint32_t>(first.id)));
    }
    next = deadlines_.empty() ? Clock::time_point::max() : deadlines_.front().when;
    return expired;
}

Calls::Entry Calls::free(std::size_t slot) {
    Entry entry = std::exchange(slots_[slot].entry, Entry{});
    if (++slots_[slot].generation == 0) {
        ++retired_; // after 2^32 calls; the next would get an id for the second time
    } else {
        free_.push_back(static_cast<std::uint32_t>(slot));
    }
    return entry;
}

Calls::Entry Calls::take(std::uint64_t id, const transport::Peer* peer) {
    Lock hold(mutex_);
    return find(id, peer) == nullptr ? Entry{} : free(static_cast<std::uint32_t>(id));
}

bool Calls::goes_by(std::uint64_t id, const transport::Peer* peer, const transport::Channel* via) {
    Lock hold(mutex_);
    if (find(id, peer) == nullptr) return false;
    slots_[static_cast<std::uint32_t>(id)].entry.via = via;
    return true;
}

std::span<std::byte> Calls::destination(std::uint64_t id, const transport::Peer* peer) const {
    Lock hold(mutex_);
    const Slot* const slot = find(id, peer);
    return slot == nullptr ? std::span<std::byte>{} : slot->entry.into;
}

std::vector<Calls::Entry> Calls::take_all(const transport::Peer* peer) {
    Lock hold(mutex_);
    std::vector<Entry> taken;
    for (std::size_t slot = 0; slot < slots_.size(); ++slot)
        if (slots_[slot].entry.state != nullptr && slots_[slot].entry.peer == peer)
            taken.push_back(free(slot));
    return taken;
}

std::vector<Calls::Entry> Calls::take_all_by(const transport::Channel* via, bool only_doubted) {
    Lock hold(mutex_);
    std::vector<Entry> taken;
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
        const Entry& entry = slots_[slot].entry;
        if (entry.state != nullptr && entry.via == via && (entry.doubted || !only_doubted))
            taken.push_back(free(slot));
    }
    return taken;
}

void Calls::doubt(const transport::Channel* via) {
    Lock hold(mutex_);
    for (Slot& slot : slots_)
        if (slot.entry.state != nullptr && slot.entry.via == via) slot.entry.doubted = true;
}

void Calls::moved(const transport::Channel* from, const transport::Channel* to) {
    Lock hold(mutex_);
    for (Slot& slot : slots_)
        if (slot.entry.state != nullptr && slot.entry.via == from) slot.entry.via = to;
}

bool Calls::awaits(const transport::Peer* peer) const {
    Lock hold(mutex_);
    for (const Slot& slot : slots_)
        if (slot.entry.state != nullptr && slot.entry.peer == peer) return true;
    return false;
}

bool Calls::awaits_by(const transport::Channel* via) const {
    Lock hold(mutex_);
    for (const Slot& slot : slots_)
        if (slot.entry.state != nullptr && slot.entry.via == via) return true;
    return false;
}

} // namespace plexus::request
