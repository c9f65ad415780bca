// SPDX-License-Identifier: BSD-3-Clause
// What the module says to a configuration that it cannot follow, and how its ends agree.
#include "support/address.h"
#include "support/catch.h"
#include "support/log_guard.h"
#include "support/process.h"
#include "support/stream.h"
#include "unit/libfabric/module.h"

#include "libfabric/descriptor.h"

#include <csignal>

namespace opening_test {

using namespace plexus::testing;

namespace {

// The status, and the sentence.
std::pair<std::int32_t, std::string> refusal(std::map<std::string, std::string> settings) {
    const auto expected = expect_warning("");
    try {
        const BareHost host(libfabric(), on_loopback(std::move(settings)));
    } catch (const OpenFailed& failed) { return {failed.status, failed.what()}; }
    return {PLEXUS_OK, ""};
}

// The labels of its rows.
std::vector<std::string> rows(const BareHost& host) {
    std::vector<std::string> labels;
    for (const BareHost::Row& row : host.rows()) labels.push_back(row.label);
    return labels;
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("a provider that does not exist is bad configuration, and the nearest are named") {
    const auto [status, text] = refusal({{"provider", "tpc"}});
    CHECK(status == PLEXUS_BAD_CONFIG);
    CAPTURE(text);
    CHECK(says(text, "libfabric has no provider \"tpc\"; did you mean tcp?"));
}

TEST_CASE("a provider without a device is no error of the configuration") {
    const auto [status, text] = refusal({{"provider", "bgq"}});
    CHECK(status == PLEXUS_UNSUPPORTED);
    CHECK(says(text, "provider bgq is not usable"));
}

TEST_CASE("a domain that no provider has is named") {
    const auto [status, text] = refusal({{"domain", "nowhere0"}});
    CHECK(status == PLEXUS_UNSUPPORTED);
    CHECK(says(text, "domain named nowhere0"));
}

TEST_CASE("values out of range are refused with the key's name") {
    for (const auto& [key, value] : {std::pair{"eager", "1 KiB"},
                                     {"window", "1"},
                                     {"window", "16385"},
                                     {"buffers", "3"},
                                     {"dead_after", "10 ms"},
                                     {"fetch", "perhaps"}}) {
        CAPTURE(key, value);
        const auto [status, text] = refusal({{key, value}});
        CHECK(status == PLEXUS_BAD_CONFIG);
        CHECK(says(text, key));
    }
}

TEST_CASE("a peer may be waited for without end, and the least values are taken") {
    CHECK(refusal({{"dead_after", "0"}, {"eager", "2 KiB"}, {"window", "2"}, {"buffers", "4"}}).first ==
          PLEXUS_OK);
}

TEST_CASE("an address on loopback is one of its network namespace") {
    const BareHost host(libfabric(), on_loopback({}));
    const auto own = plexus::libfabric::Descriptor::decode(host.descriptor());
    REQUIRE(own);
    CHECK(own->address.reach == plexus::libfabric::Reach::network);
}

TEST_CASE("an address that is longer than those of its provider is not taken") {
    BareHost a(libfabric(), on_loopback({}));
    const BareHost b(libfabric(), on_loopback({}));
    auto there = plexus::libfabric::Descriptor::decode(b.descriptor());
    REQUIRE(there);
    there->address.name.push_back(std::byte{0});
    End* const end = a.connect(there->encode(), b.id());
    REQUIRE(end != nullptr);
    CHECK(pump({&a}, 10s, [&] { return end->is_lost(); }));
    CHECK(says(end->lost_why(), "the provider does not take the peer's address"));
}

TEST_CASE("an address of the memory of a host that means no file there is not taken") {
    const BareOptions over_memory = on_loopback({{"provider", "shm"}, {"domain", ""}});
    BareHost a(libfabric(), over_memory);
    const BareHost b(libfabric(), over_memory);
    auto there = plexus::libfabric::Descriptor::decode(b.descriptor());
    REQUIRE(there);
    for (const std::string_view name :
         {"nothing", "fi_shm://", "fi_shm://../shm/x", "fi_shm://1:2:3", "fi_shm://."}) {
        CAPTURE(name);
        const auto bytes = std::as_bytes(std::span(name));
        there->address.name.assign(bytes.begin(), bytes.end());
        End* const end = a.connect(there->encode(), b.id());
        REQUIRE(end != nullptr);
        CHECK(pump({&a}, 10s, [&] { return end->is_lost(); }));
        CHECK(says(end->lost_why(), "the provider does not take the peer's address"));
    }
}

TEST_CASE("a link that ends leaves another one to the same peer as it was") {
    Pair pair(libfabric(), on_loopback({}), on_loopback({}));
    End* const other = pair.b.connect(pair.a.descriptor(), pair.a.id());
    REQUIRE(other != nullptr);
    REQUIRE(pair.pump(10s, [&] { return other->is_open(); }));
    pair.b.disconnect(*other);
    REQUIRE(pair.pump(10s, [&] { return pair.b.query(PLEXUS_QUERY_LINKS) == 1; }));
    CHECK(carry(pair, mixed(200'000), 50) == "");
}

TEST_CASE("a link that is given up when all of it is out ends before its linger is over") {
    const auto patient = on_loopback({{"linger", "15 s"}});
    Pair pair(libfabric(), patient, patient);
    CHECK(carry(pair, always(6000), 20) == "");
    pair.a.disconnect(*pair.to_b);
    CHECK(pair.pump(10s, [&] { return pair.a.query(PLEXUS_QUERY_LINKS) == 0; }));
}

TEST_CASE("messages go in parts where nothing may be fetched") {
    Pair pair(libfabric(), on_loopback({{"fetch", "false"}}), on_loopback({{"fetch", "false"}}));
    CHECK(carry(pair, mixed(2'000'000), 100) == "");
}

TEST_CASE("one side may fetch and the other not") {
    Pair pair(libfabric(), on_loopback({{"fetch", "false"}}), on_loopback({}));
    CHECK(carry(pair, mixed(500'000), 100) == "");
}

TEST_CASE("a window of two messages is enough") {
    Pair pair(libfabric(), on_loopback({{"window", "2"}, {"buffers", "4"}}),
              on_loopback({{"window", "2"}, {"buffers", "4"}}));
    CHECK(carry(pair, mixed(200'000), 200) == "");
}

TEST_CASE("two sides whose parameter eager differs say so instead of losing messages") {
    BareHost a(libfabric(), on_loopback({{"eager", "8 KiB"}}));
    BareHost b(libfabric(), on_loopback({{"eager", "4 KiB"}}));
    const auto at = b.descriptor();
    End* end = a.connect(at, b.id());
    REQUIRE(end != nullptr);
    REQUIRE(pump({&a, &b}, 10s, [&] { return end->is_lost(); }));
    CHECK(says(end->lost_why(), "eager"));
    CHECK(b.incoming_count() == 0);
}

TEST_CASE("whoever names several providers has a row for each, in that order") {
    const BareHost several(libfabric(), on_loopback({{"provider", "shm, bgq, tcp"}, {"domain", ""}}));
    CHECK(rows(several) == std::vector<std::string>{"shm", "tcp"});
    const BareHost one(libfabric(), on_loopback({}));
    CHECK(rows(one) == std::vector<std::string>{""});
}

TEST_CASE("a provider that is named twice has one row") {
    const BareHost host(libfabric(), on_loopback({{"provider", "tcp, tcp;ofi_rxm"}}));
    CHECK(rows(host) == std::vector<std::string>{"tcp"});
}

TEST_CASE("a process of this host that has ended is not waited for, however long connect_timeout is") {
    const bool reaped = GENERATE(true, false); // else it may still be ending
    CAPTURE(reaped);
    const auto patient = on_loopback({{"connect_timeout", "3600 s"}});
    Process process([&](Channel& channel) {
        BareHost host(libfabric(), patient);
        if (!channel.put(Address::of(host).pack())) return 1;
        for (;;) // the parent ends it
            if (host.poll() == 0) std::this_thread::yield();
    });
    const auto record = process.channel().take(10s);
    REQUIRE(record);
    const Address there = Address::unpack(*record);
    BareHost host(libfabric(), patient);
    process.kill(SIGKILL);
    if (reaped) CHECK(process.wait(10s) == 128 + SIGKILL);
    End* const end = host.connect(there.descriptor, there.id);
    REQUIRE(end != nullptr);
    CHECK(pump({&host}, 20s, [&] { return end->is_lost(); }));
    CHECK(says(end->lost_why(), "the peer's process has ended"));
}

} // namespace opening_test
