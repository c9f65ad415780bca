// SPDX-License-Identifier: BSD-3-Clause
#include "stream_link/socket.h"

#include "stream_link/addresses.h"

#include <algorithm>
#include <cerrno>
#include <sys/socket.h>

namespace plexus::stream_link {
namespace {

void set(int socket, int level, int name, int value) {
    (void)::setsockopt(socket, level, name, &value, sizeof value);
}

// The kernel asks a silent host after half of the time, then every eighth of it.
void keep_alive(int socket, std::chrono::nanoseconds dead_after) {
    if (dead_after.count() == 0) return;
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(dead_after).count();
    const auto part = [&](long long divisor) {
        return static_cast<int>(std::clamp<long long>(seconds / divisor, 1, 32767));
    };
    set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(socket, IPPROTO_TCP, TCP_KEEPIDLE, part(2));
    set(socket, IPPROTO_TCP, TCP_KEEPINTVL, part(8));
    set(socket, IPPROTO_TCP, TCP_KEEPCNT, 4);
}

} // namespace

std::string peer_text(int socket) {
    asio::ip::tcp::endpoint endpoint;
    auto size = static_cast<socklen_t>(endpoint.capacity());
    if (::getpeername(socket, endpoint.data(), &size) != 0) return "an unknown address";
    endpoint.resize(size);
    return text_of(endpoint);
}

int make_socket(bool v4) {
    return ::socket(v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
}

bool keep_in_subnet(int socket, bool v4) {
    const int hops = 1; // the first router would make it 0
    return ::setsockopt(socket, v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_TTL : IPV6_UNICAST_HOPS, &hops,
                        sizeof hops) == 0;
}

void drop_unread(int socket) {
    constexpr std::size_t kMost = 1024 * 1024; // in one call
    for (int i = 0; i < 16 && ::recv(socket, nullptr, kMost, MSG_TRUNC | MSG_DONTWAIT) > 0; ++i) {}
}

std::optional<tcp_info> tcp_info_of(int socket) {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (socket < 0 || ::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
    return info;
}

void apply(int socket, const SocketOptions& options) {
    if (options.sndbuf != 0) set(socket, SOL_SOCKET, SO_SNDBUF, static_cast<int>(options.sndbuf));
    if (options.rcvbuf != 0) set(socket, SOL_SOCKET, SO_RCVBUF, static_cast<int>(options.rcvbuf));
    set(socket, IPPROTO_TCP, TCP_NODELAY, options.nodelay ? 1 : 0);
    keep_alive(socket, options.dead_after);
}

} // namespace plexus::stream_link
