// SPDX-License-Identifier: BSD-3-Clause
// The module's table, driven directly: what a full socket, a narrower path, a flood of strangers and a forked
// child do to open links.
#include "base/unique_fd.h"
#include "stream_link/descriptor.h"
#include "support/bare_host.h"
#include "support/catch.h"
#include "support/limit.h"
#include "support/process.h"

#include <arpa/inet.h>
#include <asio/ip/address.hpp>
#include <cstring>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <span>
#include <sys/ioctl.h>
#include <sys/socket.h>

extern "C" const plexus_passport plexus_passport;

namespace links_test {

using namespace plexus::testing;

namespace {

Method udp() { return method_of(plexus_passport); }

std::shared_ptr<const Bytes> message(std::size_t size) { return std::make_shared<const Bytes>(size); }

/// Runs `body` in a process of its own. 0: all held.
int alone(int (*body)()) {
    Process child([body](Channel&) { return body(); });
    return child.wait(20s).value_or(-1);
}

/// Somebody with a socket and without a key.
class Stranger {
  public:
    explicit Stranger(const BareHost& victim)
      : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        const Bytes bytes = victim.descriptor();
        const auto there = plexus::stream_link::Descriptor::decode({bytes.data(), bytes.size()});
        REQUIRE(there);
        victim_.sin_family = AF_INET;
        victim_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        victim_.sin_port = htons(there->port);
    }
    void send(std::size_t size) const {
        const Bytes noise(size, std::byte{4});
        CHECK(::sendto(socket_.get(), noise.data(), noise.size(), 0,
                       reinterpret_cast<const sockaddr*>(&victim_),
                       sizeof victim_) == static_cast<ssize_t>(size));
    }

  private:
    plexus::UniqueFd socket_;
    sockaddr_in victim_{};
};

bool set_loopback(int mtu) {
    const plexus::UniqueFd control(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq request{};
    std::strcpy(request.ifr_name, "lo");
    request.ifr_flags = IFF_UP;
    if (::ioctl(control.get(), SIOCSIFFLAGS, &request) != 0) return false;
    request.ifr_mtu = mtu;
    return ::ioctl(control.get(), SIOCSIFMTU, &request) == 0;
}

constexpr int kNoNamespace = 77;

} // namespace

TEST_CASE("links come about and carry messages in a process that has no descriptor left") {
    CHECK(alone([] {
              BareHost from(udp());
              BareHost to(udp());
              const Limit none(RLIMIT_NOFILE, next_descriptor());
              End* const end = link_up(from, to);
              if (end == nullptr) return 1;
              if (from.send(*end, message(1'000), 24, 2) != PLEXUS_OK) return 2;
              return pump({&from, &to}, 20s, [&] { return to.incoming().front()->received() == 1; }) ? 0 : 3;
          }) == 0);
}

TEST_CASE("messages that find the receiver's socket full are counted by the receiver") {
    Pair pair(udp(), {}, with({{"rcvbuf", "16 KiB"}}));
    constexpr std::uint64_t kMany = 1'000;
    for (std::uint64_t i = 0; i < kMany; ++i)
        REQUIRE(pair.a.send(*pair.to_b, message(1'000), 24, 2) == PLEXUS_OK);
    CHECK(pair.b.query(PLEXUS_QUERY_DROPPED) > kMany / 2);
    CHECK(
        pair.pump(10s, [&] { return pair.to_a->received() + pair.b.query(PLEXUS_QUERY_DROPPED) >= kMany; }));
    CHECK(pair.to_a->received() > 0);
    CHECK(pair.a.query(PLEXUS_QUERY_DROPPED) == 0);
}

TEST_CASE("a dial wakes who sleeps, and a sleep ends when its hello is to be sent again") {
    BareHost host(udp());
    BareHost silent(udp()); // nobody polls it
    const auto is_awake = [&] {
        pollfd item{host.wait_fd(), POLLIN, 0};
        return ::poll(&item, 1, 0) == 1;
    };
    constexpr std::uint64_t kLong = 3'600'000'000'000;
    std::uint64_t sleep_ns = kLong;
    REQUIRE(host.arm(&sleep_ns) == PLEXUS_OK);
    CHECK(sleep_ns == kLong); // nothing is due
    CHECK_FALSE(is_awake());
    REQUIRE(host.connect(silent.descriptor(), silent.id()) != nullptr);
    CHECK(is_awake());
    host.poll();
    const std::int32_t armed = host.arm(&sleep_ns);
    CHECK((armed == PLEXUS_AGAIN || sleep_ns < kLong));
}

TEST_CASE("strangers take no more of a poll than its budget, and are counted") {
    Pair pair(udp());
    const Stranger stranger(pair.b);
    constexpr std::uint64_t kMany = 100;
    for (std::uint64_t i = 0; i < kMany; ++i) stranger.send(40);
    REQUIRE(pair.a.send(*pair.to_b, message(100), 24, 2) == PLEXUS_OK);
    for (int polls = 0; polls < 10'000 && pair.to_a->received() == 0; ++polls) CHECK(pair.b.poll(8) <= 8);
    CHECK(pair.to_a->received() == 1);
    CHECK(pair.b.query(PLEXUS_QUERY_REFUSED) == kMany);
}

TEST_CASE("one busy link starves no other link, no connection being made and no time limit") {
    BareHost receiver(udp(), with({{"connect_timeout", "1 s"}, {"rcvbuf", "64 KiB"}}));
    receiver.hooks.message = [](End&, ByteView) {};
    BareHost busy(udp());
    BareHost quiet(udp());
    BareHost late(udp());
    BareHost mute(udp()); // is never polled
    End* quiet_end = nullptr;
    End* const from_busy = link_up(busy, receiver);
    End* const from_quiet = link_up(quiet, receiver, &quiet_end);
    REQUIRE(from_busy != nullptr);
    REQUIRE(from_quiet != nullptr);
    const auto load = message(100);
    // The receiver's socket is never empty: more goes there than one poll takes. The kernel drops what finds
    // it full, so the others send when a poll has made room.
    const auto beside_the_flood = [&](auto&& done) {
        return eventually(15s, [&] {
            receiver.poll();
            late.poll();
            quiet.poll();
            if (done()) return true;
            for (int i = 0; i < 64; ++i) (void)busy.send(*from_busy, load, 24, 2);
            busy.poll();
            return false;
        });
    };
    CHECK(beside_the_flood([&] { return receiver.query(PLEXUS_QUERY_DROPPED) > 0; }));

    constexpr std::uint64_t kMessages = 20;
    std::uint64_t sent = 0;
    CHECK(beside_the_flood([&] {
        if (quiet_end->received() == sent && quiet.send(*from_quiet, load, 24, 2) == PLEXUS_OK) ++sent;
        return quiet_end->received() == kMessages;
    }));

    End* const in = late.connect(receiver.descriptor(), receiver.id());
    End* const out = receiver.connect(late.descriptor(), late.id());
    REQUIRE(in != nullptr);
    REQUIRE(out != nullptr);
    CHECK(beside_the_flood([&] { return in->is_open() && out->is_open(); }));

    End* const unanswered = receiver.connect(mute.descriptor(), mute.id());
    REQUIRE(unanswered != nullptr);
    CHECK(beside_the_flood([&] { return unanswered->is_lost(); }));
    CHECK_FALSE(from_busy->is_lost());
}

TEST_CASE(
    "where no socket of this side reaches any address of a peer, the module does not apply and says why") {
    BareHost host(udp(), with({{"listen", "loopback"}}));
    const Bytes own = host.descriptor();
    auto there = plexus::stream_link::Descriptor::decode({own.data(), own.size()});
    REQUIRE(there);
    there->addresses = {asio::ip::make_address("192.0.2.7"), asio::ip::make_address("2001:db8::7")};
    const auto encoded = there->encode();
    const auto descriptor = std::as_bytes(std::span(encoded));
    const std::string port = std::to_string(there->port);
    std::string why;
    CHECK(host.applies(descriptor, &why) == PLEXUS_NO_METHOD);
    CHECK(why.find("192.0.2.7:" + port + ", [2001:db8::7]:" + port) != std::string::npos);
    CHECK(why.find("listen and interface") != std::string::npos);
    std::int32_t status = PLEXUS_OK;
    CHECK(host.connect(descriptor, random_id(), &status) == nullptr);
    CHECK(status == PLEXUS_LINK_LOST);
    CHECK(host.applies(descriptor.first(5), &why) == PLEXUS_NO_METHOD);
    CHECK(why.find("damaged") != std::string::npos);
}

TEST_CASE("a path that becomes narrower is found out by the first message that no longer fits") {
    const int result = alone([] {
        if (::unshare(CLONE_NEWNET) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return kNoNamespace;
        if (!set_loopback(1'500)) return 1;
        Pair pair(udp(), with({{"listen", "127.0.0.1"}}), with({{"listen", "127.0.0.1"}}));
        const auto most = [&] { return pair.a.query(PLEXUS_QUERY_MAX_MESSAGE, pair.to_b); };
        if (most() != 1'500 - 28 - 33) return 2;
        if (pair.a.send(*pair.to_b, message(1'439), 24, 2) != PLEXUS_OK) return 3;
        if (!set_loopback(1'280)) return 4;
        if (pair.a.send(*pair.to_b, message(1'439), 24, 2) != PLEXUS_TOO_LARGE) return 5;
        if (most() != 1'280 - 28 - 33) return 6;
        if (pair.a.send(*pair.to_b, message(1'219), 24, 2) != PLEXUS_OK) return 7;
        return pair.pump(5s, [&] { return pair.to_a->received() == 2; }) ? 0 : 8;
    });
    if (result == kNoNamespace) SKIP_TEST("this machine lets nobody make a network namespace");
    CHECK(result == 0);
}

TEST_CASE("a forked child that ends its copy of a context does not end its parent's links") {
    CHECK(alone([] {
              Pair pair(udp());
              if (pair.end_in_a_child() != 0) return 1;
              if (pair.a.send(*pair.to_b, message(40), 24, 2) != PLEXUS_OK) return 2;
              if (pair.b.send(*pair.to_a, message(40), 24, 2) != PLEXUS_OK) return 3;
              if (!pair.pump(5s, [&] { return pair.to_a->received() == 1 && pair.to_b->received() == 1; }))
                  return 4;
              return pair.to_a->is_lost() || pair.to_b->is_lost() ? 5 : 0;
          }) == 0);
}

} // namespace links_test
