// SPDX-License-Identifier: BSD-3-Clause
// What is sent while the messages of one read are handed over leaves together, while that is quick; each
// message once, whole and in order, and none waits for handlers that take long.
#include "common/frames.h"
#include "raw_peer.h"
#include "support/catch.h"
#include "support/eventually.h"

#include <algorithm>
#include <functional>
#include <thread>
#include <utility>

namespace coalescing_test {

using namespace plexus::testing;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kBurst = 16;
constexpr std::size_t kBytes = 40;
constexpr std::size_t kFrame = plexus::module::kFrameWord + kBytes;

/// A host, and a plain peer that says many messages at once.
struct Burst {
    explicit Burst(std::function<void(End&)> handle, BareOptions options = {})
      : host(tcp(), std::move(options)) {
        host.hooks.message = [said = std::move(handle)](End& end, ByteView) { said(end); };
        peer.shake_hands(self, host);
    }
    /// So many messages come with one read, and are handed over.
    void say(std::size_t count = kBurst) {
        std::vector<std::byte> frames(count * kFrame);
        for (std::size_t i = 0; i < count; ++i)
            plexus::module::write_frame_word(frames.data() + i * kFrame, kBytes, 24);
        handled += count;
        peer.send(frames);
    }
    bool turned_until(const std::function<bool()>& holds) {
        return eventually(20s, [&] {
            host.poll();
            return holds();
        });
    }
    BareHost host;
    BareHost self{tcp()};
    RawPeer peer{host};
    std::size_t handled = 0;
};

void answer(BareHost& host, End& end) {
    REQUIRE(host.send(end, std::make_shared<const Bytes>(kBytes), 24, 1) == PLEXUS_OK);
}

/// Bursts of so many messages, each of which is answered. True: before each slow handler all earlier answers
/// had left.
bool none_waits(std::size_t each, int rounds,
                const std::function<bool(int round, std::size_t sent)>& is_slow) {
    BareHost* at = nullptr;
    RawPeer* peer = nullptr;
    std::size_t sent = 0;
    int round = 0;
    bool at_once = true;
    const auto all_left = [&] {
        return eventually(5s, [&] { return peer->received_bytes() == sent * kFrame; });
    };
    Burst burst([&](End& end) {
        if (is_slow(round, sent)) { // its own answer is not there yet
            at_once = at_once && all_left();
            std::this_thread::sleep_for(2ms);
        }
        answer(*at, end);
        ++sent;
    });
    at = &burst.host;
    peer = &burst.peer;
    for (; round < rounds; ++round) {
        burst.say(each);
        REQUIRE(burst.turned_until([&] { return sent == burst.handled; }));
        REQUIRE(all_left());
    }
    return at_once;
}

} // namespace

TEST_CASE("answers to messages that came together leave together, and to one that came alone at once") {
    std::size_t heard = 0;
    BareHost* at = nullptr;
    Burst burst([&](End& end) {
        ++heard;
        answer(*at, end);
    });
    at = &burst.host;
    const auto segments_for = [&](std::size_t count) {
        const std::size_t all = heard + count;
        const std::uint32_t before = burst.peer.received_segments();
        burst.say(count);
        REQUIRE(burst.turned_until([&] { return heard == all; }));
        CHECK(eventually(5s, [&] { return burst.peer.received_bytes() == count * kFrame; }));
        CHECK(burst.peer.drop_received() == count * kFrame);
        return burst.peer.received_segments() - before;
    };
    // The first burst shows that the handler is quick; on a loaded machine a later one does. Under a
    // sanitizer none is.
    CHECK(eventually(20s, [&] { return segments_for(kBurst) == 1 || kSanitized; }));
    CHECK(segments_for(1) == 1);
}

TEST_CASE("a message of another thread, or a large one, leaves at once, and what was coalesced before it") {
    constexpr std::size_t kLarge = 4000; // above Writer::kInlineBytes
    const bool of_other_thread = GENERATE(true, false);
    CAPTURE(of_other_thread);
    BareHost* at = nullptr;
    RawPeer* peer = nullptr;
    std::size_t sent = 0; // bytes that the peer has not dropped
    std::size_t heard = 0;
    bool at_once = true;
    Burst burst([&](End& end) {
        const auto small = std::make_shared<const Bytes>(kBytes);
        at_once = at_once && at->send(end, small, 24, 1) == PLEXUS_OK;
        sent += kFrame;
        if (++heard % kBurst != kBurst / 2) return;
        if (of_other_thread) {
            std::thread([&] { at_once = at->send(end, small, 24, 1) == PLEXUS_OK && at_once; }).join();
            sent += kFrame;
        } else {
            at_once = at_once && at->send(end, std::make_shared<const Bytes>(kLarge), 24, 1) == PLEXUS_OK;
            sent += plexus::module::kFrameWord + kLarge;
        }
        at_once = at_once && eventually(5s, [&] { return peer->received_bytes() == sent; });
    });
    at = &burst.host;
    peer = &burst.peer;
    for (int round = 0; round < 20; ++round) {
        burst.say();
        REQUIRE(burst.turned_until([&] { return heard == burst.handled; }));
        REQUIRE(eventually(5s, [&] { return peer->received_bytes() == sent; }));
        sent -= peer->drop_received();
    }
    CHECK(at_once);
}

TEST_CASE("no more is coalesced than a link may hold, and nothing is lost of what is more") {
    constexpr std::size_t kMany = 2000; // answers to one message: 96,000 bytes
    using Case = std::pair<const char*, std::uint64_t>;
    const Case bounds = GENERATE(Case{"0", 0}, Case{"8 KiB", 8 << 10}, Case{"256 KiB", 64 << 10});
    const std::string queue = bounds.first;
    const std::uint64_t bound = bounds.second;
    CAPTURE(queue);
    BareHost* at = nullptr;
    RawPeer* peer = nullptr;
    std::size_t answers = 1; // to each message
    std::size_t heard = 0;
    std::size_t sent = 0;
    std::size_t dropped = 0; // bytes that the peer has read
    std::uint64_t most = 0;  // bytes that waited
    Burst burst(
        [&](End& end) {
            ++heard;
            for (std::size_t left = std::exchange(answers, 1); left > 0; --left) {
                sent += at->send(end, std::make_shared<const Bytes>(kBytes), 24, 1) == PLEXUS_OK ? 1 : 0;
                most = std::max(most, at->query(PLEXUS_QUERY_QUEUED_BYTES));
                if (left % 50 == 0) dropped += peer->drop_received();
            }
        },
        with({{"queue", queue}, {"sndbuf", "1 MiB"}}));
    at = &burst.host;
    peer = &burst.peer;
    // A burst with quick handlers lets the next one coalesce; on a loaded machine a later one does. Under a
    // sanitizer none is quick.
    CHECK(eventually(20s, [&] {
        for (const std::size_t next : {std::size_t{1}, kMany}) {
            answers = next;
            burst.say();
            if (!burst.turned_until([&] { return heard == burst.handled; })) return false;
        }
        return most > bound || kSanitized;
    }));
    CHECK(most <= bound + kFrame);
    CHECK(eventually(20s, [&] {
        burst.host.poll();
        dropped += peer->drop_received();
        return dropped == sent * kFrame;
    }));
}

TEST_CASE("an answer does not wait for handlers behind its own that take long") {
    // At first they are quick: the first slow one comes while answers are coalesced.
    CHECK(none_waits(8, 20, [](int round, std::size_t) { return round >= 10; }));
}

TEST_CASE("a quick answer does not wait for a handler that takes long each time") {
    CHECK(none_waits(2, 10, [](int, std::size_t sent) { return sent % 2 == 1; })); // the second of each burst
}

TEST_CASE(
    "answers that were coalesced leave also if the host gives up the link, or the peer does, meanwhile") {
    std::size_t heard = 0;
    BareHost* at = nullptr;
    std::size_t last = 0;
    Burst burst([&](End& end) {
        (void)at->send(end, std::make_shared<const Bytes>(kBytes), 24, 1); // the peer may be gone
        if (++heard == last) at->disconnect(end);
    });
    at = &burst.host;
    for (int round = 0; round < 3; ++round) {
        burst.say();
        REQUIRE(burst.turned_until([&] { return heard == burst.handled; }));
    }
    (void)eventually(5s, [&] { return burst.peer.received_bytes() == heard * kFrame; });
    CHECK(burst.peer.drop_received() == heard * kFrame);
    SECTION("the host") {
        last = heard + kBurst;
        burst.say();
        REQUIRE(burst.turned_until([&] { return heard == last; }));
        CHECK(eventually(5s, [&] {
            burst.host.poll();
            return burst.peer.received_bytes() == kBurst * kFrame;
        }));
    }
    SECTION("the peer") {
        burst.say();
        burst.peer.close();
        REQUIRE(burst.turned_until([&] { return heard == burst.handled; }));
    }
    for (int i = 0; i < 10; ++i) burst.host.poll();
}

} // namespace coalescing_test
