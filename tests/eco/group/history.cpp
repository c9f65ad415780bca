// SPDX-License-Identifier: BSD-3-Clause
// Memory of past runs: what is kept and combined, and files that are no history.
#include "plexus/eco/history.h"
#include "plexus/error.h"

#include "support/catch.h"
#include "support/tmpdir.h"

#include <filesystem>
#include <fstream>

namespace history_test {

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::testing;

namespace {

PastCalls calls(const std::string& algorithm, double measured_us, std::uint64_t count = 4,
                Operation operation = Operation::broadcast) {
    return {{0xfeed, 0xbeef}, operation, 0, 1024, algorithm, 12.5, measured_us, count};
}

/// What read_history() has to complain about.
std::string complaint(const std::string& text) {
    try {
        (void)read_history(text, "past.toml");
    } catch (const Error& error) {
        CHECK(error.status() == Status::bad_config);
        return error.what();
    }
    return {};
}

std::string changed(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("calls of one kind are combined, and old ones count less as they become many") {
    History history;
    history.add(calls("star", 100, 4));
    history.add(calls("star", 200, 4));
    REQUIRE(history.calls().size() == 1);
    CHECK(history.calls()[0].measured_us == Approx(150));
    CHECK(history.calls()[0].calls == 8);
    history.add(calls("star", 150, 1'000'000));
    history.add(calls("star", 350, 100));
    CHECK(history.calls()[0].measured_us == Approx(250));
    CHECK(history.calls()[0].calls == 1'000'108);
}

TEST_CASE("the fastest algorithm of a place, operation, root and size is found; ties go to the first name") {
    History history;
    for (const PastCalls& each : {calls("star", 90), calls("auto", 90), calls("binomial", 95),
                                  calls("chain:1024B", 1, 4, Operation::reduce)})
        history.add(each);
    const HistoryPlace place{0xfeed, 0xbeef};
    REQUIRE(history.fastest(place, Operation::broadcast, 0, 1024) != nullptr);
    CHECK(history.fastest(place, Operation::broadcast, 0, 1024)->algorithm == "auto");
    CHECK(history.fastest(place, Operation::reduce, 0, 1024)->algorithm == "chain:1024B");
    CHECK(history.fastest(place, Operation::broadcast, 1, 1024) == nullptr);
    CHECK(history.fastest(place, Operation::broadcast, 0, 2048) == nullptr);
    CHECK(history.fastest({0xfeed, 1}, Operation::broadcast, 0, 1024) == nullptr);
    CHECK(history.fastest({1, 0xbeef}, Operation::broadcast, 0, 1024) == nullptr);
}

TEST_CASE("a place is a map and the hosts of members in their order; the map's date does not count") {
    Map map({"h0", "h1"}, {"tcp"}, {1, 1000}, "2026-01-01T00:00:00Z");
    Map later({"h0", "h1"}, {"tcp"}, {1, 1000}, "2026-02-02T00:00:00Z");
    for (Map* const each : {&map, &later}) each->set_both(1, 0, 1, {5, 5, 5, 5, 5, 3, 0});
    const std::vector<std::string> hosts{"h0", "h1"};
    const std::vector<std::string> turned{"h1", "h0"};
    CHECK(history_place(map, hosts) == history_place(later, hosts));
    CHECK(history_place(map, hosts).members != history_place(map, turned).members);
    later.set_both(1, 0, 1, {6, 6, 6, 6, 6, 3, 0});
    CHECK(history_place(map, hosts).map != history_place(later, hosts).map);
}

TEST_CASE("a history is the same after it was written and read, also as a file that is replaced as a whole") {
    History history;
    CHECK(read_history(to_toml(history), "past.toml") == history);
    history.add(calls("star", 1.0 / 3, 4));
    history.add(calls("tree:4", 0, 1, Operation::all_reduce));
    CHECK(read_history(to_toml(history), "past.toml") == history);
    const TmpDir folder;
    const std::string path = (folder / "past.toml").string();
    save_history({}, path);
    save_history(history, path);
    CHECK(load_history(path) == history);
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator(folder / ".")) ++files;
    CHECK(files == 1);
    CHECK_THROWS_AS(save_history(history, (folder / "no" / "folder").string()), Error);
    CHECK_THROWS_AS(load_history((folder / "nothing").string()), Error);
}

TEST_CASE("what is no history, or was damaged, is refused with a sentence that names the file") {
    History history;
    history.add(calls("star", 100));
    history.add(calls("auto", 100));
    const std::string good = to_toml(history);
    CHECK(complaint(good).empty());
    CHECK(contains(complaint(""), "past.toml:1: version is missing: this is no history"));
    CHECK(contains(complaint("4 a b c d"), "past.toml:1: "));
    CHECK(contains(complaint(changed(good, "version = 1", "version = 2")), "reads version 1"));
    CHECK(contains(complaint(good.substr(0, good.find("[[calls]]", 80))), "the file was cut off"));
    CHECK(contains(complaint(good.substr(0, good.size() - 3)), "past.toml"));
    CHECK(contains(complaint(changed(good, "\"broadcast\"", "\"shout\"")), "there is no operation shout"));
    CHECK(contains(complaint(changed(good, "\"star\"", "\"comet\"")), "there is no algorithm \"comet\""));
    CHECK(contains(complaint(changed(good, "calls = 4", "calls = 0")), "0 calls"));
    CHECK(contains(complaint(changed(good, "bytes = 1024", "bytes = -1")), "bytes is -1"));
    CHECK(contains(complaint(changed(good, "root = 0", "root = 9999999999")), "there is no root"));
    CHECK(contains(complaint(changed(good, "measured_us = 1", "measured_us = -1")), "-100"));
    CHECK(contains(complaint(changed(good, "measured_us = 1", "measured_us = \"x\" # ")),
                   "a number of microseconds"));
    CHECK(contains(complaint(changed(good, "\"000000000000feed\"", "\"a map\"")), "hexadecimal"));
    CHECK(contains(complaint(std::string(100, '.')), "this many dots"));
    CHECK(contains(complaint(to_toml(Map({"a", "b"}, {}, {1}, "2026-01-01T00:00:00Z"))),
                   "past.toml: this is the map of a network, and no history"));
}

TEST_CASE("calls that make no sense are not added") {
    History history;
    CHECK_THROWS_AS(history.add(calls("comet", 1)), Error);
    CHECK_THROWS_AS(history.add(calls("star", -1)), Error);
    CHECK_THROWS_AS(history.add(calls("star", std::nan(""))), Error);
    CHECK_THROWS_AS(history.add(calls("star", 1, 0)), Error);
    CHECK(history.calls().empty());
}

} // namespace history_test
