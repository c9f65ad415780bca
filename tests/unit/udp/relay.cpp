// SPDX-License-Identifier: BSD-3-Clause
#include "relay.h"

#include "stream_link/descriptor.h"

#include <arpa/inet.h>
#include <cstring>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>

namespace plexus::testing::udp {
namespace {

constexpr std::size_t kMostSeen = 10'000;

sockaddr* plain(sockaddr_in& address) { return reinterpret_cast<sockaddr*>(&address); }

} // namespace

Relay::Relay(std::uint16_t to)
  : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof own;
    target_ = own;
    target_.sin_port = htons(to);
    if (!socket_ || ::bind(socket_.get(), plain(own), sizeof own) != 0 ||
        ::getsockname(socket_.get(), plain(own), &size) != 0)
        throw std::runtime_error("no socket for the relay");
    port_ = ntohs(own.sin_port);
    thread_ = std::thread([this] { run(); });
}

Relay::~Relay() {
    over_.store(true);
    thread_.join();
}

void Relay::set(std::function<std::vector<Datagram>(const Datagram&, bool)> rule) {
    const std::lock_guard hold(mutex_);
    rule_ = std::move(rule);
}

void Relay::inject(const Datagram& datagram, bool there) {
    const std::lock_guard hold(mutex_);
    forward(datagram, there);
}

std::vector<Datagram> Relay::seen(bool there) const {
    const std::lock_guard hold(mutex_);
    return seen_[there ? 1 : 0];
}

void Relay::forward(const Datagram& datagram, bool there) {
    sockaddr_in to = there ? target_ : first_;
    (void)::sendto(socket_.get(), datagram.data(), datagram.size(), MSG_NOSIGNAL, plain(to), sizeof to);
}

void Relay::run() {
    Datagram room(65536);
    while (!over_.load()) {
        pollfd item{socket_.get(), POLLIN, 0};
        if (::poll(&item, 1, 20) <= 0) continue;
        sockaddr_in from{};
        socklen_t size = sizeof from;
        const auto got = ::recvfrom(socket_.get(), room.data(), room.size(), 0, plain(from), &size);
        if (got < 0) continue;
        const Datagram datagram(room.begin(), room.begin() + got);
        const std::lock_guard hold(mutex_);
        const bool there = from.sin_port != target_.sin_port;
        if (there) first_ = from;
        auto& seen = seen_[there ? 1 : 0];
        if (seen.size() < kMostSeen) seen.push_back(datagram);
        if (!rule_) {
            forward(datagram, there);
            continue;
        }
        for (const Datagram& each : rule_(datagram, there)) forward(each, there);
    }
}

std::uint16_t port_in(const std::vector<std::byte>& descriptor) {
    const auto read = stream_link::Descriptor::decode({descriptor.data(), descriptor.size()});
    if (!read) throw std::runtime_error("no descriptor of udp");
    return read->port;
}

std::vector<std::byte> with_port(const std::vector<std::byte>& descriptor, std::uint16_t port) {
    auto read = stream_link::Descriptor::decode({descriptor.data(), descriptor.size()});
    if (!read) throw std::runtime_error("no descriptor of udp");
    read->port = port;
    std::erase_if(read->addresses, [](const auto& address) { return !address.is_v4(); });
    const auto bytes = read->encode();
    std::vector<std::byte> out(bytes.size());
    std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
}

} // namespace plexus::testing::udp
