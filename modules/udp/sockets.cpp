// SPDX-License-Identifier: BSD-3-Clause
#include "udp/sockets.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace plexus::udp {
namespace {

using asio::ip::udp;

constexpr int kPortTries = 16; // where any port will do but all addresses must share it

udp::endpoint bound_to(int socket) {
    udp::endpoint endpoint;
    auto size = static_cast<socklen_t>(endpoint.capacity());
    if (::getsockname(socket, endpoint.data(), &size) == 0) endpoint.resize(size);
    return endpoint;
}

UniqueFd make_socket(bool v4) {
    return UniqueFd(::socket(v4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Errno, or 0 and a bound socket.
int open_at(const udp::endpoint& endpoint, const stream_link::SocketOptions& options, UniqueFd& out) {
    const bool v4 = endpoint.address().is_v4();
    UniqueFd socket = make_socket(v4);
    if (!socket) return errno;
    const int yes = 1;
    if (!v4) (void)::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
    // A packet that is too large for the path is refused here, and not cut in pieces.
    const int whole = v4 ? IP_PMTUDISC_DO : IPV6_PMTUDISC_DO;
    if (::setsockopt(socket.get(), v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_MTU_DISCOVER : IPV6_MTU_DISCOVER,
                     &whole, sizeof whole) != 0)
        return errno;
    const auto set_buffer = [&](int which, std::uint64_t bytes) {
        const int size = static_cast<int>(bytes);
        if (bytes != 0) (void)::setsockopt(socket.get(), SOL_SOCKET, which, &size, sizeof size);
    };
    set_buffer(SO_SNDBUF, options.sndbuf);
    set_buffer(SO_RCVBUF, options.rcvbuf);
    if (::bind(socket.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0) return errno;
    out = std::move(socket);
    return 0;
}

} // namespace

int Sockets::bind_all(const std::vector<stream_link::Interface>& where, std::uint16_t port,
                      const stream_link::SocketOptions& options, std::string& failed) {
    sockets_.clear();
    port_ = port;
    for (const stream_link::Interface& one : where) {
        Socket made{one, {}};
        const int error = open_at({one.address, port_}, options, made.fd);
        if (stream_link::is_missing_address(error)) continue;
        if (error != 0) {
            failed = stream_link::text_of(one.address, port_);
            return error;
        }
        port_ = bound_to(made.fd.get()).port();
        sockets_.push_back(std::move(made));
    }
    if (!sockets_.empty()) return 0;
    failed = "the configured addresses";
    return EADDRNOTAVAIL;
}

int Sockets::bind(const std::vector<stream_link::Interface>& where, const stream_link::Options& options,
                  std::string& why) {
    std::string failed;
    int error = EADDRINUSE;
    for (unsigned port = options.first_port; port <= options.last_port; ++port) {
        const int tries = port == 0 ? kPortTries : 1;
        for (int i = 0; i < tries && stream_link::is_missing_port(error); ++i)
            error = bind_all(where, static_cast<std::uint16_t>(port), options.socket, failed);
        if (!stream_link::is_missing_port(error)) break; // another port would fail as well, or is not needed
    }
    if (error == 0) return 0;
    sockets_.clear();
    why = stream_link::why_not_bound(failed, error, options);
    return error;
}

std::vector<asio::ip::address> Sockets::addresses() const {
    std::vector<asio::ip::address> all;
    for (const Socket& socket : sockets_) all.push_back(socket.at.address);
    return all;
}

std::optional<Path> Sockets::path_to(const udp::endpoint& peer) const {
    const asio::ip::address& address = peer.address();
    std::optional<Path> found;
    for (std::size_t i = 0; i < sockets_.size(); ++i) {
        const stream_link::Interface& at = sockets_[i].at;
        if (at.address.is_v4() != address.is_v4() || at.address.is_loopback() != address.is_loopback())
            continue;
        if (stream_link::neighbours(at, address)) return Path{i, peer};
        if (!found) found = Path{i, peer};
    }
    return found;
}

std::size_t Sockets::mtu_to(const udp::endpoint& peer) noexcept {
    const bool v4 = peer.address().is_v4();
    const UniqueFd asked = make_socket(v4);
    int mtu = 0;
    socklen_t size = sizeof mtu;
    if (!asked || ::connect(asked.get(), peer.data(), static_cast<socklen_t>(peer.size())) != 0 ||
        ::getsockopt(asked.get(), v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_MTU : IPV6_MTU, &mtu, &size) != 0)
        return 0;
    return static_cast<std::size_t>(std::max(mtu, 0));
}

std::uint64_t Sockets::lost() const noexcept {
    std::uint64_t sum = 0;
    for (const Socket& socket : sockets_) {
        std::array<std::uint32_t, SK_MEMINFO_VARS> counts{};
        socklen_t size = sizeof counts; // an older kernel writes fewer
        if (::getsockopt(socket.fd.get(), SOL_SOCKET, SO_MEMINFO, counts.data(), &size) == 0)
            sum += counts[SK_MEMINFO_DROPS];
    }
    return sum;
}

int Sockets::send(const Path& path, std::span<const std::uint8_t> datagram) const noexcept {
    const auto sent = ::sendto(fd(path.socket), datagram.data(), datagram.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                               path.peer.data(), static_cast<socklen_t>(path.peer.size()));
    return sent < 0 ? errno : 0;
}

std::ptrdiff_t Sockets::receive(std::size_t socket, std::span<std::uint8_t> room,
                                udp::endpoint& from) const noexcept {
    auto size = static_cast<socklen_t>(from.capacity());
    const auto got = ::recvfrom(fd(socket), room.data(), room.size(), MSG_DONTWAIT, from.data(), &size);
    if (got >= 0 && size <= from.capacity()) from.resize(size);
    return got;
}

} // namespace plexus::udp
