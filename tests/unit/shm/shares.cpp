// SPDX-License-Identifier: BSD-3-Clause
// One busy link takes its share of a poll, no more: other links, callers and timers get theirs.
#include "parts.h"
#include "support/catch.h"

#include <chrono>

namespace shares_test {

using namespace plexus::testing;

namespace {

// A hub and peers that are linked to it; the first `busy` of them always have something in their rings.
struct Crowd {
    Crowd(std::size_t count, BareOptions options)
      : hub(shm(), std::move(options)) {
        for (std::size_t i = 0; i < count; ++i) {
            peers.push_back(std::make_unique<BareHost>(shm()));
            End* far = nullptr;
            ends.push_back(link_up(*peers[i], hub, &far));
            REQUIRE(ends[i] != nullptr);
            fars.push_back(far);
        }
        hub.hooks.message = [](End&, ByteView) {};
    }
    void fill(std::size_t busy) {
        const auto message = numbered(32, 1);
        for (std::size_t i = 0; i < busy; ++i)
            while (peers[i]->send(*ends[i], message, 24, 2) == PLEXUS_OK) {}
    }
    // Polls of the hub until the message of `who` arrives, beside `busy` links that never pause.
    int polls_for(std::size_t who, std::size_t busy) {
        fill(busy);
        const std::uint64_t before = fars[who]->received();
        REQUIRE(peers[who]->send(*ends[who], numbered(32, 2), 24, 2) == PLEXUS_OK);
        for (int polls = 1; polls <= 1'000; ++polls) {
            hub.poll();
            if (fars[who]->received() > before) return polls;
            fill(busy);
        }
        return 1'001;
    }

    BareHost hub;
    std::vector<std::unique_ptr<BareHost>> peers;
    std::vector<End*> ends;
    std::vector<End*> fars;
};

} // namespace

TEST_CASE("a message waits for no more than a round of the other links, however busy they are") {
    constexpr std::size_t kPeers = 6;
    const std::string hot = GENERATE("1", "2", "16");
    CAPTURE(hot);
    Crowd crowd(kPeers, with({{"hot", hot}}));
    int most = 0;
    for (int round = 0; round < 30; ++round) most = std::max(most, crowd.polls_for(kPeers - 1, kPeers - 1));
    CHECK(most <= static_cast<int>(kPeers) + 1);
    for (int round = 0; round < 10; ++round) { // none of the busy ones is left out either
        const std::uint64_t before = crowd.fars[round % (kPeers - 1)]->received();
        for (std::size_t i = 0; i < 2 * kPeers; ++i) {
            crowd.fill(kPeers - 1);
            crowd.hub.poll();
        }
        CHECK(crowd.fars[round % (kPeers - 1)]->received() > before);
    }
}

TEST_CASE("callers are let in beside a link whose messages take their time") {
    Crowd crowd(1, {});
    crowd.hub.hooks.message = [](End&, ByteView) {
        const auto until = std::chrono::steady_clock::now() + 20us;
        while (std::chrono::steady_clock::now() < until) {}
    };
    BareHost other(shm());
    int most = 0;
    for (int round = 0; round < 10; ++round) {
        End* const end = other.connect(crowd.hub.descriptor(), crowd.hub.id());
        REQUIRE(end != nullptr);
        int polls = 0;
        while (!end->is_opened() && polls < 1'000) {
            crowd.fill(1);
            crowd.hub.poll();
            ++polls;
            for (int i = 0; i < 20; ++i) other.poll();
        }
        most = std::max(most, polls);
        other.disconnect(*end);
        for (int i = 0; i < 100; ++i) other.poll();
    }
    CHECK(most <= 40);
}

TEST_CASE("a stream of one link does not stop small messages of another") {
    Crowd crowd(2, with({{"area", "64 KiB"}, {"eager", "4 KiB"}}));
    const auto large = numbered(100'000'000, 1);
    REQUIRE(crowd.peers[0]->send(*crowd.ends[0], large, 24, 2) == PLEXUS_POSTED);
    for (int round = 0; round < 20; ++round) {
        const std::uint64_t before = crowd.fars[1]->received();
        REQUIRE(crowd.peers[1]->send(*crowd.ends[1], numbered(32, 2), 24, 2) == PLEXUS_OK);
        int polls = 0;
        for (; polls < 100 && crowd.fars[1]->received() == before; ++polls) {
            crowd.peers[0]->poll();
            crowd.hub.poll();
        }
        CHECK(polls <= 4);
    }
    CHECK(crowd.ends[0]->completed() == 0); // the stream was under way all the time
}

} // namespace shares_test
