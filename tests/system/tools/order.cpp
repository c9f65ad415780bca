// SPDX-License-Identifier: BSD-3-Clause
// How measurements become a recommended order, and how they get from the process that
// measures to the one that recommends, and into a file: pure functions, without any method.
#include "tools/info/measure_report.h"

#include "support/catch.h"
#include "support/tmpdir.h"
#include "system/launcher/command.h"
#include "system/tools/json_text.h"

namespace order_test {

using namespace plexus::tools;
using plexus::tools::benchmark::Point;

namespace {

using Names = std::vector<std::string>;
constexpr std::uint64_t kKiB = 1024;

Measured between_processes(const std::string& name, std::vector<Point> points) {
    return {name, false, std::move(points), {}};
}

} // namespace

TEST_CASE("the fastest method leads, and differences that are noise change nothing") {
    CHECK(recommend({between_processes("slow", {{8, 9.0, {}}}), between_processes("fast", {{8, 1.0, {}}})}) ==
          std::vector<Range>{{0, Names{"fast", "slow"}}});
    CHECK(recommend(
              {between_processes("first", {{8, 1.05, {}}}), between_processes("second", {{8, 1.0, {}}})}) ==
          std::vector<Range>{{0, Names{"first", "second"}}});
    CHECK(recommend({}).empty());
}

TEST_CASE("sizes that want another order are a range of their own, with a border between them") {
    const Measured low = between_processes("low", {{8, 1, {}}, {4 * kKiB, 2, {}}, {64 * kKiB, 40, 2e9}});
    const Measured wide = between_processes("wide", {{8, 5, {}}, {4 * kKiB, 6, {}}, {64 * kKiB, 50, 9e9}});
    // Large ones go by the stream, where the wide one is better in spite of its latency.
    CHECK(recommend({wide, low}) ==
          std::vector<Range>{{0, Names{"low", "wide"}}, {16 * kKiB, Names{"wide", "low"}}});
}

TEST_CASE("a method of one process leads whatever it costs, and one that failed is not there") {
    const Measured inside{"inside", true, {{8, 7, {}}}, {}};
    const Measured broken{"broken", false, {}, "it was ended by signal 11"};
    CHECK(recommend({between_processes("far", {{8, 1, {}}}), broken, inside}) ==
          std::vector<Range>{{0, Names{"inside", "far"}}});
    CHECK(recommend({broken}).empty());
}

TEST_CASE("a method that does not carry a size is not recommended for it") {
    const Measured small = between_processes("small", {{8, 1, {}}});
    const Measured any = between_processes("any", {{8, 2, {}}, {kKiB * kKiB, 300, 4e9}});
    const auto ranges = recommend({small, any});
    REQUIRE(ranges.size() == 2);
    CHECK(ranges[0].methods == Names{"small", "any"});
    CHECK(ranges[1].methods == Names{"any"});
}

TEST_CASE("a survey's lines are found among whatever else was printed") {
    const auto survey =
        benchmark::read_survey("a log line\nplexus.survey latency 65536 40.5\nplexus.survey latency 8 0.25\n"
                               "plexus.survey stream 65536 2e9\nplexus.survey latency nonsense\n");
    CHECK(survey.failure.empty());
    REQUIRE(survey.points.size() == 2);
    CHECK(survey.points[0].size_bytes == 8);
    CHECK(survey.points[0].one_way_us == 0.25);
    CHECK_FALSE(survey.points[0].bytes_per_s);
    CHECK(survey.points[1].bytes_per_s == 2e9);
    CHECK(survey.learned.empty());
    CHECK(benchmark::read_survey("plexus.survey learned copies all; fixed by copy = cached\n").learned ==
          "copies all; fixed by copy = cached");
    const auto failed = benchmark::read_survey("plexus.survey failed no way\nplexus.survey failed later\n");
    CHECK(failed.failure == "no way");
    CHECK(failed.points.empty());
}

TEST_CASE("what a method has learned is written down as lines that are configuration") {
    Measured shm = between_processes("shm?area=2MiB", {{8, 1, {}}});
    CHECK(lines_that_fix(shm).empty());
    shm.learned = "via a gate";
    CHECK(lines_that_fix(shm).empty());
    shm.learned =
        "copies 4 KiB past the caches (4 KiB: 1.0 us); fixed by past_caches_from = 64 KiB, cma = off";
    const Names lines = lines_that_fix(shm);
    CHECK(lines == Names{"method.shm.past_caches_from = \"64 KiB\"", "method.shm.cma = \"off\""});
    Findings findings;
    findings.methods = {shm};
    findings.ranges = recommend(findings.methods);
    const std::string text = documented_configuration(findings);
    INFO(text);
    CHECK(text.find("# shm?area=2MiB: copies 4 KiB past the caches (4 KiB: 1.0 us)\n") != std::string::npos);
    CHECK(text.find("# method.shm.past_caches_from = \"64 KiB\"\n") != std::string::npos);
    CHECK(plexus::testing::is_json(to_json(findings)));

    const plexus::testing::TmpDir folder;
    std::string file = "methods = [\"shm\"]\n";
    for (const std::string& line : lines) file += line + "\n";
    plexus::testing::Command reader(
        {"info", "--config", "--plexus-config", folder.file("site.toml", file).string()});
    CHECK(reader.wait() == 0);
    CHECK(reader.err().empty());
}

TEST_CASE("several orders and a strange reason make a file that is still a configuration") {
    Findings findings;
    findings.version = "1.2.3";
    findings.where = "cores 0 and 1";
    findings.methods = {between_processes("tcp", {{8, 5, {}}, {kKiB * kKiB, 500, 3e9}}),
                        between_processes("shm?area=2MiB", {{8, 1, {}}, {kKiB * kKiB, 400, 2e9}}),
                        {"broken", false, {}, "two\nlines and \xff\x01 bytes"}};
    findings.ranges = recommend(findings.methods);
    REQUIRE(findings.ranges.size() == 2);
    const std::string text = documented_configuration(findings);
    INFO(text);
    CHECK(text.find("\nmethods = [\"shm?area=2MiB\", \"tcp\"]\n") != std::string::npos);
    CHECK(text.find("# Messages of about 4 KiB and more: tcp, shm?area=2MiB\n") != std::string::npos);
    CHECK(text.find("#     large.use(\"tcp, shm?area=2MiB\");\n") != std::string::npos);
    CHECK(text.find("# Left out: broken: two lines") != std::string::npos);
    CHECK(plexus::testing::is_json(to_json(findings)));

    const plexus::testing::TmpDir folder;
    plexus::testing::Command reader(
        {"info", "--json", "--plexus-config", folder.file("site.toml", text).string()});
    CHECK(reader.wait() == 0);
    CHECK(reader.err().empty());
    CHECK(reader.out().find("\"method\":\"shm\"") < reader.out().find("\"method\":\"tcp\""));
}

} // namespace order_test
