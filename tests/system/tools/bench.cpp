// SPDX-License-Identifier: BSD-3-Clause
// `plexus bench`: each kind runs, says what was asked of it, and leaves nothing behind. How
// fast anything is, is no matter of these tests.
#include "support/catch.h"
#include "system/launcher/command.h"
#include "system/tools/json_text.h"

namespace bench_test {

using namespace plexus::testing;

namespace {

std::string quoted(std::string_view text) {
    std::string out(1, '"');
    out.append(text).push_back('"');
    return out;
}

/// The lines of a run that ended well.
std::vector<std::string> measure(Words words) {
    words.insert(words.begin(), "bench");
    words.emplace_back("--json");
    Command tool(words);
    CHECK(tool.wait(60s * kPatience) == 0);
    CHECK(tool.err().empty());
    CHECK(tool.left_nothing());
    const std::vector<std::string> lines = tool.lines();
    for (const std::string& line : lines) {
        INFO(line);
        REQUIRE(is_json(line));
        for (const char* key : {"bench", "methods", "used", "size_bytes", "iterations", "one_way_us",
                                "bandwidth_MBps", "messages_per_s", "skip_poll"})
            CHECK(value_of(line, key));
        CHECK(value_of(line, "bench") == quoted(words[1]));
        CHECK(number_of(line, "messages_per_s").value_or(0) > 0);
    }
    return lines;
}

} // namespace

TEST_CASE("bench latency measures each size by the method that was asked for") {
    for (const std::string method : {"shm", "tcp"}) {
        const auto lines =
            measure({"latency", "--methods", method, "--size", "0,8,64KiB", "--iterations", "50"});
        REQUIRE(lines.size() == 3);
        for (const std::string& line : lines) {
            CHECK(value_of(line, "used") == quoted(method));
            CHECK(number_of(line, "iterations") == 50);
            const double p50 = number_of(line, "p50").value_or(0);
            CHECK(p50 > 0);
            CHECK(number_of(line, "p99").value_or(0) >= p50);
            CHECK(number_of(line, "mean").value_or(0) > 0);
        }
        CHECK(number_of(lines[2], "size_bytes") == 65536);
    }
}

TEST_CASE("bench bandwidth and rate check what arrived, from one thread and from several") {
    for (const std::string threads : {"1", "3"}) {
        const auto wide =
            measure({"bandwidth", "--size", "1,4KiB,1MiB", "--iterations", "20", "--threads", threads});
        REQUIRE(wide.size() == 3);
        for (const std::string& line : wide) CHECK(number_of(line, "bandwidth_MBps").value_or(0) > 0);
        const auto many = measure({"rate", "--iterations", "500", "--threads", threads, "--no-pin"});
        REQUIRE(many.size() == 1);
        CHECK(number_of(many[0], "threads") == std::stod(threads));
    }
}

TEST_CASE("bench put and get move memory, and look at what arrived") {
    for (const std::string kind : {"put", "get"}) {
        const auto lines = measure({kind, "--methods", "shm", "--size", "100,300KiB", "--iterations", "20"});
        REQUIRE(lines.size() == 2);
        for (const std::string& line : lines) {
            CHECK(value_of(line, "used") == quoted("shm"));
            CHECK(number_of(line, "bandwidth_MBps").value_or(0) > 0);
        }
    }
}

TEST_CASE("bench sends, puts and gets from several buffers in turn, and what arrives is right") {
    for (const std::string kind : {"latency", "bandwidth", "put", "get"})
        for (const std::string method : {"shm", "tcp"}) {
            const auto lines = measure({kind, "--methods", method, "--size", "0,9,100,64KiB", "--iterations",
                                        "20", "--buffers", "7"});
            REQUIRE(lines.size() == 4);
            for (const std::string& line : lines) CHECK(number_of(line, "buffers") == 7);
        }
    Command table({"bench", "bandwidth", "--size", "64KiB", "--iterations", "20", "--buffers", "7"});
    CHECK(table.wait(60s * kPatience) == 0);
    CHECK(count_of(table.out(), "buffers: 7 in turn") == 1);
}

TEST_CASE("bench dual plays by two methods at once, for each skip_poll") {
    const auto lines =
        measure({"dual", "--methods", "shm, tcp", "--iterations", "300", "--skip-poll", "1,100,auto"});
    REQUIRE(lines.size() == 5);
    const char* const cases[] = {"alone", "silent", "both", "both", "both"};
    const char* const values[] = {"null", "\"auto\"", "1", "100", "\"auto\""};
    for (std::size_t at = 0; at < lines.size(); ++at) {
        CHECK(value_of(lines[at], "case") == quoted(cases[at]));
        CHECK(value_of(lines[at], "skip_poll") == values[at]);
        CHECK(value_of(lines[at], "used") == "\"shm\"");
        CHECK(value_of(lines[at], "slow") == "\"tcp\"");
        CHECK(number_of(lines[at], "mean").value_or(0) > 0);
    }
}

TEST_CASE("bench idle plays by one method, with the others polled and without") {
    const auto lines = measure({"idle", "--methods", "shm, tcp, local", "--iterations", "20"});
    REQUIRE(lines.size() == 2);
    const char* const cases[] = {"alone", "silent"};
    for (std::size_t at = 0; at < lines.size(); ++at) {
        CHECK(value_of(lines[at], "case") == quoted(cases[at]));
        CHECK(value_of(lines[at], "used") == "\"shm\"");
        CHECK(number_of(lines[at], "mean").value_or(0) > 0);
    }
    CHECK(value_of(lines[0], "times_alone") == "null");
    CHECK(number_of(lines[1], "times_alone").value_or(0) > 0);

    Command lonely({"bench", "idle", "--methods", "shm"});
    CHECK(lonely.wait(60s * kPatience) == 3);
    CHECK(lonely.err().find("load another beside shm") != std::string::npos);
}

TEST_CASE("bench prints a table, and says on which cores it ran") {
    Command tool({"bench", "latency", "--size", "8", "--iterations", "20"});
    CHECK(tool.wait(60s * kPatience) == 0);
    CHECK(tool.out().starts_with("plexus bench latency, "));
    for (const char* part : {"mean us", "p99 us", "messages/s", "8 B"})
        CHECK(count_of(tool.out(), part) == 1);
    CHECK(tool.err().empty()); // progress is for terminals
}

TEST_CASE("a measurement that cannot be made ends with 3 and says why") {
    Command method({"bench", "latency", "--methods", "no_such_method"});
    CHECK(method.wait(60s * kPatience) == 3);
    CHECK(method.err().find("no_such_method") != std::string::npos);
    CHECK(method.left_nothing());
    Command alone({"bench", "latency", "--inside"});
    CHECK(alone.wait(60s * kPatience) == 3);
    CHECK(alone.err().find("two contexts") != std::string::npos);
}

} // namespace bench_test
