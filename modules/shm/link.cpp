// SPDX-License-Identifier: BSD-3-Clause
#include "shm/link.h"

#include "shm/module.h"

using plexus::shm::Direction;
using plexus::shm::kLineBytes;
using plexus::shm::kPageBytes;
using plexus::shm::Line;

void plexus_link::attach(std::uint32_t ring_lines, bool connected, pid_t process, bool reads) {
    auto* const directions = segment.at<Direction>(0);
    const std::size_t mine = connected ? 0 : 1;
    const std::size_t theirs = 1 - mine;
    const auto ring = [&](std::size_t index) {
        return segment.at<Line>(kPageBytes + index * ring_lines * kLineBytes);
    };
    out = directions + mine;
    in = directions + theirs;
    sender.attach(*out, ring(mine), ring_lines, bell, socket.get());
    receiver.attach(*in, ring(theirs), ring_lines, bell, socket.get(), process);
    in->can_fetch.store(reads ? 1 : 0, std::memory_order_relaxed);
    ready.store(true, std::memory_order_release); // [ready]
}

namespace plexus::shm {

std::int32_t send(plexus_link* link, const plexus_view* pieces, std::uint32_t count, void* token) {
    bool streaming = false;
    const std::int32_t status = link->sender.send(pieces, count, token, streaming);
    if (streaming) [[unlikely]]
        link->module.order(Order::Do::stream, *link);
    return status;
}

void disconnect(plexus_link* link) {
    link->gone.store(true, std::memory_order_relaxed);
    link->module.order(Order::Do::disconnect, *link);
}

std::int32_t connect(plexus_module* module, plexus_view descriptor, const plexus_id* peer, void* cookie,
                     plexus_link** link) {
    return module->connect(descriptor, *peer, cookie, *link);
}

std::int32_t set(plexus_link* link, const char* key, const char* value, plexus_text* why) {
    std::string reason;
    const std::int32_t status = change(link->sender.limits, link->module.options(), key, value, reason);
    if (status != PLEXUS_OK) module::write(*why, reason);
    return status;
}

} // namespace plexus::shm
