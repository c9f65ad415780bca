// SPDX-License-Identifier: BSD-3-Clause
#include "message_link/notes.h"

#include <cerrno>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace plexus::message_link {

int Notes::open() {
    wake_fd_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    return wake_fd_ ? 0 : errno;
}

void Notes::ring() {
    if (!std::exchange(armed_, false)) return;
    const std::uint64_t one = 1;
    (void)!::write(wake_fd_.get(), &one, sizeof one);
}

void Notes::leave(const Note& note) {
    const module::Lock hold(mutex_);
    notes_.push_back(note);
    any_.store(true, std::memory_order_relaxed); // [any]
    ring();
}

void Notes::wake() {
    const module::Lock hold(mutex_);
    ring();
}

std::vector<Note> Notes::take() {
    std::vector<Note> out;
    const module::Lock hold(mutex_);
    out.swap(notes_);
    any_.store(false, std::memory_order_relaxed);
    return out;
}

bool Notes::arm() {
    const module::Lock hold(mutex_);
    armed_ = notes_.empty();
    return armed_;
}

void Notes::disarm() {
    std::uint64_t rung = 0;
    (void)!::read(wake_fd_.get(), &rung, sizeof rung);
    const module::Lock hold(mutex_);
    armed_ = false;
}

void Notes::forget(const Link& link) {
    const module::Lock hold(mutex_);
    std::erase_if(notes_, [&](const Note& one) { return one.link == &link; });
}

} // namespace plexus::message_link
