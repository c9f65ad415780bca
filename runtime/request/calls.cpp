// SPDX-License-Identifier: BSD-3-Clause
#include "request/calls.h"

#include "base/log.h"
#include "transport/peer.h"

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
    const Ending ending{Status::deadline_exceeded};
    while (!deadlines_.empty()) {
        const Deadline first = deadlines_.front();
        const bool waits = present(first.id);
        if (waits && first.when > now) break;
        std::pop_heap(deadlines_.begin(), deadlines_.end(), kLater);
        deadlines_.pop_back();
        Entry entry;
        if (waits && end(static_cast<std::uint32_t>(first.id), ending, entry) == Outcome::ended)
            expired.push_back(std::move(entry));
    }
    next = deadlines_.empty() ? Clock::time_point::max() : deadlines_.front().when;
    return expired;
}

std::uint64_t Calls::id_of(std::size_t slot) const {
    return std::uint64_t{slots_[slot].generation} << 32 | slot;
}

Calls::Entry Calls::free(std::size_t slot) {
    if (slots_[slot].held) {
        slots_[slot].held = false;
        holds_.erase(id_of(slot));
    }
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
    const Slot* const slot = find(id, peer);
    return slot == nullptr || slot->held ? Entry{} : free(static_cast<std::uint32_t>(id));
}

Calls::Outcome Calls::end(std::size_t slot, const Ending& ending, Entry& entry) {
    const Entry& ends = slots_[slot].entry;
    const bool given_up = ending.status == Status::cancelled || ending.status == Status::deadline_exceeded;
    if (slots_[slot].held) {
        Hold& held = holds_.at(id_of(slot));
        if (held.ending) return Outcome::unknown;
        held.ending = ending;
        held.ended = Clock::now();
        return Outcome::noted;
    }
    if (given_up && ends.via != nullptr && !ends.types.empty()) // a request; a transfer is quickly done
        if (auto peer = ends.peer->weak_from_this().lock())
            abandoned_.push_back({std::move(peer), ends.via, id_of(slot)});
    entry = free(slot);
    return Outcome::ended;
}

Calls::Outcome Calls::end(std::uint64_t id, const transport::Peer* peer, const Ending& ending, Entry& entry) {
    Lock hold(mutex_);
    return find(id, peer) == nullptr ? Outcome::unknown : end(static_cast<std::uint32_t>(id), ending, entry);
}

bool Calls::hold(std::uint64_t id, const transport::Peer* peer, Use use) {
    Lock hold(mutex_);
    const Slot* const slot = find(id, peer);
    if (slot == nullptr || slot->held) return false;
    slots_[static_cast<std::uint32_t>(id)].held = true;
    holds_.emplace(id, Hold{use});
    return true;
}

std::byte* Calls::land(std::uint64_t id, const transport::Peer* peer, std::size_t size, transport::Link& by) {
    Lock hold(mutex_);
    const Slot* const slot = find(id, peer);
    if (slot == nullptr || slot->held || slot->entry.into.size() != size) return nullptr;
    slots_[static_cast<std::uint32_t>(id)].held = true;
    holds_.emplace(id, Hold{Use::place, &by});
    return slot->entry.into.data();
}

Calls::Ended Calls::let_go(std::uint64_t id, const transport::Peer* peer, std::optional<Ending> ending,
                           const transport::Link* by) {
    Lock hold(mutex_);
    const Slot* const slot = find(id, peer);
    if (slot == nullptr || !slot->held) return {}; // ended by force, or let go before
    const auto held = holds_.find(id);
    if (held->second.by != by) return {};
    if (held->second.ending) ending = std::move(held->second.ending);
    if (ending) return {free(static_cast<std::uint32_t>(id)), std::move(*ending)};
    slots_[static_cast<std::uint32_t>(id)].held = false;
    holds_.erase(held);
    return {};
}

transport::Link* Calls::placer(std::uint64_t id, const transport::Peer* peer) const {
    Lock hold(mutex_);
    const Slot* const slot = find(id, peer);
    return slot != nullptr && slot->held ? holds_.at(id).by : nullptr;
}

bool Calls::is_moving(std::uint64_t id, const transport::Peer* peer) const {
    Lock hold(mutex_);
    const Slot* const slot = find(id, peer);
    return slot != nullptr && slot->held && holds_.at(id).use != Use::send;
}

std::vector<transport::Link*> Calls::placing_since(Clock::time_point since, Clock::time_point& next) const {
    Lock hold(mutex_);
    std::vector<transport::Link*> links;
    next = Clock::time_point::max();
    for (const auto& [id, held] : holds_) {
        if (held.use != Use::place || !held.ending) continue;
        if (held.ended < since) {
            links.push_back(held.by);
        } else {
            next = std::min(next, held.ended);
        }
    }
    return links;
}

std::vector<Calls::Abandoned> Calls::take_abandoned() {
    Lock hold(mutex_);
    return std::exchange(abandoned_, {});
}

bool Calls::goes_by(std::uint64_t id, const transport::Peer* peer, transport::Channel* via) {
    Lock hold(mutex_);
    if (find(id, peer) == nullptr) return false;
    slots_[static_cast<std::uint32_t>(id)].entry.via = via;
    return true;
}

std::vector<Calls::Entry> Calls::take_all(const transport::Peer* peer, const Ending& ending, bool forced) {
    Lock hold(mutex_);
    std::vector<Entry> taken;
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
        if (slots_[slot].entry.state == nullptr || slots_[slot].entry.peer != peer) continue;
        Entry entry;
        if (forced) {
            taken.push_back(free(slot));
        } else if (end(slot, ending, entry) == Outcome::ended) {
            taken.push_back(std::move(entry));
        }
    }
    return taken;
}

std::vector<Calls::Entry> Calls::take_all_by(const transport::Channel* via, const Ending& ending,
                                             bool only_uncertain) {
    Lock hold(mutex_);
    std::vector<Entry> taken;
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
        const Entry& candidate = slots_[slot].entry;
        if (candidate.state == nullptr || candidate.via != via || (only_uncertain && !candidate.uncertain))
            continue;
        Entry entry;
        if (end(slot, ending, entry) == Outcome::ended) taken.push_back(std::move(entry));
    }
    return taken;
}

void Calls::mark_uncertain(const transport::Channel* via) {
    Lock hold(mutex_);
    for (Slot& slot : slots_)
        if (slot.entry.state != nullptr && slot.entry.via == via) slot.entry.uncertain = true;
}

void Calls::moved(const transport::Channel* from, transport::Channel* to) {
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
