// SPDX-License-Identifier: BSD-3-Clause
// The ping-pong that all measurements share, inside one context.
#include "tools/benchmark/ping_pong.h"

#include "support/catch.h"

#include <cstring>
#include <functional>

namespace ping_pong_test {

using namespace plexus;
using namespace plexus::tools::benchmark;

namespace {

inline constexpr Request<void(Player&)> barrier{"test.barrier"};
inline constexpr Request<void(Echo&)> echo_barrier{"test.echo_barrier"};

Context local_context() {
    Options options;
    options.set["methods"] = "local";
    return Context(0, nullptr, options);
}

/// A message whose first bytes are the stamp.
std::vector<std::byte> stamped(std::uint64_t stamp, std::size_t bytes) {
    std::vector<std::byte> message(bytes);
    std::memcpy(message.data(), &stamp, std::min(bytes, sizeof stamp));
    return message;
}

} // namespace

TEST_CASE("a game of ping-pong has as many round trips as were asked for, of any size") {
    Context here = local_context();
    Participant end(here);
    Player player(here);
    player.meet(end.add_echo(), {});
    for (const std::size_t bytes : {0, 3, 8, 64, 4096}) {
        player.size(bytes);
        CHECK(player.play(end, 7) > 0);
        CHECK(player.trips() == 7);
        CHECK(player.resting());
    }
    player.size(kLarge, true);
    std::vector<float> samples;
    player.serve(5, samples);
    player.play(end);
    CHECK(player.trips() == 5);
    CHECK(samples.size() == 5);
}

TEST_CASE("an answer to another game does not count") {
    Context here = local_context();
    Participant end(here);
    here.on(barrier, [](Player&) {});
    here.on(echo_barrier, [](Echo&) {});
    const GlobalPointer<Echo> echo = end.add_echo();
    Player other(here);
    other.meet(echo, {}); // the echo answers `other`, which has no game under way
    Player player(here, 41);
    player.face(echo); // so the test alone answers this player
    const auto late = [&](const std::function<void()>& answer) {
        const std::uint64_t before = player.trips();
        answer();
        player.pointer().call(barrier).get(); // behind the answer
        return player.trips() - before;
    };
    const auto play = [&](std::size_t bytes) {
        player.size(bytes);
        player.serve(10);
    };
    play(8); // game 42
    CHECK(late([&] { player.pointer().send(pong_word, 41); }) == 0);
    CHECK(late([&] { player.pointer().send(pong_word, 42); }) == 1);
    play(64); // game 43
    CHECK(late([&] { player.pointer().send(pong_bytes, stamped(42, 64)); }) == 0);
    CHECK(late([&] { player.pointer().send(pong_bytes, stamped(43, 64)); }) == 1);
    play(3); // game 44
    CHECK(late([&] { player.pointer().send(pong_bytes, stamped(43, 3)); }) == 0);
    CHECK(late([&] { player.pointer().send(pong_bytes, stamped(44, 3)); }) == 1);
    // What the echo still answers must find the other player.
    echo.call(echo_barrier).get();
    other.pointer().call(barrier).get();
}

TEST_CASE("what fails ends the wait, until it is forgotten") {
    Context here = local_context();
    Participant end(here);
    end.fail("the wire is cut");
    end.fail("a second reason");
    CHECK_THROWS_WITH(end.until([] { return false; }), Catch::Contains("the wire is cut"));
    end.serve([] { return true; });
    end.forget_failure();
    end.until([] { return true; });
}

} // namespace ping_pong_test
