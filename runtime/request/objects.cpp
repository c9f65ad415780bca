// SPDX-License-Identifier: BSD-3-Clause
#include "request/objects.h"

namespace plexus::request {

thread_local Objects::Slot* Objects::own_ = nullptr;

Objects::~Objects() {
    for (auto& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
}

detail::Target Objects::add(void* object, std::size_t bytes, std::uint64_t type, std::uint64_t key,
                            std::shared_ptr<Attached> attached) {
    Lock hold(mutex_);
    std::uint32_t handle;
    if (!free_.empty()) {
        handle = free_.back();
        free_.pop_back();
    } else {
        handle = made_;
        const auto chunk = static_cast<std::size_t>(std::bit_width(handle + kFirst) - std::bit_width(kFirst));
        if (chunk >= kChunks) throw Error(Status::too_large, "too many objects are bound in this context");
        if (chunks_[chunk].load(std::memory_order_relaxed) == nullptr)
            chunks_[chunk].store(new Slot[kFirst << chunk], std::memory_order_release); // [chunk]
        ++made_;
    }
    Slot& slot = *find(handle);
    slot.table = this;
    slot.handle = handle;
    slot.object = object;
    slot.bytes = bytes;
    slot.type = type;
    slot.attached = std::move(attached);
    detail::Target target;
    target.handle = handle;
    target.generation = slot.generation.load(std::memory_order_relaxed);
    target.key = key;
    slot.key.store(key, std::memory_order_release); // [bind]
    return target;
}

Objects::Slot& Objects::kill(const detail::Target& target) noexcept {
    Slot& slot = *find(target.handle);
    slot.key.store(0, std::memory_order_seq_cst);
    heavy_barrier(); // [use]
    return slot;
}

// Off the turn: waits until no inline handler runs on the object.
bool Objects::leader_has_left(const Slot& slot, Clock::time_point deadline) const {
    unsigned round = 0;
    while (using_.load(std::memory_order_acquire) == &slot) {
        if (Clock::now() >= deadline) return false;
        spin_pause(round);
    }
    return true;
}

Status Objects::remove(const detail::Target& target, const std::function<void()>& turn,
                       Clock::time_point deadline, std::function<void()> last) {
    Slot& slot = kill(target);
    Status status = turn && !leader_has_left(slot, deadline) ? Status::timed_out : Status::ok;
    // Inside a turn a handler below on this very stack may use the object: it needs us to return.
    const std::uint32_t own = turn && own_ == &slot ? 1 : 0;
    unsigned round = 0;
    while (status == Status::ok) {
        const std::uint64_t pins = slot.pins.load(std::memory_order_seq_cst); // [pins]
        const std::uint32_t used = used_in(pins);
        if (used <= own) break;
        const std::uint32_t active = running_in(pins);
        const std::uint32_t waiting = slot.waiting.load(std::memory_order_acquire);
        if (!turn && used > active - std::min(active, waiting)) status = Status::would_deadlock;
        if (Clock::now() >= deadline) status = Status::timed_out;
        if (turn) turn();
        spin_pause(round);
    }
    retire(slot, std::move(last));
    return status;
}

void Objects::remove_later(const detail::Target& target, const std::function<void()>& turn,
                           std::function<void()> last) {
    Slot& slot = kill(target);
    if (turn) leader_has_left(slot, Clock::time_point::max());
    retire(slot, std::move(last));
}

void Objects::retire(Slot& slot, std::function<void()> last) {
    slot.last = std::move(last);
    slot.retired.store(true, std::memory_order_seq_cst); // [retired]
    if (slot.pins.load(std::memory_order_seq_cst) == 0) recycle(slot);
}

void Objects::recycle(Slot& slot) noexcept {
    // Two may come here, and a slower one even when the slot has a new object.
    while (slot.pins.load(std::memory_order_seq_cst) == 0 &&
           slot.retired.exchange(false, std::memory_order_seq_cst)) {
        if (slot.pins.load(std::memory_order_seq_cst) != 0) { // it was somebody else's flag
            slot.retired.store(true, std::memory_order_seq_cst);
            continue;
        }
        const std::function<void()> last = std::exchange(slot.last, nullptr);
        if (const auto attached = std::move(slot.attached)) attached->unbound();
        slot.generation.fetch_add(1, std::memory_order_relaxed);
        {
            Lock hold(mutex_);
            free_.push_back(slot.handle);
        }
        if (last) last();
        return;
    }
}

Objects::HandlerPin::HandlerPin(Slot& slot, std::uint64_t key) noexcept
  : slot_(slot)
  , key_(key) {
    slot.pins.fetch_add(kQueued, std::memory_order_relaxed);
}

bool Objects::HandlerPin::begin() noexcept {
    begun_ = true;
    // remove() takes the key away, then looks at the pins; we become a running one, then look at the key: a
    // handler that begins is seen there, or sees that it must not.
    slot_.pins.fetch_add(kRunning - kQueued, std::memory_order_seq_cst);
    return slot_.key.load(std::memory_order_seq_cst) == key_;
}

Objects::HandlerPin::~HandlerPin() { unpin(slot_, begun_ ? kRunning : kQueued); }

} // namespace plexus::request
