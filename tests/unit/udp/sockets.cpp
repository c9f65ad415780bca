// SPDX-License-Identifier: BSD-3-Clause
// Which addresses the sockets of a context are bound to, and what an operator reads where that fails.
#include "udp/sockets.h"

#include "support/catch.h"
#include "support/limit.h"
#include "support/process.h"

#include <asio/ip/address.hpp>
#include <cerrno>
#include <chrono>
#include <string>
#include <unistd.h>
#include <vector>

namespace sockets_test {

using namespace plexus::testing;
using namespace std::chrono_literals;
using plexus::stream_link::Interface;
using plexus::stream_link::Options;
using plexus::udp::Sockets;

namespace {

std::vector<Interface> at(const std::vector<std::string>& addresses) {
    std::vector<Interface> out;
    for (const std::string& each : addresses) out.push_back({"", asio::ip::make_address(each), 24});
    return out;
}

Options with_ports(std::uint16_t first, std::uint16_t last) {
    Options out;
    out.first_port = first;
    out.last_port = last;
    return out;
}

bool says(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

constexpr const char* kLacking = "192.0.2.1"; // no host has it: RFC 5737
constexpr int kEverybodyMay = 77;

/// 0: a process without privileges is told what to do about port 1.
int port_1_without_privileges() {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::setuid(kNobody) != 0) return kEverybodyMay;
    Sockets sockets;
    std::string why;
    const int error = sockets.bind(at({"127.0.0.1"}), with_ports(1, 1), why);
    if (error == 0) return kEverybodyMay;
    if (error != EACCES) return 1;
    return says(why, "may not listen on port 1") && says(why, "set port to 1024 or above") ? 0 : 2;
}

} // namespace

TEST_CASE("an address that the host lacks is left out as long as there is another") {
    Sockets sockets;
    std::string why;
    CHECK(sockets.bind(at({kLacking, "127.0.0.1"}), {}, why) == 0);
    CHECK(sockets.count() == 1);
    CHECK(sockets.addresses() == std::vector<asio::ip::address>{asio::ip::make_address("127.0.0.1")});
    CHECK(sockets.port() != 0);
}

TEST_CASE("where the host lacks all addresses, none is bound") {
    Sockets sockets;
    std::string why;
    CHECK(sockets.bind(at({kLacking}), {}, why) == EADDRNOTAVAIL);
    CHECK(says(why, "nothing can be listened on at the configured addresses"));
    CHECK(says(why, "set listen and interface to addresses that the command \"ip addr\" shows"));
    CHECK(sockets.count() == 0);
}

TEST_CASE(
    "where there is no descriptor for a socket, its operator reads what to raise, and later it is bound") {
    Process child([](Channel&) {
        Sockets sockets;
        std::string why;
        {
            const Limit none(RLIMIT_NOFILE, next_descriptor());
            if (sockets.bind(at({"127.0.0.1"}), {}, why) != EMFILE) return 1;
        }
        if (!says(why, "nothing can be listened on at 127.0.0.1") ||
            !says(why, "raise the limit of open files"))
            return 2;
        return sockets.bind(at({"127.0.0.1"}), {}, why) == 0 && sockets.count() == 1 ? 0 : 3;
    });
    CHECK(child.code(20s) == 0);
}

TEST_CASE("a port that is taken is named, and the next one of a range is used") {
    constexpr std::uint16_t kNext = 200;
    Sockets first;
    std::string why;
    REQUIRE(first.bind(at({"127.0.0.1"}), with_ports(20'000, UINT16_MAX - kNext), why) == 0);
    const std::uint16_t port = first.port();
    Sockets second;
    CHECK(second.bind(at({"127.0.0.1"}), with_ports(port, port), why) == EADDRINUSE);
    CHECK(says(why, "port " + std::to_string(port) + " is taken (127.0.0.1:" + std::to_string(port)));
    CHECK(says(why, "set port to another one"));
    const auto last = static_cast<std::uint16_t>(port + kNext);
    CHECK(second.bind(at({"127.0.0.1"}), with_ports(port, last), why) == 0);
    CHECK(second.port() > port);
}

TEST_CASE("a peer is reached by the socket in whose network it is, or by the first of its kind") {
    Sockets sockets;
    std::string why;
    REQUIRE(sockets.bind(at({"127.0.0.1", "127.0.1.1"}), {}, why) == 0);
    const auto socket_to = [&](const char* peer) {
        const auto path = sockets.path_to({asio::ip::make_address(peer), 7});
        return path ? static_cast<int>(path->socket) : -1;
    };
    CHECK(socket_to("127.0.0.9") == 0);
    CHECK(socket_to("127.0.1.9") == 1);
    CHECK(socket_to("127.0.2.9") == 0);
    CHECK(socket_to("192.0.2.1") == -1); // loopback does not lead there
    CHECK(socket_to("::1") == -1);
}

TEST_CASE("a port that needs a privilege is an error of its own") {
    Process child([](Channel&) { return port_1_without_privileges(); });
    const int result = child.wait(20s).value_or(-1);
    if (result == kEverybodyMay) SKIP_TEST("this machine lets everybody use port 1");
    CHECK(result == 0);
}

} // namespace sockets_test
