// SPDX-License-Identifier: BSD-3-Clause
// The Unix sockets on which peers meet: abstract names (nothing in a file system, gone with
// the process), whole packets, descriptors passed along. Non-blocking throughout. Knows
// nothing of what the packets mean.
#pragma once

#include "base/unique_fd.h"
#include "shm/descriptor.h"

#include <span>
#include <sys/types.h>

namespace plexus::shm {

/// Empty: errno says why.
UniqueFd listen_at(const SocketName& name) noexcept;
/// Empty: errno says why; EAGAIN: the other side has too many callers, try again.
UniqueFd call(const SocketName& name) noexcept;
/// Empty: errno says why; EAGAIN: nobody calls.
UniqueFd accept_from(int listener) noexcept;

struct Credentials {
    pid_t process = 0; ///< 0: in a namespace that we don't see into
    uid_t user = static_cast<uid_t>(-1);
};
Credentials peer_of(int socket) noexcept;

inline constexpr std::size_t kMostFds = 4;

/// All of it or nothing. False: errno says why.
bool send_packet(int socket, std::span<const std::uint8_t> bytes, std::span<const int> fds = {}) noexcept;

/// The packet of an open link that brings the memory of the sender's area.
inline constexpr std::array<std::uint8_t, 4> kAreaPacket{'a', 'r', 'e', 'a'};
/// That which answers Direction::asked: shared memory with the next bytes, or none: there is no memory for
/// them.
inline constexpr std::array<std::uint8_t, 4> kPartPacket{'p', 'a', 'r', 't'};
inline constexpr std::array<std::uint8_t, 4> kLostPacket{'l', 'o', 's', 't'};
inline constexpr std::uint64_t kMostPart = 1 << 20; ///< bytes of it

struct Packet {
    enum class Is : std::uint8_t { here, none, end } is = Is::none;
    std::size_t size = 0;
    std::size_t fd_count = 0;
    bool fds_missing = false; ///< some were passed for which this process has no room
    UniqueFd fds[kMostFds];
};
/// `end`: the other side has closed, or broken. A packet longer than `room` is damaged: its
/// size is given as 0. `keep`: it stays in the queue, its descriptors are copies.
Packet receive_packet(int socket, std::span<std::uint8_t> room, bool take_fds, bool keep = false) noexcept;

/// Tells the other side that this is the end, also where a forked child holds the socket too.
void hang_up(int socket) noexcept;

/// The other side has not closed, nor its process ended. `process`: its pidfd, negative if there is none.
bool peer_is_there(int socket, int process) noexcept;

} // namespace plexus::shm
