// SPDX-License-Identifier: BSD-3-Clause
// What only the local method promises, beyond what conformance asks of every module.
#include "support/bare_host.h"
#include "support/catch.h"
#include "support/log_guard.h"
#include "support/process.h"
#include "support/sleeper.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <thread>
#include <unistd.h>

namespace local_test {

using namespace plexus::testing;

namespace {

const Method& local() { return find_method("local"); }

std::shared_ptr<const Bytes> numbers(std::size_t size) {
    auto bytes = std::make_shared<Bytes>(size);
    for (std::size_t i = 0; i < size; ++i) (*bytes)[i] = static_cast<std::byte>(i * 7);
    return bytes;
}

/// A host of one link in, whose messages all go to one place that the test looks at.
struct Placing {
    explicit Placing(std::size_t size)
      : room(size) {
        table.size = PLEXUS_HOST_SIZE;
        table.self = this;
        table.id = random_id();
        table.log = [](void*, plexus_level, const char*) {};
        table.setting = [](void*, const char* key, plexus_text* value) {
            const std::string preset = local().preset(key);
            value->size = preset.copy(value->data, value->capacity);
            return std::int32_t{PLEXUS_OK};
        };
        table.accepted = [](void* self, plexus_link* in, const plexus_id*, void** cookie) {
            *cookie = self;
            static_cast<Placing*>(self)->link = in;
            return std::int32_t{PLEXUS_OK};
        };
        table.place = [](void* self, plexus_view, std::size_t, void** where, void**) {
            auto& host = *static_cast<Placing*>(self);
            *where = host.room.data();
            host.placing = true;
            return std::int32_t{PLEXUS_OK};
        };
        table.placed = [](void* self, void*, std::int32_t) { static_cast<Placing*>(self)->placed = true; };
        table.lost = [](void*, std::int32_t, plexus_view) {};
        REQUIRE(ops.open(&table, &module) == PLEXUS_OK);
    }
    ~Placing() {
        ops.close(module);
        ops.drain(module);
        ops.destroy(module);
    }
    Bytes descriptor() {
        Bytes bytes(64);
        plexus_row row{{nullptr, 0, 0}, {reinterpret_cast<char*>(bytes.data()), bytes.size(), 0}};
        plexus_rows rows{&row, 1, 0};
        REQUIRE(ops.describe(module, &rows) == PLEXUS_OK);
        bytes.resize(row.descriptor.size);
        return bytes;
    }
    void poll() { (void)ops.poll(module, 32); }
    void disconnect() { ops.disconnect(link); }

    const plexus_ops& ops = local().ops;
    plexus_host table{};
    plexus_module* module = nullptr;
    plexus_link* link = nullptr;
    Bytes room;
    std::atomic<bool> placing{false};
    std::atomic<bool> placed{false};
};

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
    for (int round = 0; round < 6; ++round) {
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

TEST_CASE(
    "what is sent from inside a callback, of any size, is posted or refused with a call of writable later") {
    BareOptions small;
    small.settings = {{"queue", "128 KiB"}};
    Pair pair(local(), small, small);
    const auto reply_to = [](std::uint64_t n) {
        constexpr std::size_t kSizes[] = {100, 16'000, 20'000, 3'000'000};
        return numbers(kSizes[n % 4]);
    };
    std::deque<std::uint64_t> due;
    std::uint64_t asked = 0;
    const auto flush = [&](End& end) {
        while (!due.empty()) {
            const std::int32_t status = pair.b.send(end, reply_to(due.front()), 24, 2);
            if (status == PLEXUS_AGAIN) return;
            if (status != PLEXUS_OK && status != PLEXUS_POSTED) report_violation("a reply was dropped");
            due.pop_front();
        }
    };
    pair.b.hooks.message = [&](End& end, ByteView) {
        due.push_back(asked++);
        if (due.size() == 1) flush(end); // the others wait for `writable`
    };
    pair.b.hooks.writable = flush;
    constexpr std::uint64_t kRequests = 80;
    const auto request = numbers(32);
    for (std::uint64_t i = 0; i < kRequests; ++i) REQUIRE(pair.a.push(*pair.to_b, request));
    REQUIRE(pair.b.poll(kRequests) > 0); // all requests are there before the first reply is read
    CHECK_FALSE(due.empty());
    REQUIRE(pair.pump(20s, [&] { return pair.to_b->received() == kRequests; }));
    for (std::uint64_t i = 0; i < kRequests; ++i) REQUIRE((pair.to_b->take() == *reply_to(i)));
    CHECK(pair.pump(10s, [&] { return pair.to_a->completed() == pair.to_a->posted(); }));
}

TEST_CASE("messages of several links arrive in the order in which they were sent, however busy one is") {
    BareHost hub(local());
    BareHost busy(local());
    BareHost other(local());
    End* const flood = link_up(busy, hub);
    End* far = nullptr;
    End* const one = link_up(other, hub, &far);
    REQUIRE((flood != nullptr && one != nullptr));
    std::uint64_t from_busy = 0;
    hub.hooks.message = [&](End& end, ByteView) { from_busy += &end == far ? 0 : 1; };
    const auto message = numbers(32);
    for (int round = 0; round < 10; ++round) {
        std::uint64_t ahead = 0;
        while (busy.send(*flood, message, 24, 2) == PLEXUS_OK) ++ahead;
        const std::uint64_t before = far->received();
        from_busy = 0;
        REQUIRE(other.send(*one, message, 24, 2) == PLEXUS_OK);
        int most = 0;
        while (far->received() == before && from_busy < 1'000'000) {
            most = std::max(most, hub.poll(32));
            while (busy.send(*flood, message, 24, 2) == PLEXUS_OK) {} // it never pauses
        }
        CHECK(from_busy <= 32'768); // what its queue held before, no more
        CHECK(most <= 32);
        // A new link comes about beside it, too.
        BareHost third(local());
        End* const fresh = third.connect(hub.descriptor(), hub.id());
        REQUIRE(fresh != nullptr);
        CHECK(eventually(10s, [&] {
            hub.poll(32);
            while (busy.send(*flood, message, 24, 2) == PLEXUS_OK) {}
            third.poll();
            return fresh->is_opened();
        }));
    }
}

TEST_CASE("one poll copies no more than one large message") {
    Pair pair(local());
    const auto large = numbers(2'000'000);
    for (int i = 0; i < 5; ++i) REQUIRE(pair.a.send(*pair.to_b, large, 24, 2) == PLEXUS_POSTED);
    for (std::uint64_t i = 1; i <= 5; ++i) {
        pair.b.poll(32);
        CHECK(pair.to_a->received() == i);
    }
    CHECK(pair.pump(10s, [&] { return pair.to_b->completed() == 5; }));
}

// The place belongs to the host again as soon as disconnect is back, although another thread copies into it.
TEST_CASE("nothing is written to a place after the link was given up") {
    constexpr std::size_t kSize = 32 << 20;
    constexpr std::byte kOurs{7};
    const auto message = std::make_shared<const Bytes>(kSize, std::byte{1});
    int in_time = 0;
    for (int round = 0; round < 6 || (in_time == 0 && round < 200); ++round) {
        Placing receiver(kSize);
        BareHost sender(local());
        End* const end = sender.connect(receiver.descriptor(), receiver.table.id);
        REQUIRE(end != nullptr);
        REQUIRE(pump({&sender}, 10s, [&] {
            receiver.poll();
            return end->is_opened();
        }));
        std::int32_t outcome = PLEXUS_OK;
        sender.hooks.sent = [&](End&, std::int32_t status) { outcome = status; };
        REQUIRE(sender.send(*end, message, 24, 2) == PLEXUS_POSTED);
        std::thread poller([&] { receiver.poll(); });
        while (!receiver.placing) std::this_thread::yield();
        receiver.disconnect();
        std::fill(receiver.room.begin(), receiver.room.end(), kOurs);
        in_time += receiver.placed ? 0 : 1;
        poller.join();
        REQUIRE(std::count(receiver.room.begin(), receiver.room.end(), kOurs) ==
                static_cast<std::ptrdiff_t>(receiver.room.size()));
        REQUIRE(pump({&sender}, 10s, [&] {
            receiver.poll();
            return end->completed() == 1;
        }));
        // Given up between the last byte and the word that it is there: copied, and told to the sender alone.
        CHECK((outcome == PLEXUS_OK || (outcome == PLEXUS_MESSAGE_LOST && !receiver.placed)));
    }
    CHECK(in_time > 0); // the copy was under way
}

TEST_CASE("a forked child that ends its parent's contexts does not disturb them, nor keep them awake") {
    Pair pair(local());
    REQUIRE(pair.a.send(*pair.to_b, numbers(1'000'000), 24, 2) == PLEXUS_POSTED);
    const bool armed = GENERATE(false, true);
    CAPTURE(armed);
    if (armed) {
        REQUIRE(pair.pump(10s, [&] { return pair.to_b->completed() == 1; }));
        std::uint64_t sleep_ns = UINT64_MAX;
        REQUIRE(eventually(5s, [&] {
            pair.a.poll();
            return pair.a.arm(&sleep_ns) == PLEXUS_OK;
        }));
    }
    Process child([&](Channel&) {
        (void)pair.b.send(*pair.to_a, numbers(8), 8, 1); // rings the descriptor that both processes have
        pair.a.close();
        pair.a.drain();
        pair.a.destroy();
        pair.b.close();
        pair.b.drain();
        pair.b.destroy();
        return 0;
    });
    REQUIRE(child.wait(10s) == 0);
    CHECK(pair.a.applies(pair.b.descriptor()) == PLEXUS_OK);
    REQUIRE(pair.a.send(*pair.to_b, numbers(40), 24, 2) == PLEXUS_OK);
    CHECK(pair.pump(10s, [&] { return pair.to_a->received() == 2; }));
    CHECK(pair.pump(10s, [&] { return pair.to_b->completed() == 1; }));
    CHECK_FALSE(pair.to_b->is_lost());
    CHECK(link_up(pair.a, pair.b) != nullptr);
    std::uint64_t sleep_ns = UINT64_MAX;
    REQUIRE(eventually(5s, [&] {
        pair.a.poll();
        return pair.a.arm(&sleep_ns) == PLEXUS_OK;
    }));
    CHECK_FALSE(pair.a.sleep(20ms)); // the child's ring was taken off
}

} // namespace local_test
