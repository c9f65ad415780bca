// SPDX-License-Identifier: BSD-3-Clause
// What the side that connects makes of a connection that is refused: another key, another version, or a
// peer that has no room or is ending, which is worth another attempt.
#include "raw_peer.h"
#include "support/catch.h"

#include "plexus/module/handshake.h"
#include "stream_link/descriptor.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace refusals_test {

using namespace plexus::testing;
using plexus::module::Handshake;

namespace {

/// Somebody who listens on a port of loopback and treats each connection as a test wants.
class RawListener {
  public:
    RawListener()
      : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        auto* const raw = reinterpret_cast<sockaddr*>(&address);
        if (::bind(listener_.get(), raw, size) != 0 || ::listen(listener_.get(), 16) != 0 ||
            ::getsockname(listener_.get(), raw, &size) != 0)
            throw std::runtime_error("a plain socket can't listen");
        port_ = ntohs(address.sin_port);
    }
    /// As if a context like `self` listened here.
    Bytes descriptor(BareHost& self) const {
        const Bytes own = self.descriptor();
        auto there = plexus::stream_link::Descriptor::decode({own.data(), own.size()}).value();
        there.port = port_;
        there.addresses = {asio::ip::make_address("127.0.0.1")};
        const auto raw = there.encode();
        const auto bytes = std::as_bytes(std::span(raw));
        return {bytes.begin(), bytes.end()};
    }
    /// The next connection, while `host` is polled.
    plexus::UniqueFd accept(BareHost& host) const {
        plexus::UniqueFd socket;
        pump({&host}, 5s, [&] {
            socket.reset(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
            return socket.get() >= 0;
        });
        if (socket.get() < 0) throw std::runtime_error("nobody came");
        return socket;
    }

    void close() { listener_.reset(); }
    bool is_waited_at() const {
        pollfd item{listener_.get(), POLLIN, 0};
        return ::poll(&item, 1, 0) > 0;
    }

  private:
    plexus::UniqueFd listener_;
    std::uint16_t port_ = 0;
};

std::vector<std::uint8_t> read_hello(BareHost& host, int socket) {
    std::vector<std::uint8_t> hello(Handshake::kHelloBytes);
    std::size_t at = 0;
    const bool whole = pump({&host}, 5s, [&] {
        const ssize_t got = ::recv(socket, hello.data() + at, hello.size() - at, MSG_DONTWAIT);
        if (got > 0) at += static_cast<std::size_t>(got);
        return at == hello.size();
    });
    if (!whole) throw std::runtime_error("no greeting came");
    return hello;
}

void say(int socket, const std::vector<std::uint8_t>& bytes) {
    if (::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size()))
        throw std::runtime_error("a plain socket can't send");
}

/// Waits until the greeting lies in the socket, and leaves it there.
void await_unread_hello(BareHost& host, int socket) {
    std::array<std::uint8_t, Handshake::kHelloBytes> room;
    if (!pump({&host}, 5s, [&] {
            return ::recv(socket, room.data(), room.size(), MSG_DONTWAIT | MSG_PEEK) ==
                   static_cast<ssize_t>(room.size());
        }))
        throw std::runtime_error("no greeting came");
}

struct Fixture {
    Fixture()
      : end(host.connect(listener.descriptor(self), self.id())) {
        if (end == nullptr) throw std::runtime_error("no attempt");
    }
    bool lost() {
        return pump({&host}, 10s, [&] { return end->is_lost(); });
    }
    BareHost self{tcp()}; // whom the listener passes for
    BareHost host{tcp()};
    RawListener listener;
    End* end;
};

} // namespace

TEST_CASE("a peer that reads the greeting and closes does not hold the key") {
    Fixture f;
    for (int i = 0; i < 2; ++i) { // the second time to tell it from a process that has ended meanwhile
        const plexus::UniqueFd socket = f.listener.accept(f.host);
        (void)read_hello(f.host, socket.get());
    }
    REQUIRE(f.lost());
    CHECK(f.end->lost_status() == PLEXUS_DENIED);
    CHECK(f.end->lost_why().find("key") != std::string::npos);
}

TEST_CASE("a context of another job closes in order, so that who connected learns that its key is another") {
    BareOptions other;
    other.key = {9, 9, 9};
    BareHost from(tcp(), other);
    BareHost to(tcp());
    End* const end = from.connect(to.descriptor(), to.id());
    REQUIRE(end != nullptr);
    REQUIRE(pump({&from, &to}, 10s, [&] { return end->is_lost(); }));
    CHECK(end->lost_status() == PLEXUS_DENIED);
}

TEST_CASE(
    "a peer whose process ends after it has read the greeting is lost, and is not said to lack the key") {
    Fixture f;
    plexus::UniqueFd socket = f.listener.accept(f.host);
    (void)read_hello(f.host, socket.get());
    f.listener.close(); // as the kernel does for a process that is killed
    socket.reset();
    REQUIRE(f.lost());
    CHECK(f.end->lost_status() == PLEXUS_PEER_LOST);
    CHECK(f.end->lost_why().find("key") == std::string::npos);
}

TEST_CASE("a peer that closes without reading the greeting is tried again, and is not said to lack the key") {
    Fixture f;
    int connections = 0;
    const bool over = pump({&f.host}, 10s, [&] {
        if (f.end->is_lost()) return true;
        try {
            plexus::UniqueFd socket = f.listener.accept(f.host);
            await_unread_hello(f.host, socket.get());
            ++connections; // and closes it
        } catch (const std::runtime_error&) {}
        return f.end->is_lost();
    });
    REQUIRE(over);
    CHECK(connections > 1);
    CHECK(f.end->lost_status() == PLEXUS_LINK_LOST);
    CHECK(f.end->lost_why().find("too many connections") != std::string::npos);
    CHECK(f.end->lost_why().find("key") == std::string::npos);
}

TEST_CASE("a peer that closes before the greeting is sent is not said to lack the key") {
    Fixture f;
    f.host.poll(); // the connection is there, and waits for the next turn to greet
    for (int i = 0; i < 3; ++i) {
        plexus::UniqueFd socket = f.listener.accept(f.self);
        socket.reset();
        f.host.poll();
        REQUIRE_FALSE(f.end->is_lost());
        if (i < 2)
            REQUIRE(eventually(5s, [&] {
                f.host.poll();
                return f.listener.is_waited_at();
            }));
    }
    CHECK_FALSE(f.end->is_lost());
}

TEST_CASE("a peer that has no room at first is reached as soon as it has") {
    Fixture f;
    for (int i = 0; i < 2; ++i) {
        plexus::UniqueFd refused = f.listener.accept(f.host);
        await_unread_hello(f.host, refused.get());
    }
    plexus::UniqueFd socket = f.listener.accept(f.host);
    auto shake = Handshake::accepting(f.self.table());
    REQUIRE(shake.feed(read_hello(f.host, socket.get())) == PLEXUS_AGAIN);
    say(socket.get(), shake.take_outgoing());
    CHECK(pump({&f.host}, 5s, [&] { return f.end->is_open(); }));
}

TEST_CASE("an answer of another version is told as such") {
    Fixture f;
    plexus::UniqueFd socket = f.listener.accept(f.host);
    const auto hello = read_hello(f.host, socket.get());
    auto shake = Handshake::accepting(f.self.table());
    REQUIRE(shake.feed(hello) == PLEXUS_AGAIN);
    std::vector<std::uint8_t> answer = shake.take_outgoing();
    answer[0] = 2; // the verdict: another version
    answer[2] = 9; // which
    constexpr std::string_view kPurpose("plexus answer\0", 14);
    std::vector<std::uint8_t> text(kPurpose.begin(), kPurpose.end());
    text.insert(text.end(), hello.begin(), hello.end());
    text.insert(text.end(), answer.begin(), answer.end() - 32);
    const plexus_host& table = f.self.table();
    REQUIRE(table.hmac(table.self, {text.data(), text.size()}, &*(answer.end() - 32)) == PLEXUS_OK);
    say(socket.get(), answer);
    REQUIRE(f.lost());
    CHECK(f.end->lost_status() == PLEXUS_LINK_LOST);
    CHECK(f.end->lost_why().find("another version of the handshake (9, this side 2)") != std::string::npos);
    CHECK(f.end->lost_why().find("key") == std::string::npos);
}

TEST_CASE("a greeting of another version is answered if a holder of the key sent it") {
    BareHost self(tcp());
    BareHost host(tcp());
    auto shake = Handshake::connecting(self.table(), host.id());
    std::vector<std::uint8_t> hello = shake.take_outgoing();
    hello[7] = 9;
    for (const bool proved : {false, true}) {
        if (proved) {
            constexpr std::string_view kPurpose("plexus hello\0", 13);
            std::vector<std::uint8_t> text(kPurpose.begin(), kPurpose.end());
            text.insert(text.end(), hello.begin(), hello.end() - 32);
            const plexus_host& table = self.table();
            REQUIRE(table.hmac(table.self, {text.data(), text.size()}, &*(hello.end() - 32)) == PLEXUS_OK);
        }
        RawPeer raw(host);
        raw.send(std::as_bytes(std::span(hello)));
        REQUIRE(raw.closed_by(host, 5s));
        CHECK(raw.received_bytes() == (proved ? Handshake::kAnswerBytes : 0));
    }
    const auto lines = host.log_lines();
    CHECK(std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
        return line.find("it speaks version 9 of the handshake, this side version 2") != std::string::npos;
    }));
    CHECK(host.incoming_count() == 0);
}

} // namespace refusals_test
