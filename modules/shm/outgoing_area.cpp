// SPDX-License-Identifier: BSD-3-Clause
#include "shm/outgoing_area.h"

#include "plexus/module/abi.h"
#include "shm/socket.h"

#include <cerrno>

namespace plexus::shm {

// The descriptor travels by the socket, before the first record that speaks of the area.
std::int32_t OutgoingArea::make() {
    used_ = true;
    if (parts_.exists()) {
        count(size_);
        return PLEXUS_OK;
    }
    UniqueFd fd;
    SealedMemory memory = SealedMemory::create("plexus area", size_, fd);
    const int fds[] = {fd.get()};
    if (memory && send_packet(socket_, kAreaPacket, fds)) {
        parts_.give(std::move(memory));
        count(size_);
        return PLEXUS_OK;
    }
    return memory && (errno == EPIPE || errno == ECONNRESET) ? PLEXUS_LINK_LOST : PLEXUS_MESSAGE_LOST;
}

void OutgoingArea::discard_if_idle() noexcept {
    if (std::exchange(used_, false)) return; // one more period
    if (parts_.discard()) count(0);
}

void OutgoingArea::count(std::uint64_t bytes) noexcept {
    const std::uint64_t before = in_use_.load(std::memory_order_relaxed);
    if (before == bytes) return;
    in_use_.store(bytes, std::memory_order_relaxed);
    totals_.area_bytes.fetch_add(bytes - before, std::memory_order_relaxed);
}

} // namespace plexus::shm
