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

void Objects::remove(const detail::Target& target, const std::function<void()>& turn) {
    Slot& slot = *find(target.handle);
    slot.key.store(0, std::memory_order_relaxed);
    heavy_barrier(); // [use]
    unsigned round = 0;
    while (turn && using_.load(std::memory_order_acquire) == &slot) spin_pause(round);
    const std::uint32_t own = own_ == &slot ? 1 : 0;
    while (slot.pins.load(std::memory_order_acquire) > own) { // [pins]
        if (turn) turn();
        spin_pause(round);
    }
    if (const auto attached = std::move(slot.attached)) attached->unbound();
    slot.generation.fetch_add(1, std::memory_order_relaxed);
    Lock hold(mutex_);
    free_.push_back(target.handle);
}

} // namespace plexus::request
