// SPDX-License-Identifier: BSD-3-Clause
#include "message_link/notes.h"

#include <cerrno>
#include <utility>

namespace plexus::message_link {

int Notes::open() { return wake_.open() ? 0 : errno; }

void Notes::ring() {
    if (std::exchange(armed_, false)) wake_.wake();
}

void Notes::leave(const Note& note) {
    const Lock hold(mutex_);
    notes_.push_back(note);
    any_.store(true, std::memory_order_relaxed); // [any]
    ring();
}

void Notes::wake() {
    const Lock hold(mutex_);
    ring();
}

std::vector<Note> Notes::take() {
    std::vector<Note> out;
    const Lock hold(mutex_);
    out.swap(notes_);
    any_.store(false, std::memory_order_relaxed);
    return out;
}

bool Notes::arm() {
    const Lock hold(mutex_);
    armed_ = notes_.empty();
    return armed_;
}

void Notes::disarm() {
    wake_.clear();
    const Lock hold(mutex_);
    armed_ = false;
}

void Notes::forget(const Link& link) {
    const Lock hold(mutex_);
    std::erase_if(notes_, [&](const Note& one) { return one.link == &link; });
}

} // namespace plexus::message_link
