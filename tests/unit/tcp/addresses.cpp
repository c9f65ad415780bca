// SPDX-License-Identifier: BSD-3-Clause
// Ports and addresses: what is said when one can't be had, and which of several is used.
#include "raw_peer.h"
#include "support/catch.h"
#include "support/log_guard.h"
#include "support/process.h"

#include "base/unique_fd.h"
#include "stream_link/addresses.h"
#include "stream_link/descriptor.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace addresses_test {

using namespace plexus::testing;
using plexus::stream_link::Descriptor;

namespace {

Descriptor descriptor_of(BareHost& host) {
    const Bytes bytes = host.descriptor();
    return Descriptor::decode({bytes.data(), bytes.size()}).value();
}

Bytes bytes_of(const Descriptor& descriptor) {
    const auto raw = descriptor.encode();
    const auto bytes = std::as_bytes(std::span(raw));
    return {bytes.begin(), bytes.end()};
}

// A network of this process's own, with loopback, which has `address` (10.77.0.1/24) too.
bool enter_own_network(const char* address) {
    if (::unshare(CLONE_NEWNET) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
    const plexus::UniqueFd control(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq request{};
    std::strcpy(request.ifr_name, "lo");
    request.ifr_flags = IFF_UP;
    if (::ioctl(control.get(), SIOCSIFFLAGS, &request) != 0) return false;
    std::strcpy(request.ifr_name, "lo:1");
    sockaddr_in in{};
    in.sin_family = AF_INET;
    const auto set = [&](unsigned long what, const char* text) {
        if (::inet_pton(AF_INET, text, &in.sin_addr) != 1) return false;
        std::memcpy(&request.ifr_addr, &in, sizeof in);
        return ::ioctl(control.get(), what, &request) == 0;
    };
    return set(SIOCSIFADDR, address) && set(SIOCSIFNETMASK, "255.255.255.0");
}

// How many TCP sockets this process has; -1 if a router would pass on what one of them sends.
int sockets_of_subnet() {
    int count = 0;
    for (int fd = 0; fd < 256; ++fd) {
        int domain = 0;
        int type = 0;
        socklen_t size = sizeof(int);
        if (::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 ||
            ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM ||
            (domain != AF_INET && domain != AF_INET6))
            continue;
        int hops = 0;
        const bool v4 = domain == AF_INET;
        if (::getsockopt(fd, v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_TTL : IPV6_UNICAST_HOPS, &hops, &size) !=
                0 ||
            hops != 1)
            return -1;
        ++count;
    }
    return count;
}

std::string open_error(std::map<std::string, std::string> settings, std::int32_t status = PLEXUS_BAD_CONFIG) {
    try {
        BareHost host(tcp(), with(std::move(settings)));
    } catch (const OpenFailed& failed) { return failed.status == status ? failed.what() : "wrong status"; }
    return "opened";
}

} // namespace

TEST_CASE("a port that is taken is named, with what to do") {
    BareHost first(tcp());
    const std::string port = std::to_string(port_of(first));
    const auto expected = expect_warning("port " + port + " is taken");
    const std::string error = open_error({{"port", port}}, PLEXUS_BUSY);
    CHECK(error.find("Address already in use") != std::string::npos);
    CHECK(error.find("set port to another one") != std::string::npos);
    CHECK(open_error({{"port", port + "-" + port}}, PLEXUS_BUSY).find("is taken") != std::string::npos);
}

TEST_CASE("a port is free for the next context as soon as its context has ended, whatever links it had") {
    std::string port;
    {
        BareHost first(tcp(), with({{"listen", "127.0.0.1"}}));
        port = std::to_string(port_of(first));
        BareHost peer(tcp());
        End* far = nullptr;
        REQUIRE(link_up(peer, first, &far) != nullptr);
        first.disconnect(*far); // who closes first has the remains of the connection
        REQUIRE(pump({&peer, &first}, 10s, [&] { return first.query(PLEXUS_QUERY_LINKS) == 0; }));
    }
    BareHost second(tcp(), with({{"listen", "127.0.0.1"}, {"port", port}}));
    CHECK(std::to_string(port_of(second)) == port);
}

TEST_CASE("each address that is listened on leads to the context") {
    BareHost to(tcp());
    const Descriptor all = descriptor_of(to);
    for (const auto& address : all.addresses) {
        CAPTURE(address.to_string());
        Descriptor one = all;
        one.addresses = {address};
        BareHost from(tcp());
        End* const end = from.connect(bytes_of(one), to.id());
        REQUIRE(end != nullptr);
        REQUIRE(pump({&from, &to}, 10s, [&] { return end->is_open() || end->is_lost(); }));
        CHECK(end->is_open());
    }
}

TEST_CASE("a range of ports is tried until one is free") {
    BareHost first(tcp());
    const unsigned port = port_of(first);
    if (port > 65'000) return;
    BareHost second(tcp(), with({{"port", std::to_string(port) + "-" + std::to_string(port + 200)}}));
    CHECK(port_of(second) > port);
    CHECK(port_of(second) <= port + 200);
    CHECK(link_up(first, second) != nullptr);
}

TEST_CASE("bad values are refused in words that say what would do") {
    const auto expected = expect_warning("");
    CHECK(open_error({{"port", "seven"}}).find("a range such as 7000-7100") != std::string::npos);
    CHECK(open_error({{"port", "7100-7000"}}).find("range") != std::string::npos);
    CHECK(open_error({{"port", "0-7000"}}).find("range") != std::string::npos);
    CHECK(open_error({{"port", "65536"}}).find("range") != std::string::npos);
    CHECK(open_error({{"sndbuf", "lots"}}).find("a size") != std::string::npos);
    CHECK(open_error({{"linger", "-1 s"}}).find("a duration") != std::string::npos);
    CHECK(open_error({{"interface", "nosuch0"}}).find("nosuch0") != std::string::npos);
}

TEST_CASE("a descriptor that is followed by more bytes, or is cut short, is none") {
    BareHost host(tcp());
    Bytes bytes = host.descriptor();
    CHECK(Descriptor::decode({bytes.data(), bytes.size()}));
    CHECK_FALSE(Descriptor::decode({bytes.data(), bytes.size() - 1}));
    bytes.push_back(std::byte{0});
    CHECK_FALSE(Descriptor::decode({bytes.data(), bytes.size()}));
}

TEST_CASE("a descriptor names as many addresses as fit, and none that nobody can be at") {
    BareHost host(tcp());
    Descriptor there = descriptor_of(host);
    const auto after = [&] {
        const Bytes bytes = bytes_of(there);
        return Descriptor::decode({bytes.data(), bytes.size()});
    };
    there.addresses.clear();
    for (std::uint32_t i = 1; i < Descriptor::kMostAddresses + 5; ++i)
        there.addresses.emplace_back(asio::ip::address_v4(0x0a000000 + i));
    const auto named = after();
    REQUIRE(named);
    CHECK(named->addresses.size() == Descriptor::kMostAddresses);
    CHECK(std::equal(named->addresses.begin(), named->addresses.end(), there.addresses.begin()));
    for (const char* nowhere : {"0.0.0.0", "::", "224.0.0.1", "ff02::1"}) {
        CAPTURE(nowhere);
        there.addresses = {asio::ip::make_address(nowhere)};
        CHECK_FALSE(after());
    }
}

TEST_CASE("a peer of this host is looked for at loopback first") {
    BareHost host(tcp());
    Descriptor there = descriptor_of(host);
    there.addresses = {asio::ip::make_address("10.1.2.3"), asio::ip::make_address("127.0.0.1")};
    CHECK(there.reachable_from(there.where).front().is_loopback());
}

TEST_CASE("by default only loopback is listened on, and only here it means anything") {
    BareHost host(tcp());
    Descriptor there = descriptor_of(host);
    for (const auto& address : there.addresses) CHECK(address.is_loopback());
    CHECK(host.applies(bytes_of(there)) == PLEXUS_OK);

    std::string why;
    there.where.network_namespace += 1;
    CHECK(host.applies(bytes_of(there), &why) == PLEXUS_NO_METHOD);
    CHECK(why == "listens on loopback of another network namespace");
    there.where.boot[0] ^= 1;
    CHECK(host.applies(bytes_of(there), &why) == PLEXUS_NO_METHOD);
    CHECK(why == "listens on loopback of another host");
    there.addresses.push_back(asio::ip::make_address("10.1.2.3"));
    CHECK(host.applies(bytes_of(there)) == PLEXUS_OK);
}

TEST_CASE("an address that answers as another context is passed over for the next") {
    BareHost impostor(tcp(), with({{"listen", "127.0.0.1"}}));
    const std::string port = std::to_string(port_of(impostor));
    std::optional<BareHost> right;
    try {
        right.emplace(tcp(), with({{"listen", "::1"}, {"port", port}}));
    } catch (const OpenFailed&) { SKIP_TEST("no IPv6 loopback on this host"); }
    Descriptor both = descriptor_of(*right);
    both.addresses = {asio::ip::make_address("127.0.0.1"), asio::ip::make_address("::1")};

    BareHost from(tcp());
    End* end = from.connect(bytes_of(both), right->id());
    REQUIRE(end != nullptr);
    REQUIRE(pump({&from, &impostor, &*right}, 10s, [&] { return end->is_open() || end->is_lost(); }));
    CHECK(end->is_open());
    CHECK(right->incoming_count() == 1);
    CHECK(impostor.incoming_count() == 0);
}

TEST_CASE("when no address leads to the peer, the reason lists what each of them said") {
    BareHost impostor(tcp(), with({{"listen", "127.0.0.1"}}));
    Descriptor there = descriptor_of(impostor);
    there.addresses.push_back(asio::ip::make_address("127.0.0.2"));
    BareHost from(tcp());
    End* end = from.connect(bytes_of(there), random_id());
    REQUIRE(end != nullptr);
    REQUIRE(pump({&from, &impostor}, 10s, [&] { return end->is_lost(); }));
    CHECK(end->lost_status() == PLEXUS_WRONG_PEER);
    const std::string why = end->lost_why();
    CHECK(why.find("127.0.0.1:" + std::to_string(there.port) + ": another context answered") !=
          std::string::npos);
    CHECK(why.find("127.0.0.2:" + std::to_string(there.port) + ": Connection refused") != std::string::npos);
}

TEST_CASE("addresses in a network of our own come before others, in their order") {
    const auto make = [](const char* text) { return asio::ip::make_address(text); };
    const std::vector<plexus::stream_link::Interface> own{{"eth7", make("10.1.2.3"), 24}};
    const std::vector<asio::ip::address> sorted = plexus::stream_link::nearest_first(
        {make("192.0.2.1"), make("10.1.2.9"), make("10.1.3.1"), make("10.1.2.7"), make("127.0.0.1")}, own);
    CHECK(sorted == std::vector<asio::ip::address>{make("10.1.2.9"), make("10.1.2.7"), make("127.0.0.1"),
                                                   make("192.0.2.1"), make("10.1.3.1")});
}

TEST_CASE("a link is tried at an address of our own network first") {
    Process child([](Channel&) {
        if (!enter_own_network("10.77.0.1")) return 77;
        BareHost target(tcp());
        Descriptor there = descriptor_of(target);
        // Nobody is at either: what each of them says is listed in the order of the attempts.
        there.addresses = {asio::ip::make_address("10.99.0.1"), asio::ip::make_address("10.77.0.5")};
        BareHost from(tcp());
        End* end = from.connect(bytes_of(there), target.id());
        if (end == nullptr || !pump({&from}, 10s, [&] { return end->is_lost(); })) return 1;
        const std::string why = end->lost_why();
        return why.find("10.77.0.5") < why.find("10.99.0.1") && why.find("10.99.0.1") != std::string::npos
                   ? 0
                   : 2;
    });
    const auto code = child.wait(20s);
    if (code == 77) SKIP_TEST("no network namespace can be made here");
    CHECK(code == 0);
}

TEST_CASE("a method within a subnet leads to addresses of this host's networks, and says why to no other") {
    Process child([](Channel&) {
        if (!enter_own_network("10.77.0.1")) return 77;
        const auto within = with({{"within", "subnet"}, {"listen", "all"}});
        BareHost target(tcp(), within);
        BareHost from(tcp(), within);
        if (link_up(from, target) == nullptr) return 1;
        if (sockets_of_subnet() < 4) return 8; // both listen, one dials, one accepts
        Descriptor there = descriptor_of(target);
        there.where.boot[0] ^= 1; // another host, whose loopback is no way
        there.addresses = {asio::ip::make_address("10.99.0.1"), asio::ip::make_address("127.0.0.1")};
        std::string why;
        if (from.applies(bytes_of(there), &why) != PLEXUS_NO_METHOD) return 2;
        if (why != "only within this subnet; the peer has no address in a network of this host") return 3;
        BareHost wide(tcp());
        if (wide.applies(bytes_of(there)) != PLEXUS_OK) return 4;
        there.addresses.push_back(asio::ip::make_address("10.77.0.5"));
        if (from.applies(bytes_of(there)) != PLEXUS_OK) return 5;
        End* const end = from.connect(bytes_of(there), target.id()); // nobody is at either
        if (end == nullptr || !pump({&from}, 10s, [&] { return end->is_lost(); })) return 6;
        const std::string tried = end->lost_why();
        return tried.find("10.77.0.5") != std::string::npos && tried.find("10.99.0.1") == std::string::npos
                   ? 0
                   : 7;
    });
    const auto code = child.wait(20s);
    if (code == 77) SKIP_TEST("no network namespace can be made here");
    CHECK(code == 0);
}

TEST_CASE("a peer that its own host refuses at an address beyond loopback is lost") {
    Process child([](Channel&) {
        if (!enter_own_network("10.77.0.1")) return 77;
        BareHost target(tcp());
        Descriptor there = descriptor_of(target);
        there.addresses = {asio::ip::make_address("10.77.0.1")};
        target.close();
        target.drain();
        target.destroy(); // nobody listens at its port any more
        BareHost from(tcp());
        End* end = from.connect(bytes_of(there), target.id());
        if (end == nullptr || !pump({&from}, 10s, [&] { return end->is_lost(); })) return 1;
        return end->lost_status() == PLEXUS_PEER_LOST ? 0 : 2;
    });
    const auto code = child.wait(20s);
    if (code == 77) SKIP_TEST("no network namespace can be made here");
    CHECK(code == 0);
}

TEST_CASE("a peer of which one address refuses, and another one is silent, need not have ended") {
    BareHost deaf(tcp(), with({{"listen", "127.0.0.1"}})); // nobody accepts
    Descriptor there = descriptor_of(deaf);
    there.addresses.push_back(asio::ip::make_address("127.0.0.2"));
    BareHost from(tcp(), with({{"connect_timeout", "300 ms"}}));
    End* const end = from.connect(bytes_of(there), deaf.id());
    REQUIRE(end != nullptr);
    REQUIRE(pump({&from}, 10s, [&] { return end->is_lost(); }));
    CHECK(end->lost_status() == PLEXUS_LINK_LOST);
}

TEST_CASE("a link-local address, and an interface that is down, are not used") {
    Process child([](Channel&) {
        if (!enter_own_network("169.254.7.7")) return 77;
        const auto has = [](const char* text) {
            const auto all = plexus::stream_link::interfaces();
            return std::any_of(all.begin(), all.end(),
                               [&](const auto& one) { return one.address == asio::ip::make_address(text); });
        };
        if (!has("127.0.0.1")) return 1;
        if (has("169.254.7.7")) return 2;
        const plexus::UniqueFd control(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        ifreq request{};
        std::strcpy(request.ifr_name, "lo");
        if (::ioctl(control.get(), SIOCSIFFLAGS, &request) != 0) return 3;
        return has("127.0.0.1") ? 4 : 0;
    });
    const auto code = child.wait(20s);
    if (code == 77) SKIP_TEST("no network namespace can be made here");
    CHECK(code == 0);
}

TEST_CASE("a host that does not answer for dead_after is gone, and one that answers is not") {
    Process child([](Channel&) {
        if (!enter_own_network("10.77.0.1")) return 77;
        Pair pair(tcp(), with({{"dead_after", "1 s"}}), with({{"dead_after", "0 s"}}));
        const auto message = std::make_shared<const Bytes>(40);
        if (pair.a.send(*pair.to_b, message, 24, 2) != PLEXUS_OK) return 1;
        const auto start = std::chrono::steady_clock::now();
        while (std::chrono::steady_clock::now() < start + 1s)
            pair.a.poll(); // its kernel answers, it does not
        if (pair.to_b->is_lost()) return 2;
        const plexus::UniqueFd control(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        ifreq request{};
        std::strcpy(request.ifr_name, "lo");
        if (::ioctl(control.get(), SIOCSIFFLAGS, &request) != 0) return 3; // as if its host were dead
        if (pair.a.send(*pair.to_b, message, 24, 2) != PLEXUS_OK) return 4;
        if (!pump({&pair.a}, 20s, [&] { return pair.to_b->is_lost(); })) return 5;
        return pair.to_b->lost_why().find("dead_after") != std::string::npos ? 0 : 6;
    });
    const int code = child.code(40s);
    if (code == 77) SKIP_TEST("no network namespace can be made here");
    CHECK(code == 0);
}

TEST_CASE("an address that never answers ends after connect_timeout") {
    BareHost from(tcp(), with({{"connect_timeout", "200 ms"}}));
    // Listens, but nobody accepts: the greeting is never answered.
    BareHost deaf(tcp());
    End* end = from.connect(deaf.descriptor(), deaf.id());
    REQUIRE(end != nullptr);
    REQUIRE(pump({&from}, 5s, [&] { return end->is_lost(); }));
    CHECK(end->lost_status() == PLEXUS_LINK_LOST);
    CHECK(end->lost_why().find("no answer in time") != std::string::npos);
}

TEST_CASE("words of the configuration choose interfaces by name, address and prefix") {
    const plexus::stream_link::Interface one{"eth7", asio::ip::make_address("10.1.2.3"), 24};
    for (const char* word : {"eth7", "10.1.2.3", "10.1.0.0/16", "all"})
        CHECK(plexus::stream_link::matches(one, word));
    for (const char* word : {"eth", "10.1.2.4", "10.2.0.0/16", "loopback", "::/0"})
        CHECK_FALSE(plexus::stream_link::matches(one, word));
    CHECK(plexus::stream_link::neighbours(one, asio::ip::make_address("10.1.2.200")));
    CHECK_FALSE(plexus::stream_link::neighbours(one, asio::ip::make_address("10.1.3.1")));
}

} // namespace addresses_test
