// SPDX-License-Identifier: BSD-3-Clause
#include "stream_link/addresses.h"

#include "common/system_text.h"

#include <algorithm>
#include <array>
#include <asio/ip/network_v4.hpp>
#include <asio/ip/network_v6.hpp>
#include <cerrno>
#include <cstring>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netinet/in.h>

namespace plexus::stream_link {
namespace {

using asio::ip::address;
using asio::ip::address_v4;
using asio::ip::address_v6;

// The address in a sockaddr of the system's, if it is one that we use.
std::optional<address> address_in(const sockaddr* from) {
    if (from == nullptr) return std::nullopt;
    if (from->sa_family == AF_INET) {
        sockaddr_in in{};
        std::memcpy(&in, from, sizeof in);
        address_v4::bytes_type bytes;
        std::memcpy(bytes.data(), &in.sin_addr, bytes.size());
        return address_v4(bytes);
    }
    if (from->sa_family == AF_INET6) {
        sockaddr_in6 in{};
        std::memcpy(&in, from, sizeof in);
        address_v6::bytes_type bytes;
        std::memcpy(bytes.data(), &in.sin6_addr, bytes.size());
        return address_v6(bytes);
    }
    return std::nullopt;
}

bool usable(const address& a) {
    if (a.is_unspecified() || a.is_multicast()) return false;
    if (a.is_v4()) return (a.to_v4().to_uint() >> 16) != 0xa9fe; // 169.254.0.0/16
    return !a.to_v6().is_link_local() && !a.to_v6().is_v4_mapped();
}

template <class Bytes>
unsigned leading_ones(const Bytes& mask) {
    unsigned bits = 0;
    for (const unsigned char byte : mask)
        for (int bit = 7; bit >= 0; --bit) {
            if (((byte >> bit) & 1) == 0) return bits;
            ++bits;
        }
    return bits;
}

template <class Bytes>
bool share(const Bytes& a, const Bytes& b, unsigned bits) {
    for (unsigned i = 0; i < bits; ++i)
        if (((a[i / 8] ^ b[i / 8]) >> (7 - i % 8) & 1) != 0) return false;
    return true;
}

bool in_network(const address& a, const address& network, unsigned bits) {
    if (a.is_v4() != network.is_v4()) return false;
    if (a.is_v4()) return share(a.to_v4().to_bytes(), network.to_v4().to_bytes(), std::min(bits, 32U));
    return share(a.to_v6().to_bytes(), network.to_v6().to_bytes(), std::min(bits, 128U));
}

} // namespace

std::vector<Interface> interfaces() {
    ifaddrs* list = nullptr;
    if (::getifaddrs(&list) != 0) return {};
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
    std::vector<Interface> found;
    for (const ifaddrs* item = list; item != nullptr; item = item->ifa_next) {
        if ((item->ifa_flags & IFF_UP) == 0) continue;
        const auto own = address_in(item->ifa_addr);
        if (!own || !usable(*own)) continue;
        const auto mask = address_in(item->ifa_netmask);
        unsigned prefix = own->is_v4() ? 32 : 128;
        if (mask && mask->is_v4() == own->is_v4())
            prefix = mask->is_v4() ? leading_ones(mask->to_v4().to_bytes())
                                   : leading_ones(mask->to_v6().to_bytes());
        found.push_back({item->ifa_name, *own, prefix});
    }
    std::stable_partition(found.begin(), found.end(),
                          [](const Interface& one) { return one.address.is_loopback(); });
    return found;
}

bool matches(const Interface& one, std::string_view word) {
    if (word == "all" || word == one.name) return true;
    if (word == "loopback") return one.address.is_loopback();
    const std::string text(word);
    std::error_code no;
    if (const auto a = asio::ip::make_address(text, no); !no) return a == one.address;
    if (const auto net = asio::ip::make_network_v4(text, no); !no)
        return in_network(one.address, net.address(), net.prefix_length());
    if (const auto net = asio::ip::make_network_v6(text, no); !no)
        return in_network(one.address, net.address(), net.prefix_length());
    return false;
}

bool neighbours(const Interface& one, const address& a) { return in_network(a, one.address, one.prefix); }

std::vector<address> nearest_first(std::vector<address> addresses, const std::vector<Interface>& own) {
    std::stable_partition(addresses.begin(), addresses.end(), [&](const address& a) {
        return a.is_loopback() ||
               std::any_of(own.begin(), own.end(), [&](const Interface& one) { return neighbours(one, a); });
    });
    return addresses;
}

std::vector<Interface> chosen(const std::vector<Interface>& all, const Options& options) {
    const auto any = [](const Interface& one, const std::vector<std::string>& words) {
        return std::any_of(words.begin(), words.end(),
                           [&](const std::string& word) { return matches(one, word); });
    };
    std::vector<Interface> taken;
    for (const Interface& one : all)
        if (any(one, options.listen) && (options.interfaces.empty() || any(one, options.interfaces)))
            taken.push_back(one);
    return taken;
}

std::string text_of(const address& a, std::uint16_t port) {
    const std::string text = a.is_v4() ? a.to_string() : "[" + a.to_string() + "]";
    return text + ":" + std::to_string(port);
}

bool is_missing_address(int error) noexcept { return error == EADDRNOTAVAIL || error == EAFNOSUPPORT; }

bool is_missing_port(int error) noexcept { return error == EADDRINUSE || error == EACCES; }

std::string why_not_bound(const std::string& failed, int error, const Options& options) {
    const std::string reason = failed + ": " + module::system_text(error);
    const bool one_port = options.first_port == options.last_port;
    const std::string first = std::to_string(options.first_port);
    const std::string ports =
        one_port ? "port " + first : "any port from " + first + " to " + std::to_string(options.last_port);
    if (error == EADDRINUSE)
        return (one_port ? ports + " is taken (" : "this process can't listen on " + ports + " (") + reason +
               "); set port to another one, to a range, or to 0 for any that is free";
    if (error == EACCES)
        return "this process may not listen on " + ports + " (" + reason +
               "); set port to 1024 or above, or give the program the capability CAP_NET_BIND_SERVICE";
    if (is_missing_address(error))
        return "nothing can be listened on at " + reason +
               "; set listen and interface to addresses that the command \"ip addr\" shows";
    if (module::is_shortage(error))
        return "nothing can be listened on at " + reason +
               "; raise the limit of open files, or see what memory is left";
    return "nothing can be listened on at " + reason;
}

} // namespace plexus::stream_link
