// SPDX-License-Identifier: BSD-3-Clause
// What only the local method promises, beyond what conformance asks of every module.
#include "support/bare_host.h"
#include "support/catch.h"
#include "support/process.h"

#include <cstring>
#include <numeric>
#include <thread>

using namespace plexus::testing;

namespace {

const Method& local() { return find_method("local"); }

std::shared_ptr<const Bytes> numbers(std::size_t size) {
    auto bytes = std::make_shared<Bytes>(size);
    for (std::size_t i = 0; i < size; ++i) (*bytes)[i] = static_cast<std::byte>(i * 7);
    return bytes;
}

} // namespace

TEST_CASE("a context reaches itself") {
    BareHost host(local());
    End* far = nullptr;
    End* near = link_up(host, host, &far);
    REQUIRE(near != nullptr);
    const auto small = numbers(40);
    const auto large = numbers(1'000'000);
    REQUIRE(host.send(*near, small, 24, 2) == PLEXUS_OK);
    REQUIRE(host.send(*near, large, 24, 2) == PLEXUS_POSTED);
    REQUIRE(pump({&host}, 5s, [&] { return near->completed() == 1; }));
    CHECK(far->take() == *small);
    CHECK(far->take() == *large);
}

TEST_CASE("another process is refused with a reason, and so is a forked child") {
    BareHost host(local());
    const Bytes descriptor = host.descriptor();
    CHECK(host.applies(descriptor) == PLEXUS_OK);
    Process child([&](Channel&) {
        BareHost other(local());
        std::string why;
        return other.applies(descriptor, &why) == PLEXUS_NO_METHOD && why == "other process" ? 0 : 1;
    });
    CHECK(child.wait(5000ms) == 0);
}

TEST_CASE("a context that has ended is reported, not waited for") {
    BareHost a(local());
    Bytes descriptor;
    plexus_id id;
    {
        BareHost b(local());
        descriptor = b.descriptor();
        id = b.id();
    }
    End* end = a.connect(descriptor, id);
    REQUIRE(end != nullptr);
    REQUIRE(pump({&a}, 5s, [&] { return end->is_lost(); }));
    CHECK(end->lost_status() == PLEXUS_LINK_LOST);
    CHECK(end->lost_why().find("ended") != std::string::npos);
}

TEST_CASE("a sender that outruns its receiver is stopped, then told to go on") {
    BareOptions small;
    small.settings = {{"queue", "256 KiB"}};
    Pair pair(local(), small, small);
    const auto message = numbers(1024);
    std::uint64_t sent = 0;
    while (pair.a.send(*pair.to_b, message, 24, 2) == PLEXUS_OK) REQUIRE(++sent < 1000);
    CHECK(sent <= 256);
    CHECK(sent >= 200);
    const std::uint64_t told = pair.to_b->writable();
    REQUIRE(pump({&pair.b}, 5s, [&] { return pair.to_a->received() == sent; }));
    REQUIRE(pump({&pair.a}, 5s, [&] { return pair.to_b->writable() > told; }));
    CHECK(pair.a.send(*pair.to_b, message, 24, 2) == PLEXUS_OK);
}

TEST_CASE("a posted send whose sender drains is ended before its pieces go") {
    BareHost b(local());
    auto a = std::make_unique<BareHost>(local());
    End* end = link_up(*a, b);
    REQUIRE(end != nullptr);
    std::int32_t status = PLEXUS_OK;
    a->hooks.sent = [&](End&, std::int32_t how) { status = how; };
    REQUIRE(a->send(*end, numbers(1'000'000), 24, 2) == PLEXUS_POSTED);
    a->close();
    a->drain();
    CHECK(end->completed() == 1);
    CHECK(status == PLEXUS_MESSAGE_LOST);
    a.reset();
    End* far = b.incoming().front();
    REQUIRE(pump({&b}, 5s, [&] { return far->is_lost(); }));
    CHECK(far->received() == 0);
}

TEST_CASE("contexts that end while others send to them are left in order") {
    BareHost hub(local());
    Poller poller(hub);
    for (int round = 0; round < 20; ++round) {
        BareHost peer(local());
        End* end = peer.connect(hub.descriptor(), hub.id());
        REQUIRE(end != nullptr);
        REQUIRE(pump({&peer}, 5s, [&] { return end->is_opened(); }));
        const auto small = numbers(100);
        const auto large = numbers(100'000);
        for (int i = 0; i < 50; ++i) {
            (void)peer.send(*end, i % 5 == 0 ? large : small, 24, 2);
            if (i % 10 == round % 10) peer.poll();
        }
        if (round % 2 == 0) peer.disconnect(*end);
    }
    REQUIRE(eventually(5s, [&] { return hub.query(PLEXUS_QUERY_LINKS) == 0; }));
}
