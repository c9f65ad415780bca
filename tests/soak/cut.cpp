// SPDX-License-Identifier: BSD-3-Clause
#include "soak/cut.h"

#include <cstdlib>
#include <filesystem>
#include <netinet/in.h>
#include <sys/socket.h>

namespace plexus::soak {
namespace {

std::uint16_t port_of(int fd, int (*name)(int, sockaddr*, socklen_t*)) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    if (name(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
    if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<sockaddr_in&>(address).sin_port);
    if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<sockaddr_in6&>(address).sin6_port);
    return 0;
}

} // namespace

std::uint64_t cut_tcp(const std::set<std::uint16_t>& ports) {
    std::uint64_t count = 0;
    std::error_code gone; // descriptors come and go meanwhile
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", gone)) {
        const int fd = std::atoi(entry.path().filename().c_str());
        const std::uint16_t far =
            port_of(fd, [](int s, sockaddr* a, socklen_t* n) { return ::getpeername(s, a, n); });
        if (far == 0) continue;
        const std::uint16_t near =
            port_of(fd, [](int s, sockaddr* a, socklen_t* n) { return ::getsockname(s, a, n); });
        if ((ports.contains(far) || ports.contains(near)) && ::shutdown(fd, SHUT_RDWR) == 0) ++count;
    }
    return count;
}

} // namespace plexus::soak
