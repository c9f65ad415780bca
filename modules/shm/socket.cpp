// SPDX-License-Identifier: BSD-3-Clause
#include "shm/socket.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace plexus::shm {
namespace {

constexpr int kType = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;
constexpr int kBacklog = 1024;
constexpr int kCallTries = 16; // about 20 us

struct Address {
    sockaddr_un un{};
    socklen_t size = 0;
    const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&un); }
};

// A leading zero byte makes the name abstract.
Address address_of(const SocketName& name) noexcept {
    constexpr char kPrefix[] = "plexus-";
    constexpr char kDigits[] = "0123456789abcdef";
    Address address;
    address.un.sun_family = AF_UNIX;
    char* to = std::copy_n(kPrefix, sizeof kPrefix - 1, address.un.sun_path + 1);
    for (const std::uint8_t byte : name) {
        *to++ = kDigits[byte >> 4];
        *to++ = kDigits[byte & 15];
    }
    address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) +
                                          static_cast<std::size_t>(to - address.un.sun_path));
    return address;
}

} // namespace

UniqueFd listen_at(const SocketName& name) noexcept {
    UniqueFd socket(::socket(AF_UNIX, kType, 0));
    const Address address = address_of(name);
    if (!socket || ::bind(socket.get(), address.get(), address.size) != 0 ||
        ::listen(socket.get(), kBacklog) != 0)
        return {};
    return socket;
}

UniqueFd call(const SocketName& name) noexcept {
    UniqueFd socket(::socket(AF_UNIX, kType, 0));
    const Address address = address_of(name);
    // Where others call without pause, a place in the queue is free only now and then.
    for (int tries = 0; socket && tries < kCallTries; ++tries) {
        if (::connect(socket.get(), address.get(), address.size) == 0) return socket;
        if (errno != EAGAIN) break;
    }
    const int reason = errno;
    socket.reset();
    errno = reason;
    return {};
}

UniqueFd accept_from(int listener) noexcept {
    return UniqueFd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

Credentials peer_of(int socket) noexcept {
    ucred who{};
    socklen_t size = sizeof who;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return {};
    return {who.pid, who.uid};
}

bool send_packet(int socket, std::span<const std::uint8_t> bytes, std::span<const int> fds) noexcept {
    alignas(cmsghdr) std::byte room[CMSG_SPACE(kMostFds * sizeof(int))] = {};
    iovec piece{const_cast<std::uint8_t*>(bytes.data()), bytes.size()}; // sendmsg doesn't write to it
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (!fds.empty()) {
        message.msg_control = room;
        message.msg_controllen = CMSG_SPACE(fds.size_bytes());
        cmsghdr* const control = CMSG_FIRSTHDR(&message);
        control->cmsg_level = SOL_SOCKET;
        control->cmsg_type = SCM_RIGHTS;
        control->cmsg_len = CMSG_LEN(fds.size_bytes());
        std::memcpy(CMSG_DATA(control), fds.data(), fds.size_bytes());
    }
    return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(bytes.size());
}

Packet receive_packet(int socket, std::span<std::uint8_t> bytes, bool take_fds, bool keep) noexcept {
    alignas(cmsghdr) std::byte room[CMSG_SPACE(kMostFds * sizeof(int))] = {};
    iovec piece{bytes.data(), bytes.size()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (take_fds) { // without room for them the kernel drops what a stranger attaches
        message.msg_control = room;
        message.msg_controllen = sizeof room;
    }
    Packet packet;
    const ssize_t got = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC | (keep ? MSG_PEEK : 0));
    if (got < 0) {
        packet.is = errno == EAGAIN || errno == EINTR ? Packet::Is::none : Packet::Is::end;
        return packet;
    }
    packet.is = got == 0 ? Packet::Is::end : Packet::Is::here;
    packet.size = (message.msg_flags & MSG_TRUNC) != 0 ? 0 : static_cast<std::size_t>(got);
    packet.fds_missing = take_fds && (message.msg_flags & MSG_CTRUNC) != 0;
    for (cmsghdr* c = CMSG_FIRSTHDR(&message); take_fds && c != nullptr; c = CMSG_NXTHDR(&message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
            UniqueFd owned(fd);
            if (packet.fd_count < kMostFds) packet.fds[packet.fd_count++] = std::move(owned);
        }
    }
    return packet;
}

void hang_up(int socket) noexcept { (void)::shutdown(socket, SHUT_RDWR); }

bool peer_is_there(int socket, int process) noexcept {
    std::array<pollfd, 2> look{pollfd{socket, POLLRDHUP, 0}, pollfd{process, POLLIN, 0}};
    return ::poll(look.data(), look.size(), 0) <= 0; // an interruption says nothing
}

} // namespace plexus::shm
