// SPDX-License-Identifier: BSD-3-Clause
#include "local/inbox.h"

#include <utility>

namespace plexus::local {
namespace {

void free_all(Chunk* chunk) {
    while (chunk != nullptr) delete std::exchange(chunk, chunk->next);
}

} // namespace

Inbox::Inbox()
  : event_(EventFd::create()) {}

Inbox::~Inbox() {
    free_all(first_);
    free_all(spare_);
}

Chunk* Inbox::take() {
    const Lock hold(mutex_);
    // The pushing thread has signalled the descriptor. A forked child has the same descriptor and may have
    // signalled it too.
    if ((state_.exchange(0, std::memory_order_relaxed) & kArmed) != 0) event_.clear();
    last_ = nullptr;
    return std::exchange(first_, nullptr);
}

void Inbox::recycle(Chunk* chunk) {
    const Lock hold(mutex_);
    if (spares_ == kMostSpare) {
        delete chunk;
        return;
    }
    chunk->used = 0;
    chunk->next = std::exchange(spare_, chunk);
    ++spares_;
}

bool Inbox::arm() {
    const Lock hold(mutex_);
    if (first_ != nullptr) return false;
    state_.store(kArmed, std::memory_order_relaxed);
    return true;
}

void Inbox::shut() {
    const Lock hold(mutex_);
    shut_ = true;
}

void Inbox::add_chunk() {
    Chunk* chunk = spare_;
    if (chunk != nullptr) {
        spare_ = std::exchange(chunk->next, nullptr);
        --spares_;
    } else {
        chunk = new Chunk;
    }
    if (last_ == nullptr) {
        first_ = chunk;
    } else {
        last_->next = chunk;
    }
    last_ = chunk;
}

} // namespace plexus::local
