// SPDX-License-Identifier: BSD-3-Clause
// The job's output: whole lines with the rank in front, nothing lost, readers that are
// slow or go away.
#include "support/catch.h"
#include "system/launcher/command.h"

#include <csignal>
#include <fmt/core.h>

namespace output_test {

using namespace plexus::testing;

TEST_CASE("lines that are written in pieces arrive whole, in order, on their stream") {
    constexpr int kRanks = 4;
    constexpr int kLines = 500;
    Command job(run_helper({"-n", std::to_string(kRanks)}, {"lines", std::to_string(kLines)}));
    CHECK(job.wait() == 0);
    for (const std::string* text : {&job.out(), &job.err()}) {
        const bool is_out = text == &job.out();
        CHECK(count_of(*text, "\n") == kRanks * kLines / 2);
        for (int rank = 0; rank < kRanks; ++rank) {
            std::size_t at = 0;
            for (int i = is_out ? 0 : 1; i < kLines && at != std::string::npos; i += 2)
                at = text->find(fmt::format("[{}] line {} of rank {} ends here\n", rank, i, rank), at);
            CHECK(at != std::string::npos);
        }
    }
}

TEST_CASE("an unfinished last line is finished") {
    Command job(run_helper({"-n", "2"}, {"text", "one\n\ntwo"}));
    CHECK(job.wait() == 0);
    for (const std::string rank : {"[0] ", "[1] "}) {
        CHECK(count_of(job.out(), rank + "one\n") == 1);
        CHECK(count_of(job.out(), rank + "\n") == 1);
        CHECK(count_of(job.out(), rank + "two\n") == 1);
    }
}

TEST_CASE("without prefix the processes write themselves") {
    Command job(run_helper({"-n", "2", "--no-prefix"}, {"text", "one"}));
    CHECK(job.wait() == 0);
    CHECK(job.out() == "oneone");
}

TEST_CASE("a very long line is cut, not lost") {
    constexpr std::size_t kBytes = 1'000'000;
    Command job(run_helper({"-n", "2"}, {"long", std::to_string(kBytes)}));
    CHECK(job.wait() == 0);
    CHECK(count_of(job.out(), "x") == 2 * kBytes);
    for (const std::string& line : job.lines()) CHECK(line.size() <= 256 * 1024 + 4);
}

TEST_CASE("a reader that stalls slows the job and loses nothing") {
    Command job(run_helper({"-n", "3"}, {"long", "3000000"}));
    job.stall();
    CHECK_FALSE(job.wait(300ms)); // more than all buffers on the way hold
    job.resume();
    CHECK(job.wait() == 0);
    CHECK(count_of(job.out(), "x") == 9'000'000);
}

TEST_CASE("a job whose output nobody reads can still be ended") {
    Command job(run_helper({"-n", "2"}, {"flood"}));
    REQUIRE(job.says("[0] yyy"));
    job.stall();
    CHECK_FALSE(job.wait(100ms));
    // The first signal ends the processes; the next ones the wait for the reader.
    CHECK(eventually(10s, [&] {
        job.kill(SIGTERM);
        return job.wait(20ms).has_value();
    }));
    CHECK(job.left_nothing());
}

TEST_CASE("a job whose reader goes away ends as if it wrote there itself") {
    Command job(run_helper({"-n", "2"}, {"flood"}));
    REQUIRE(job.says("[1] yyy"));
    job.hang_up();
    CHECK(job.wait() == 128 + SIGPIPE);
    CHECK(job.err() == "");
    CHECK(job.left_nothing());
}

} // namespace output_test
