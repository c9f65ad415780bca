// SPDX-License-Identifier: BSD-3-Clause
// What the tests share: processes, temporary folders, expected warnings.
#include "support/process.h"
#include "base/log.h"
#include "support/catch.h"
#include "support/eventually.h"
#include "support/footprint.h"
#include "support/log_guard.h"
#include "support/tmpdir.h"

#include <csignal>

namespace process_test {

using namespace plexus::testing;

TEST_CASE("a child's exit code, its signal, and its silence are told apart") {
    Process good([](Channel&) { return 7; });
    CHECK(good.wait(5s) == 7);
    Process sleeper([](Channel& channel) { return channel.take(60s) ? 1 : 0; });
    CHECK_FALSE(sleeper.wait(1ms).has_value());
    sleeper.kill(SIGKILL);
    CHECK(sleeper.wait(5s) == 128 + SIGKILL);
    Process thrower([](Channel&) -> int { throw std::runtime_error("as planned"); });
    CHECK(thrower.wait(5s) == 99);
}

TEST_CASE("a child that logs what it did not expect does not end with zero") {
    Process child([](Channel&) {
        plexus::log::warn("test", "nobody expects this");
        return 0;
    });
    CHECK(child.wait(5s) == 98);
}

TEST_CASE("a record that is longer than records may be is refused, never cut") {
    Process child(
        [](Channel& channel) { return channel.take(5s)->size() == Channel::kLongestRecord ? 0 : 1; });
    CHECK_THROWS(child.channel().put(std::vector<std::byte>(Channel::kLongestRecord + 1)));
    CHECK(child.channel().put(std::vector<std::byte>(Channel::kLongestRecord)));
    CHECK(child.wait(5s) == 0);
}

TEST_CASE("a channel keeps records apart, both ways, and shows its end") {
    Process child([](Channel& channel) {
        while (const auto record = channel.take(5s)) channel.put(*record);
        return 0;
    });
    const std::vector<std::byte> one(10, std::byte{1});
    const std::vector<std::byte> two(2'000, std::byte{2});
    REQUIRE(child.channel().put(one));
    REQUIRE(child.channel().put(two));
    CHECK(child.channel().take(5s) == one);
    CHECK(child.channel().take(5s) == two);
    child.kill(SIGKILL);
    CHECK_FALSE(child.channel().take(5s).has_value());
}

TEST_CASE("a child leaves nothing behind") {
    const Footprint before = Footprint::now();
    for (int i = 0; i < 3; ++i) Process child([](Channel& channel) { return channel.take(60s) ? 1 : 0; });
    const Footprint after = Footprint::settled(before.threads);
    CHECK(after.descriptors == before.descriptors);
    CHECK(after.threads <= before.threads);
    CHECK(after.left_since(before).empty());
}

TEST_CASE("an expected warning is counted and does not fail the test") {
    const LogGuard guard;
    const auto expected = expect_warning("port 7000");
    plexus::log::warn("test", "port 7000 is taken");
    plexus::log::info("test", "port 7001 is free");
    CHECK(expected.count() == 1);
    CHECK(guard.unexpected() == 0);
}

TEST_CASE("a temporary folder is gone after its scope, with all it held") {
    std::filesystem::path where;
    {
        const TmpDir folder;
        where = folder.path();
        CHECK(std::filesystem::exists(folder.file("a.txt", "text")));
    }
    CHECK_FALSE(std::filesystem::exists(where));
}

TEST_CASE("eventually gives up when its time is over") {
    CHECK(eventually(5s, [] { return true; }));
    CHECK_FALSE(eventually(1ms, [] { return false; }));
}

} // namespace process_test
