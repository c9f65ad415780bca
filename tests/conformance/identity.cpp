// SPDX-License-Identifier: BSD-3-Clause
// Promise: a link is to the very context that was named, between holders of one key; what
// a descriptor claims is checked, since it came from the wire.
#include "support/address.h"
#include "support/catch.h"
#include "support/log_guard.h"
#include "support/process.h"
#include "support/stream.h"

#include <arpa/inet.h>
#include <cstring>
#include <net/if.h>
#include <sched.h>
#include <set>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace identity_test {

using namespace plexus::testing;

namespace {

// Whether this module reaches another process at all, from its own answer.
bool reaches_processes() {
    Process child([](Channel& channel) {
        BareHost host(method_under_test());
        return channel.put(Address::of(host).pack()) && channel.take(10s) ? 0 : 1;
    });
    const auto record = child.channel().take(10s);
    if (!record) throw std::runtime_error("the child gave no descriptor");
    BareHost here(method_under_test());
    const bool reaches = here.applies(Address::unpack(*record).descriptor) == PLEXUS_OK;
    child.channel().put(*record);
    child.wait(5s);
    return reaches;
}

// A network of this process's own with nothing but loopback, so that a damaged descriptor
// can't make us connect to others.
bool enter_own_network() {
    if (::unshare(CLONE_NEWNET) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
    const int control = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ifreq loopback{};
    std::strcpy(loopback.ifr_name, "lo");
    loopback.ifr_flags = IFF_UP;
    const bool up = ::ioctl(control, SIOCSIFFLAGS, &loopback) == 0;
    ::close(control);
    return up;
}

// Every way to damage `descriptor` by one byte or by its length.
template <class Try>
void for_each_damage(const Bytes& descriptor, Try&& attempt) {
    for (std::size_t size = 0; size < descriptor.size(); ++size)
        attempt(Bytes(descriptor.begin(), descriptor.begin() + static_cast<std::ptrdiff_t>(size)));
    for (std::size_t at = 0; at < descriptor.size(); ++at)
        for (const unsigned bits : {0x01u, 0x80u, 0xffu}) {
            Bytes damaged = descriptor;
            damaged[at] ^= static_cast<std::byte>(bits);
            attempt(damaged);
        }
    Bytes longer = descriptor;
    longer.resize(1024);
    attempt(longer);
    attempt(Bytes(1024, std::byte{0xff}));
    attempt(Bytes(1024));
}

} // namespace

TEST_CASE("a descriptor has at most 1,024 bytes and applies to its own context") {
    BareHost a(method_under_test());
    BareHost b(method_under_test());
    for (const BareHost* host : {&a, &b})
        for (const BareHost::Row& row : host->rows()) {
            CHECK(row.descriptor.size() <= 1024);
            CHECK(row.descriptor.size() > 0);
            CHECK(a.applies(row.descriptor) == PLEXUS_OK);
        }
}

TEST_CASE("a descriptor's label is a word, or empty, and tells it from every other") {
    const BareHost host(method_under_test());
    std::set<std::string> labels;
    for (const BareHost::Row& row : host.rows()) {
        CAPTURE(row.label);
        CHECK(row.label.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos);
        CHECK(labels.insert(row.label).second);
    }
    CHECK((labels.size() == 1 || labels.count("") == 0));
}

TEST_CASE("a link to another context than the one at that address is lost as wrong_peer") {
    BareHost a(method_under_test());
    BareHost b(method_under_test());
    End* end = a.connect(b.descriptor(), random_id());
    REQUIRE(end != nullptr);
    CHECK(pump({&a, &b}, 10s, [&] { return end->is_lost(); }));
    CHECK(end->lost_status() == PLEXUS_WRONG_PEER);
    CHECK_FALSE(end->is_opened());
    CHECK(b.incoming_count() == 0);
}

TEST_CASE("a peer without the job's key gets no link") {
    if (!reaches_processes()) SKIP_TEST("this module reaches only its own process, where there is one key");
    Process stranger([](Channel& channel) {
        const auto record = channel.take(10s);
        if (!record) return 5;
        const Address there = Address::unpack(*record);
        BareOptions options;
        options.key = {9, 9, 9};
        const auto expected = expect_warning("");
        BareHost host(method_under_test(), options);
        End* end = host.connect(there.descriptor, there.id);
        if (end == nullptr) return 1;
        if (!pump({&host}, 20s, [&] { return end->is_lost(); })) return 2;
        if (end->is_opened()) return 3;
        const std::string why = end->lost_why();
        return channel.put(std::as_bytes(std::span(why))) ? 0 : 4;
    });
    BareHost here(method_under_test());
    REQUIRE(stranger.channel().put(Address::of(here).pack()));
    const auto expected = expect_warning("");
    std::optional<int> code;
    CHECK(pump({&here}, 25s, [&] { return (code = stranger.wait(0ms)).has_value(); }));
    CHECK(code == 0);
    CHECK(here.incoming_count() == 0);
}

TEST_CASE("a descriptor that is damaged never crashes `applies`, whose reasons are sentences") {
    BareHost host(method_under_test());
    BareHost other(method_under_test());
    int refused = 0;
    for_each_damage(other.descriptor(), [&](const Bytes& damaged) {
        std::string why;
        if (host.applies(damaged, &why) != PLEXUS_OK) ++refused; // an empty reason is a broken promise
    });
    CHECK(refused > 0);
    CHECK(host.applies(other.descriptor()) == PLEXUS_OK);
}

TEST_CASE("a descriptor that is damaged leads to the named context or to nobody") {
    Process child([](Channel&) {
        if (!enter_own_network()) return 77;
        const auto expected = expect_warning("");
        BareOptions options;
        if (method_under_test().preset("connect_timeout") != nullptr)
            options.settings["connect_timeout"] = "200 ms";
        BareHost target(method_under_test());
        int undecided = 0;
        for_each_damage(target.descriptor(), [&](const Bytes& damaged) {
            BareHost host(method_under_test(), options);
            End* end = host.connect(damaged, target.id());
            if (end == nullptr) return;
            if (!pump({&host, &target}, 5s, [&] { return end->is_lost() || end->is_opened(); })) ++undecided;
        });
        return undecided == 0 ? 0 : 1;
    });
    const auto code = child.wait(120s);
    REQUIRE(code.has_value());
    if (*code == 77)
        SKIP_TEST("no network namespace can be made here, and outside one this could reach strangers");
    CHECK(*code == 0);
}

} // namespace identity_test
