// SPDX-License-Identifier: BSD-3-Clause
// `plexus bench collective` on loopback: every operation runs, is found right, and says what
// was asked of it. How fast anything is, is no matter of these tests.
#include "support/catch.h"
#include "support/tmpdir.h"
#include "system/launcher/command.h"
#include "system/tools/json_text.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace bench_collective_test {

using namespace plexus::testing;

namespace {

std::string quoted(const std::string& text) { return '"' + text + '"'; }

void check_line(const std::string& line) {
    INFO(line);
    REQUIRE(is_json(line));
    CHECK(value_of(line, "bench") == "\"collective\"");
    for (const char* key : {"operation", "pattern", "size_bytes", "contexts", "root", "order", "clock"})
        CHECK(value_of(line, key));
    const double least = number_of(line, "min").value_or(-1);
    CHECK(least > 0);
    CHECK(number_of(line, "mean").value_or(0) >= least);
    CHECK(number_of(line, "p50").value_or(0) >= least);
}

/// The lines of a run that ended well.
std::vector<std::string> measure(const Words& before, Words words) {
    words.insert(words.begin(), {"bench", "collective", "--json", "--iterations", "5"});
    words.insert(words.begin(), before.begin(), before.end());
    Command tool(words);
    CHECK(tool.wait(60s * kPatience) == 0);
    CHECK(tool.err() == "");
    CHECK(tool.left_nothing());
    for (const std::string& line : tool.lines()) check_line(line);
    return tool.lines();
}

} // namespace

TEST_CASE("bench collective measures every operation on contexts that it starts") {
    const std::string operations[] = {"broadcast",      "barrier",    "scatter",       "gather",
                                      "reduce",         "all_gather", "all_reduce",    "all_to_all",
                                      "reduce_scatter", "scan",       "exclusive_scan"};
    std::string list;
    for (const std::string& each : operations) list += (list.empty() ? "" : ",") + each;
    for (const std::string clock : {"common", "own"}) {
        const auto lines = measure({}, {"--contexts", "3", "--operation", list, "--size", "8,40000", "--root",
                                        "1", "--clock", clock});
        REQUIRE(lines.size() == 21); // a barrier has no size
        std::size_t at = 0;
        for (const std::string& operation : operations)
            for (int size = operation == "barrier" ? 1 : 0; size < 2; ++size) {
                const std::string& line = lines[at++];
                CHECK(value_of(line, "operation") == quoted(operation));
                CHECK(value_of(line, "clock") == quoted(clock));
                CHECK(number_of(line, "contexts") == 3);
                CHECK(number_of(line, "root") == 1);
                CHECK(number_of(line, "iterations") == 5);
                CHECK(value_of(line, "order") == "null");
            }
    }
}

TEST_CASE("bench collective compares patterns, orders and groups, within a job") {
    const auto lines =
        measure({"run", "-n", "4", "--no-prefix", "--", std::getenv("TESTED_PLEXUS")},
                {"--operation", "broadcast,all_to_all", "--pattern", "tree:3,chain:4KiB,pairwise", "--size",
                 "16000", "--order", "7,8", "--members", "2,4"});
    REQUIRE(lines.size() == 2 * 2 * 5); // pairwise does not broadcast
    for (std::size_t at = 0; at < lines.size(); ++at) {
        CHECK(number_of(lines[at], "order") == (at < 10 ? 7 : 8));
        CHECK(number_of(lines[at], "contexts") == (at % 10 < 5 ? 2 : 4));
    }
    CHECK(value_of(lines[1], "pattern") == quoted("chain:4KiB"));
    CHECK(value_of(lines[4], "pattern") == quoted("pairwise"));
    CHECK(value_of(lines[4], "operation") == quoted("all_to_all"));
}

TEST_CASE("bench collective runs a schedule from a file, and refuses one that is none for it") {
    const TmpDir folder;
    const std::string file = (folder / "s.json").string();
    const auto make = [&file](const char* kind, const char* root) {
        Words words{"schedule", "make", "btree-4", kind, "-o", file};
        if (root != nullptr) words.insert(words.end(), {"--root", root});
        Command tool(words);
        CHECK(tool.wait(60s * kPatience) == 0);
    };
    make("AAS", nullptr);
    const std::string pattern = "schedule:" + file;
    auto lines = measure({}, {"--contexts", "4", "--operation", "all_to_all,all_gather", "--size", "4000",
                              "--pattern", pattern + "," + pattern + ":async"});
    REQUIRE(lines.size() == 2); // all_gather has another kind of schedule
    CHECK(value_of(lines[0], "pattern") == quoted(pattern));
    CHECK(value_of(lines[1], "operation") == quoted("all_to_all"));
    make("OAB", "2");
    lines = measure({}, {"--contexts", "4", "--operation", "broadcast,reduce", "--size", "4000", "--root",
                         "2", "--pattern", pattern});
    REQUIRE(lines.size() == 2);
    const auto check_refused = [&](const std::string& operation, int code, const std::string& part) {
        Command tool({"bench", "collective", "--contexts", "4", "--operation", operation, "--size", "8",
                      "--pattern", pattern});
        CHECK(tool.wait(60s * kPatience) == code);
        INFO(tool.err());
        CHECK(tool.err().find(part) != std::string::npos);
        CHECK(tool.left_nothing());
    };
    check_refused("broadcast", 2, "begins at terminal 2: it needs --root 2");
    check_refused("all_to_all", 2, "supports none of the operations");
    std::ofstream(file) << R"({"topology": "star-4", "collective": "AAS", "rounds": [[]]})";
    check_refused("all_to_all", 2, file + ": rounds[0] is empty");
    std::filesystem::remove(file);
    check_refused("all_to_all", 3, file + " cannot be read");
}

TEST_CASE("bench collective follows a map, and prints a table") {
    TmpDir folder;
    char host[256] = {};
    REQUIRE(::gethostname(host, sizeof host - 1) == 0);
    const std::string map = folder.file("map.txt", "1 " + std::string(host) + "\n0\n").string();
    Command tool({"bench", "collective", "--contexts", "3", "--operation", "broadcast", "--size", "8",
                  "--pattern", "eco,auto,models", "--map", map, "--iterations", "5"});
    CHECK(tool.wait(60s * kPatience) == 0);
    for (const char* part : {"mean us", "p50 us", "min us", "eco", "auto", "models"})
        CHECK(count_of(tool.out(), part) == 1);
    CHECK(tool.err() == ""); // progress is for terminals
    CHECK(tool.left_nothing());
}

TEST_CASE("a collective that cannot be measured ends with 3 and says why") {
    Command alone({"bench", "collective"});
    CHECK(alone.wait(60s * kPatience) == 3);
    CHECK(alone.err().find("--contexts") != std::string::npos);
    const std::pair<Words, std::string> cases[] = {{{"--root", "3"}, "--root 3"},
                                                   {{"--members", "2,5"}, "--members 5"},
                                                   {{"--map", "/no/such/map"}, "/no/such/map"}};
    for (const auto& [words, part] : cases) {
        Words all{"bench", "collective", "--contexts", "3", "--size", "8"};
        all.insert(all.end(), words.begin(), words.end());
        Command tool(all);
        CHECK(tool.wait(60s * kPatience) == 3);
        INFO(tool.err());
        CHECK(tool.err().find(part) != std::string::npos);
        CHECK(tool.left_nothing());
    }
}

TEST_CASE("a schedule for another number of members is refused before anything starts") {
    Command few({"bench", "collective", "--contexts", "2", "--operation", "all_gather", "--pattern",
                 "schedule:btree-4"});
    CHECK(few.wait() == 3);
    CHECK(count_of(few.err(), "schedule:btree-4 is for 4 members, and 2 take part: start 4 contexts, or more "
                              "with --members 4") == 1);
    CHECK(few.left_nothing());
}

} // namespace bench_collective_test
