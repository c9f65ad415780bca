// SPDX-License-Identifier: BSD-3-Clause
#include "proxy.h"

#include <algorithm>
#include <chrono>
#include <netinet/in.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>

namespace plexus::testing {
namespace {

constexpr int kLookMs = 20; // how often the thread looks whether it shall end

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

UniqueFd bound(std::uint16_t& port) {
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
        throw std::runtime_error("no port is free");
    port = ntohs(address.sin_port);
    return socket;
}

bool write_all(int socket, const std::byte* bytes, std::size_t size) {
    while (size > 0) {
        const ssize_t sent = ::send(socket, bytes, size, MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes += sent;
        size -= static_cast<std::size_t>(sent);
    }
    return true;
}

} // namespace

Proxy::Proxy(std::uint16_t to)
  : to_(to)
  , listener_(bound(port_)) {
    if (::listen(listener_.get(), 16) != 0) throw std::runtime_error("no listener");
    thread_ = std::thread([this] { run(); });
}

Proxy::~Proxy() {
    ends_ = true;
    thread_.join();
}

void Proxy::run() {
    while (!ends_) {
        std::vector<pollfd> items{{listener_.get(), POLLIN, 0}};
        for (const Way& way : ways_) {
            items.push_back({way.caller.get(), POLLIN, 0});
            items.push_back({way.called.get(), POLLIN, 0});
        }
        (void)::poll(items.data(), items.size(), kLookMs);
        std::size_t at = 1;
        for (auto way = ways_.begin(); way != ways_.end(); at += 2) {
            const bool goes_on = (items[at].revents == 0 || hand_on(way->caller, way->called, true)) &&
                                 (items[at + 1].revents == 0 || hand_on(way->called, way->caller, false));
            way = goes_on ? std::next(way) : ways_.erase(way);
        }
        if (items[0].revents != 0) accept();
    }
}

void Proxy::accept() {
    Way way{UniqueFd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)),
            UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))};
    const sockaddr_in address = loopback(to_);
    if (::connect(way.called.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return;
    ways_.push_back(std::move(way));
    ++taken_;
}

// False: one end has closed.
bool Proxy::hand_on(const UniqueFd& from, const UniqueFd& to, bool of_caller) {
    std::byte bytes[65536];
    const ssize_t got = ::recv(from.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (got <= 0) return false;
    const auto size = static_cast<std::size_t>(got);
    const Deed deed = of_caller ? deed_.load() : Deed::none;
    if (deed == Deed::alter) bytes[size / 2] ^= std::byte{1};
    const int times = deed == Deed::repeat ? 2 : 1;
    for (int i = 0; i < times; ++i)
        if (!write_all(to.get(), bytes, size)) return false;
    if (deed != Deed::none) deed_ = Deed::none;
    if (const std::size_t rate = rate_; rate > 0)
        std::this_thread::sleep_for(std::chrono::nanoseconds(std::nano::den * size / rate));
    return true;
}

std::uint16_t free_port() {
    std::uint16_t port = 0;
    (void)bound(port);
    return port;
}

// In a descriptor the port stands, low byte first, before the number of addresses, and each of these behind
// its kind.
std::vector<std::byte> redirected(std::vector<std::byte> saved, std::uint16_t from, std::uint16_t to) {
    const auto high = [](std::uint16_t port) { return std::byte(port >> 8); };
    const auto low = [](std::uint16_t port) { return std::byte(port & 0xff); };
    const std::byte named[] = {low(from),      high(from),   std::byte{1}, std::byte{4},
                               std::byte{127}, std::byte{0}, std::byte{0}, std::byte{1}};
    const auto found = std::search(saved.begin(), saved.end(), std::begin(named), std::end(named));
    if (found == saved.end()) throw std::runtime_error("the pointer does not name 127.0.0.1 and that port");
    found[0] = low(to);
    found[1] = high(to);
    return saved;
}

} // namespace plexus::testing
