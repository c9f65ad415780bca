// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/manager/addresses.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cstddef>
#include <cstring>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netinet/in.h>
#include <optional>
#include <span>

namespace plexus::bootstrap {
namespace {

/// The bytes of an IPv4 or IPv6 address; nothing for other families.
std::optional<std::vector<std::byte>> bytes_of(const sockaddr* address) {
    if (address == nullptr) return {};
    std::vector<std::byte> bytes;
    if (address->sa_family == AF_INET) {
        bytes.resize(sizeof(in_addr));
        std::memcpy(bytes.data(),
                    reinterpret_cast<const std::byte*>(address) + offsetof(sockaddr_in, sin_addr),
                    bytes.size());
    } else if (address->sa_family == AF_INET6) {
        bytes.resize(sizeof(in6_addr));
        std::memcpy(bytes.data(),
                    reinterpret_cast<const std::byte*>(address) + offsetof(sockaddr_in6, sin6_addr),
                    bytes.size());
    } else {
        return {};
    }
    return bytes;
}

/// Calls `look` with each address of an interface that is up, and its network mask.
template <class Look>
void for_each_address(Look look) {
    ifaddrs* list = nullptr;
    if (::getifaddrs(&list) != 0) return;
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
    for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
        const auto address = bytes_of(each->ifa_addr);
        const auto mask = bytes_of(each->ifa_netmask);
        if ((each->ifa_flags & IFF_UP) != 0 && address && mask && mask->size() == address->size())
            look(*each, *address, *mask);
    }
}

std::string text_of(const std::vector<std::byte>& address) {
    char text[INET6_ADDRSTRLEN] = {};
    ::inet_ntop(address.size() == sizeof(in_addr) ? AF_INET : AF_INET6, address.data(), text, sizeof text);
    return text;
}

bool is_link_local(const std::vector<std::byte>& address) {
    if (address.size() == sizeof(in_addr))
        return address[0] == std::byte{169} && address[1] == std::byte{254};
    return address[0] == std::byte{0xfe} && (address[1] & std::byte{0xc0}) == std::byte{0x80};
}

} // namespace

std::vector<std::string> own_addresses() {
    std::vector<std::string> v4;
    std::vector<std::string> v6;
    for_each_address([&](const ifaddrs& interface, const auto& address, const auto&) {
        if ((interface.ifa_flags & IFF_LOOPBACK) != 0 || is_link_local(address)) return;
        (address.size() == sizeof(in_addr) ? v4 : v6).push_back(text_of(address));
    });
    v4.insert(v4.end(), v6.begin(), v6.end());
    return v4;
}

bool is_in_own_subnet(std::string_view host) {
    const std::string text(host);
    std::vector<std::byte> wanted(sizeof(in_addr));
    if (::inet_pton(AF_INET, text.c_str(), wanted.data()) != 1) {
        wanted.resize(sizeof(in6_addr));
        if (::inet_pton(AF_INET6, text.c_str(), wanted.data()) != 1) return false;
    }
    bool found = false;
    for_each_address([&](const ifaddrs&, const auto& address, const auto& mask) {
        if (address.size() != wanted.size()) return;
        bool same = true;
        for (std::size_t i = 0; i < wanted.size(); ++i)
            same = same && (address[i] & mask[i]) == (wanted[i] & mask[i]);
        found = found || same;
    });
    return found;
}

} // namespace plexus::bootstrap
