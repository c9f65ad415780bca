// SPDX-License-Identifier: BSD-3-Clause
#include "shm/link.h"

namespace plexus::shm {

void Link::attach(std::uint32_t ring_lines, bool connected, pid_t number, bool reads,
                  SpareDescriptor& spare) {
    auto* const directions = shared.segment.at<Direction>(0);
    const std::size_t mine = connected ? 0 : 1;
    const std::size_t theirs = 1 - mine;
    const auto ring = [&](std::size_t index) {
        return shared.segment.at<Line>(kPageBytes + index * ring_lines * kLineBytes);
    };
    shared.out = directions + mine;
    shared.in = directions + theirs;
    sender.attach(*shared.out, ring(mine), ring_lines, shared.doorbell, shared.socket.get());
    receiver.attach(*shared.in, ring(theirs), ring_lines, shared.doorbell,
                    {shared.socket.get(), number, shared.process.get()}, spare);
    shared.in->can_fetch.store(reads ? 1 : 0, std::memory_order_relaxed);
    ready.store(true, std::memory_order_release); // [ready]
}

std::int32_t Link::send(const plexus_view* pieces, std::uint32_t count, void* token) {
    bool streaming = false;
    const std::int32_t status = sender.send(pieces, count, token, streaming);
    if (streaming) [[unlikely]]
        orders.put(Order::Do::stream, *this);
    return status;
}

void Link::disconnect() {
    receiver.give_up(gone);
    orders.put(Order::Do::disconnect, *this);
}

std::int32_t Link::set(const char* key, const char* value, plexus_text& why) {
    std::string reason;
    const std::int32_t status = change(sender.limits, options, key, value, reason);
    if (status != PLEXUS_OK) module::write(why, reason);
    return status;
}

} // namespace plexus::shm
