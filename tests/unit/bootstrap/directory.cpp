// SPDX-License-Identifier: BSD-3-Clause
// What a directory promises, for both kinds: the one inside this process, and the one that
// is served on a port and joined over it.
#include "support/catch.h"
#include "unit/bootstrap/waiting.h"

#include <thread>

namespace directory_test {

using namespace plexus;
using namespace plexus::bootstrap;
using namespace plexus::bootstrap::testing;

namespace {

/// Two views of one directory, whichever kind.
struct Pair {
    std::unique_ptr<DirectoryServer> server;
    std::shared_ptr<Directory> one, other;
};

constexpr const char* kKinds[] = {"process", "served", "local and joined"};

Pair pair_of(std::string_view kind) {
    if (kind == "process") return {nullptr, process_directory(), process_directory()};
    const Key key = random_key();
    auto server = DirectoryServer::listen("plexus://127.0.0.1:0", key, 2).value();
    auto one = kind == "served" ? join(server->url(), key, some_context(), in(5s)).value() : server->local();
    auto other = join(server->url(), key, some_context(), in(5s)).value();
    return {std::move(server), std::move(one), std::move(other)};
}

} // namespace

TEST_CASE("what one publishes the other finds") {
    const auto* kind = GENERATE(from_range(std::begin(kKinds), std::end(kKinds)));
    INFO(kind);
    auto [server, one, other] = pair_of(kind);
    REQUIRE(one->publish("ocean", bytes_of("deep")));
    const auto found = ask(*other, "ocean", 5s).get();
    REQUIRE(found);
    CHECK(text_of(*found) == "deep");
    REQUIRE(one->publish("ocean", bytes_of("deeper"))); // its own name may be replaced
    CHECK(text_of(*ask(*one, "ocean", 5s).get()) == "deeper");
    REQUIRE(one->publish("empty", {}));
    CHECK(ask(*other, "empty", 5s).get()->empty());
}

TEST_CASE("a lookup waits for a late publish") {
    const auto* kind = GENERATE(from_range(std::begin(kKinds), std::end(kKinds)));
    INFO(kind);
    auto [server, one, other] = pair_of(kind);
    auto first = ask(*other, "late", 10s);
    auto second = ask(*other, "late", 10s);
    auto third = ask(*one, "late", 10s);
    CHECK(ask(*other, "late", 0s).get().status() == Status::not_found);
    CHECK_FALSE(first.is_there());
    REQUIRE(one->publish("late", bytes_of("here")));
    for (auto* answer : {&first, &second, &third}) CHECK(text_of(*answer->get()) == "here");
}

TEST_CASE("a lookup ends at its deadline and says what nobody published") {
    const auto* kind = GENERATE(from_range(std::begin(kKinds), std::end(kKinds)));
    INFO(kind);
    auto [server, one, other] = pair_of(kind);
    const auto start = Clock::now();
    auto later = ask(*other, "later", 10s);
    const auto missing = ask(*other, "nothing", 50ms).get();
    const auto waited = Clock::now() - start;
    REQUIRE(missing.status() == Status::not_found);
    CHECK(mentions(missing.failure(), "\"nothing\""));
    CHECK(waited >= 50ms);
    CHECK(waited < 2s * kPatience);
    CHECK_FALSE(later.is_there());
    one.reset();
    other.reset();
    CHECK(later.get().status() == Status::closed);
}

TEST_CASE("a name belongs to one context until it gives it up") {
    const auto* kind = GENERATE(from_range(std::begin(kKinds), std::end(kKinds)));
    INFO(kind);
    auto [server, one, other] = pair_of(kind);
    REQUIRE(one->publish("sea", bytes_of("1")));
    const auto taken = other->publish("sea", bytes_of("2"));
    REQUIRE(taken.status() == Status::busy);
    CHECK(mentions(taken.failure(), "\"sea\""));
    other->unpublish("sea"); // not its own: nothing happens
    CHECK(text_of(*ask(*other, "sea", 5s).get()) == "1");
    one->unpublish("sea");
    // Its own view sees the order of its own calls; the other waits for it.
    CHECK(ask(*one, "sea", 0s).get().status() == Status::not_found);
    CHECK(other->publish("sea", bytes_of("2")));
    CHECK(text_of(*ask(*one, "sea", 5s).get()) == "2");
}

TEST_CASE("names and values have limits") {
    const auto* kind = GENERATE(from_range(std::begin(kKinds), std::end(kKinds)));
    INFO(kind);
    auto [server, one, other] = pair_of(kind);
    CHECK(one->publish("", {}).status() == Status::bad_argument);
    CHECK(one->publish(std::string(256, 'n'), {}).status() == Status::bad_argument);
    CHECK(one->publish("big", Bytes(kLongestValue + 1)).status() == Status::too_large);
    REQUIRE(one->publish(std::string(255, 'n'), Bytes(kLongestValue, std::byte{9})));
    const auto found = ask(*other, std::string(255, 'n'), 5s).get();
    REQUIRE(found);
    CHECK(*found == Bytes(kLongestValue, std::byte{9}));
    CHECK_FALSE(ask(*one, "", 0s).get());
}

TEST_CASE("what a context published goes with it") {
    const auto* kind = GENERATE(from_range(std::begin(kKinds), std::end(kKinds)));
    INFO(kind);
    auto [server, one, other] = pair_of(kind);
    REQUIRE(one->publish("mine", bytes_of("1")));
    one.reset();
    CHECK(plexus::testing::eventually(
        5s, [&, view = other] { return static_cast<bool>(view->publish("mine", {})); }));
}

TEST_CASE("the directory may be dropped from its own callback") {
    const auto* kind = GENERATE(from_range(std::begin(kKinds), std::end(kKinds)));
    INFO(kind);
    auto [server, one, other] = pair_of(kind);
    Answer<Bytes> answer;
    auto* raw = other.get();
    raw->lookup("last", in(50ms),
                [view = std::move(other), said = answer.callback()](Result<Bytes> found) mutable {
                    view.reset();
                    said(std::move(found));
                });
    CHECK(answer.get().status() == Status::not_found);
}

TEST_CASE("the process directory never waits in a fence") {
    const auto one = process_directory();
    const auto other = process_directory();
    CHECK(one->url().empty());
    CHECK(meet(*one, 10s).get());
    CHECK(meet(*other, 10s).get());
    CHECK(meet(*one, 10s).get());
}

TEST_CASE("what one context may keep in a directory is bounded") {
    const auto one = process_directory();
    auto other = process_directory();
    const Bytes large(kLongestValue);
    const auto name = [](std::size_t i) { return "large " + std::to_string(i); };
    std::size_t kept = 0;
    while (kept < 2000 && one->publish(name(kept), large)) ++kept;
    CHECK(kept >= 1000); // nearly 64 MiB
    CHECK(kept < 1024);
    CHECK(one->publish("more", large).status() == Status::too_large);
    CHECK(other->publish("more", large)); // each has room of its own
    one->unpublish(name(0));
    CHECK(one->publish(name(0), large));
    const auto often = process_directory(); // a value that takes the place of another counts once
    for (int i = 0; i < 1'100; ++i) REQUIRE(often->publish("again", large));

    std::atomic<int> closed{0};
    constexpr int kWaiters = 16384;
    for (int i = 0; i < kWaiters; ++i)
        other->lookup("never", in(60s),
                      [&](const Result<Bytes>& said) { closed += said.status() == Status::closed; });
    CHECK(ask(*other, "one too many", 60s).get().status() == Status::busy);
    CHECK(ask(*other, "more", 0s).get()); // what is there needs no waiting
    other.reset();
    CHECK(closed == kWaiters); // each is told, once
}

TEST_CASE("many threads publish and look up in one directory") {
    const auto* kind = GENERATE(from_range(std::begin(kKinds), std::end(kKinds)));
    INFO(kind);
    auto [server, one, other] = pair_of(kind);
    constexpr int kThreads = 4;
    constexpr int kNames = 50;
    std::atomic<int> found{0};
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int id = 0; id < kThreads; ++id)
        threads.emplace_back([&, id, mine = one, theirs = other] {
            for (int i = 0; i < kNames; ++i) {
                const std::string name = "name " + std::to_string(id) + " " + std::to_string(i);
                theirs->lookup(name, in(20s), [&, name](Result<Bytes> value) {
                    ++(value && text_of(*value) == name ? found : wrong);
                });
                if (!mine->publish(name, bytes_of(name))) ++wrong;
            }
        });
    for (auto& thread : threads) thread.join();
    CHECK(plexus::testing::eventually(10s, [&] { return found + wrong == kThreads * kNames; }));
    CHECK(wrong == 0);
}

} // namespace directory_test
