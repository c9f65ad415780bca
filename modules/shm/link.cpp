// SPDX-License-Identifier: BSD-3-Clause
#include "shm/link.h"

#include "shm/module.h"

namespace plexus::shm {

void Link::attach(std::uint32_t ring_lines, bool connected, pid_t number, bool reads,
                  SpareDescriptor& spare) {
    auto* const directions = segment.at<Direction>(0);
    const std::size_t mine = connected ? 0 : 1;
    const std::size_t theirs = 1 - mine;
    const auto ring = [&](std::size_t index) {
        return segment.at<Line>(kPageBytes + index * ring_lines * kLineBytes);
    };
    out = directions + mine;
    in = directions + theirs;
    sender.attach(*out, ring(mine), ring_lines, bell, socket.get());
    receiver.attach(*in, ring(theirs), ring_lines, bell, {socket.get(), number, process.get()}, spare);
    in->can_fetch.store(reads ? 1 : 0, std::memory_order_relaxed);
    ready.store(true, std::memory_order_release); // [ready]
}

std::int32_t Link::send(const plexus_view* pieces, std::uint32_t count, void* token) {
    bool streaming = false;
    const std::int32_t status = sender.send(pieces, count, token, streaming);
    if (streaming) [[unlikely]]
        owner.order(Order::Do::stream, *this);
    return status;
}

void Link::disconnect() {
    receiver.give_up(gone);
    owner.order(Order::Do::disconnect, *this);
}

std::int32_t Link::set(const char* key, const char* value, plexus_text& why) {
    std::string reason;
    const std::int32_t status = change(sender.limits, owner.options(), key, value, reason);
    if (status != PLEXUS_OK) module::write(why, reason);
    return status;
}

} // namespace plexus::shm
