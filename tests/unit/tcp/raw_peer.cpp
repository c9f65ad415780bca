// SPDX-License-Identifier: BSD-3-Clause
#include "raw_peer.h"

#include "plexus/module/handshake.h"
#include "stream_link/descriptor.h"

#include <asio/ip/tcp.hpp>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace plexus::testing {
namespace {

stream_link::Descriptor descriptor_of(BareHost& host) {
    const Bytes bytes = host.descriptor();
    return stream_link::Descriptor::decode({bytes.data(), bytes.size()}).value();
}

} // namespace

std::uint16_t port_of(BareHost& host) { return descriptor_of(host).port; }

RawPeer::RawPeer(BareHost& host, std::string_view from) {
    const stream_link::Descriptor there = descriptor_of(host);
    const asio::ip::tcp::endpoint endpoint(there.addresses.at(0), there.port);
    socket_.reset(::socket(endpoint.data()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const asio::ip::tcp::endpoint own(from.empty() ? asio::ip::address() : asio::ip::make_address(from), 0);
    if (!from.empty() && ::bind(socket_.get(), own.data(), static_cast<socklen_t>(own.size())) != 0)
        throw std::runtime_error("a plain socket can't be bound");
    const int room = 1 << 20; // what tests leave unread must not close the window
    (void)::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    if (::connect(socket_.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0)
        throw std::runtime_error("a plain socket can't connect");
}

RawPeer::Said RawPeer::shake_hands(const BareHost& self, BareHost& host) {
    auto shake = module::Handshake::connecting(self.table(), host.id());
    Said said;
    said.hello = shake.take_outgoing();
    send(std::as_bytes(std::span(said.hello)));
    if (shake.feed(read_from(host, shake.wanted_bytes())) != PLEXUS_OK)
        throw std::runtime_error("the handshake went wrong");
    said.confirm = shake.take_outgoing();
    send(std::as_bytes(std::span(said.confirm)));
    return said;
}

void RawPeer::repeat(const Said& said, BareHost& host) {
    send(std::as_bytes(std::span(said.hello)));
    (void)read_from(host, module::Handshake::kAnswerBytes);
    send(std::as_bytes(std::span(said.confirm)));
}

void RawPeer::send(std::span<const std::byte> bytes) {
    if (::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size()))
        throw std::runtime_error("a plain socket can't send");
}

void RawPeer::send_word(std::uint64_t size, std::uint8_t head) {
    std::array<std::byte, 8> word;
    for (std::size_t i = 0; i < 7; ++i) word[i] = static_cast<std::byte>(size >> (8 * i));
    word[7] = static_cast<std::byte>(head);
    send(word);
}

bool RawPeer::closed_by(BareHost& host, std::chrono::nanoseconds limit) {
    return pump({&host}, limit, [&] { return is_closed(); });
}

bool RawPeer::is_closed() const {
    pollfd item{socket_.get(), POLLRDHUP, 0};
    return ::poll(&item, 1, 0) > 0 && (item.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

std::size_t RawPeer::received_bytes() const {
    int bytes = 0;
    return ::ioctl(socket_.get(), FIONREAD, &bytes) == 0 ? static_cast<std::size_t>(bytes) : 0;
}

std::uint32_t RawPeer::received_segments() const {
    // The kernel says more than the C library's structure has.
    static_assert(sizeof(tcp_info) == 104, "another structure: count anew what stands between");
    struct {
        tcp_info known;
        std::uint64_t rates_and_bytes[4];
        std::uint32_t segments_and_times[4];
        std::uint32_t data_segments_in;
    } info{};
    socklen_t size = sizeof info;
    if (::getsockopt(socket_.get(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || info.data_segments_in == 0)
        throw std::runtime_error("a plain socket says nothing of its segments");
    return info.data_segments_in;
}

std::size_t RawPeer::drop_received() {
    std::size_t all = 0;
    for (;;) { // MSG_TRUNC: the kernel drops the bytes without copying them
        const ssize_t got = ::recv(socket_.get(), nullptr, 1024 * 1024, MSG_TRUNC | MSG_DONTWAIT);
        if (got <= 0) return all;
        all += static_cast<std::size_t>(got);
    }
}

std::vector<std::uint8_t> RawPeer::read_from(BareHost& host, std::size_t size) {
    std::vector<std::uint8_t> out(size);
    std::size_t at = 0;
    const bool whole = pump({&host}, 5s, [&] {
        const ssize_t got = ::recv(socket_.get(), out.data() + at, size - at, MSG_DONTWAIT);
        if (got > 0) at += static_cast<std::size_t>(got);
        return at == size;
    });
    if (!whole) throw std::runtime_error("no answer came");
    return out;
}

} // namespace plexus::testing
