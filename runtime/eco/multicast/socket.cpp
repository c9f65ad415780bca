// SPDX-License-Identifier: BSD-3-Clause
#include "multicast/socket.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <ifaddrs.h>
#include <iterator>
#include <linux/filter.h>
#include <memory>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <system_error>

namespace plexus::eco::multicast {
namespace {

constexpr std::uint32_t kHeadersBelow = 20 + 8;   // of IP and UDP
constexpr std::uint32_t kMostPayload = 32u << 10; // larger datagrams cost no less for each byte
constexpr std::uint32_t kLeastPayload = 400;
constexpr int kReceiveBuffer = 2 << 20;
constexpr std::uint32_t kBookkeeping = 1024; // of the kernel for each datagram, against its receive buffer

sockaddr_in to_socket_address(std::uint32_t address, std::uint32_t port) noexcept {
    sockaddr_in out{};
    out.sin_family = AF_INET;
    out.sin_addr.s_addr = htonl(address);
    out.sin_port = htons(static_cast<std::uint16_t>(port));
    return out;
}

std::uint32_t mtu_of(const char* name) noexcept {
    const UniqueFd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq request{};
    std::strncpy(request.ifr_name, name, sizeof request.ifr_name - 1);
    if (!any || ::ioctl(any.get(), SIOCGIFMTU, &request) != 0 || request.ifr_mtu <= 0) return 0;
    return static_cast<std::uint32_t>(request.ifr_mtu);
}

template <class Value>
bool set(int fd, int level, int name, const Value& value) noexcept {
    return ::setsockopt(fd, level, name, &value, sizeof value) == 0;
}

} // namespace

std::optional<Interface> find_interface(std::uint32_t address) {
    ifaddrs* all = nullptr;
    if (::getifaddrs(&all) != 0) return std::nullopt;
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owned(all, &::freeifaddrs);
    for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
        if (each->ifa_addr == nullptr || each->ifa_netmask == nullptr ||
            each->ifa_addr->sa_family != AF_INET || (each->ifa_flags & IFF_UP) == 0)
            continue;
        sockaddr_in own{};
        sockaddr_in mask{};
        std::memcpy(&own, each->ifa_addr, sizeof own);
        std::memcpy(&mask, each->ifa_netmask, sizeof mask);
        const Interface found{ntohl(own.sin_addr.s_addr), ntohl(mask.sin_addr.s_addr),
                              mtu_of(each->ifa_name)};
        const bool fits = address != 0 ? found.address == address
                                       : !found.is_loopback() && (each->ifa_flags & IFF_MULTICAST) != 0;
        if (fits) return found;
    }
    return std::nullopt;
}

std::optional<std::uint32_t> parse_address(std::string_view text) {
    in_addr out{};
    if (::inet_pton(AF_INET, std::string(text).c_str(), &out) != 1) return std::nullopt;
    return ntohl(out.s_addr);
}

std::string to_string(std::uint32_t address) {
    const in_addr from{htonl(address)};
    char text[INET_ADDRSTRLEN] = {};
    return ::inet_ntop(AF_INET, &from, text, sizeof text) != nullptr ? text : "";
}

Place place_of(const Key& key) {
    constexpr std::uint32_t kScope = 239u << 24 | 255u << 16;
    constexpr std::uint32_t kFirstPort = 49152; // of those for private use
    // The key itself stays secret: others see the place.
    const crypto::Digest seen = crypto::sha256(key);
    const std::uint32_t host = seen[0] | std::uint32_t{seen[1]} << 8;
    const std::uint32_t port = seen[2] | std::uint32_t{seen[3]} << 8;
    return {kScope | host, kFirstPort + port % (65536 - kFirstPort)};
}

std::string to_string(const Place& place) {
    return to_string(place.address) + " port " + std::to_string(place.port);
}

std::uint32_t payload_bytes(const Interface& at) noexcept {
    constexpr auto kBeside = kHeadersBelow + static_cast<std::uint32_t>(kOverhead);
    return std::clamp(at.mtu, kBeside + kLeastPayload, kBeside + kMostPayload) - kBeside;
}

std::optional<Socket> Socket::open(const Place& place, const Interface& at, std::string& why) {
    const auto refused = [&](const char* what, const char* advice) {
        const std::string said = std::error_code(errno, std::generic_category()).message();
        why = std::string(what) + " (" + said + "). " + advice;
        return std::nullopt;
    };
    constexpr const char* kOtherPort = "Make another group: it has another port";
    constexpr const char* kOtherInterface =
        "Set eco.multicast_interface to the address of an interface that does multicast";
    UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) return refused("the system gives no socket", "Raise the limit of open files");
    const int yes = 1;
    const int no = 0;
    const int one_network = 1;
    const in_addr interface { htonl(at.address) };
    // Members on one host have the same place.
    if (!set(fd.get(), SOL_SOCKET, SO_REUSEADDR, yes)) return refused("the port can't be shared", kOtherPort);
    (void)set(fd.get(), SOL_SOCKET, SO_RCVBUF, kReceiveBuffer); // what it is in the end, room_for() asks
    const sockaddr_in bound = to_socket_address(place.address, place.port);
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&bound), sizeof bound) != 0)
        return refused("the port can't be bound", kOtherPort);
    ip_mreqn join{};
    join.imr_multiaddr = bound.sin_addr;
    join.imr_address = interface;
    if (!set(fd.get(), IPPROTO_IP, IP_ADD_MEMBERSHIP, join))
        return refused("the interface can't join", kOtherInterface);
    if (!set(fd.get(), IPPROTO_IP, IP_MULTICAST_ALL, no) ||
        !set(fd.get(), IPPROTO_IP, IP_MULTICAST_IF, interface) ||
        !set(fd.get(), IPPROTO_IP, IP_MULTICAST_TTL, one_network) ||
        !set(fd.get(), IPPROTO_IP, IP_MULTICAST_LOOP, yes))
        return refused("the interface can't send", kOtherInterface);
    return Socket(std::move(fd), place);
}

// A program of the classic BPF: it sees a datagram from its UDP header on. A load beyond the end drops it.
bool Socket::keep_out(std::uint64_t group, std::uint32_t own) noexcept {
    constexpr std::uint32_t kData = sizeof(udphdr);
    constexpr std::uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS;
    constexpr std::uint16_t kIfEqual = BPF_JMP | BPF_JEQ | BPF_K;
    constexpr std::uint16_t kReturn = BPF_RET | BPF_K;
    constexpr std::uint32_t kWhole = UINT32_MAX;
    const auto high = static_cast<std::uint32_t>(group >> 32);
    const auto low = static_cast<std::uint32_t>(group);
    sock_filter steps[] = {
        BPF_STMT(kLoad, kData + kGroupAt),     // 0
        BPF_JUMP(kIfEqual, high, 0, 6),        // 1: another group: to 8
        BPF_STMT(kLoad, kData + kGroupAt + 4), // 2
        BPF_JUMP(kIfEqual, low, 0, 4),         // 3: another group: to 8
        BPF_STMT(kLoad, kData + kSenderAt),    // 4
        BPF_JUMP(kIfEqual, own, 0, 3),         // 5: another member: to 9
        BPF_STMT(kLoad, kData + kCountAt),     // 6
        BPF_JUMP(kIfEqual, 0, 1, 0),           // 7: a probe: to 9
        BPF_STMT(kReturn, 0),                  // 8
        BPF_STMT(kReturn, kWhole),             // 9
    };
    const sock_fprog program{std::size(steps), steps};
    return set(fd_.get(), SOL_SOCKET, SO_ATTACH_FILTER, program);
}

std::uint32_t Socket::room_for(std::size_t datagram_bytes) const noexcept {
    int bytes = 0;
    socklen_t size = sizeof bytes;
    if (::getsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &bytes, &size) != 0 || bytes <= 0) return 1;
    // The kernel counts up to twice a datagram's bytes.
    const std::size_t counted = 2 * datagram_bytes + kBookkeeping;
    return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(static_cast<std::size_t>(bytes) / counted));
}

bool Socket::send(Bytes datagram) const noexcept {
    const sockaddr_in to = to_socket_address(place_.address, place_.port);
    return ::sendto(fd_.get(), datagram.data(), datagram.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                    reinterpret_cast<const sockaddr*>(&to), sizeof to) >= 0;
}

std::optional<Bytes> Socket::receive(std::vector<std::byte>& room) const noexcept {
    const ssize_t got = ::recv(fd_.get(), room.data(), room.size(), MSG_DONTWAIT);
    if (got < 0) return std::nullopt;
    return Bytes(room.data(), static_cast<std::size_t>(got));
}

void Socket::sleep(std::chrono::milliseconds limit) const noexcept {
    pollfd wanted{fd_.get(), POLLIN, 0};
    (void)::poll(&wanted, 1, static_cast<int>(limit.count()));
}

} // namespace plexus::eco::multicast
