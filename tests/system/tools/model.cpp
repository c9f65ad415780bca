// SPDX-License-Identifier: BSD-3-Clause
// `plexus map intercluster` and `plexus map table3`: what they print, and their refusals.
#include "support/catch.h"
#include "support/tmpdir.h"
#include "system/launcher/command.h"
#include "system/tools/json_text.h"

namespace model_test {

using namespace plexus::testing;

namespace {

// From 0: 1 is there after 2, 2 after 3; 1 reaches 2 after 1 more.
constexpr const char* kInstance = R"({"L": [[0, 1, 2.5], [1, 0, 0.5], [2.5, 0.5, 0]],
 "g": [[null, 1, 0.5], [1, 0, 0.5], [0.5, 0.5, 0]], "T": [0.25, 4, 0.125], "root": 0})";

std::string out_of(Words words) {
    words.insert(words.begin(), "map");
    Command tool(words);
    CHECK(tool.wait() == 0);
    CHECK(tool.err().empty());
    return tool.out();
}

void check_refused(Words words, int code, const std::string& part) {
    words.insert(words.begin(), "map");
    Command tool(words);
    INFO(part);
    CHECK(tool.wait() == code);
    CHECK(tool.out().empty());
    CHECK(tool.err().starts_with("plexus map: "));
    CHECK(tool.err().find(part) != std::string::npos);
    CHECK(count_of(tool.err(), "\n") == 1);
}

Words table3(const std::string& gap, const std::string& members, Words more = {}) {
    Words out{"table3", "--latency", "0.001", "--gap", gap, "--members", members, "--size", "1024", "--json"};
    out.insert(out.end(), more.begin(), more.end());
    return out;
}

} // namespace

TEST_CASE("intercluster prints every schedule with both completions and its sends, and chooses") {
    const TmpDir folder;
    const std::string file = folder.file("instance.json", kInstance);
    const std::string json = out_of({"intercluster", file, "--json"});
    REQUIRE(is_json(json));
    const auto all = value_of(json, "schedules");
    REQUIRE(all);
    for (const std::string rule :
         {"flat", "fef", "ecef", "ecef_la", "ecef_lat_min", "ecef_lat_max", "bottom_up", "optimal"}) {
        INFO(rule);
        const auto mine = value_of(*all, rule);
        REQUIRE(mine);
        CHECK(number_of(*mine, "after"));
        CHECK(number_of(*mine, "overlap"));
        CHECK(value_of(*mine, "sends"));
    }
    // Flat: 1 at 2, ready to send again at 1; 2 at 1 + 0.5 + 2.5.
    CHECK(value_of(json, "flat") == R"({"after":6,"overlap":6,"sends":[[0,1],[0,2]]})");
    // 1 sends on to 2 until 2.5 and begins inside after that, or overlaps.
    CHECK(value_of(json, "fef") == R"({"after":6.5,"overlap":6,"sends":[[0,1],[1,2]]})");
    CHECK(number_of(*value_of(json, "optimal"), "after") == 6);
    CHECK(value_of(json, "chosen") == "\"flat\"");
    const std::string text = out_of({"intercluster", file, "--completion", "overlap"});
    CHECK(text.find("ecef_lat_min") != std::string::npos);
    CHECK(text.find("0>1 1>2") != std::string::npos);
    CHECK(text.find("chosen: flat\n") != std::string::npos);
}

TEST_CASE("intercluster leaves the optimum out above eight clusters") {
    std::string row = "0";
    for (int cluster = 1; cluster < 9; ++cluster) row += ",1";
    std::string rows = "[" + row + "]";
    for (int cluster = 1; cluster < 9; ++cluster) rows += ",[" + row + "]";
    const TmpDir folder;
    const std::string file = folder.file("nine.json", "{\"L\":[" + rows + "],\"g\":[" + rows + "],\"T\":[" +
                                                          row + "],\"root\":8}");
    const std::string json = out_of({"intercluster", file, "--json"});
    REQUIRE(is_json(json));
    CHECK(value_of(json, "bottom_up"));
    CHECK(!value_of(json, "optimal"));
}

TEST_CASE("files that hold no instance end with 3 and one sentence that names the place") {
    const TmpDir folder;
    const std::pair<std::string, std::string> cases[] = {
        {"", "bad:1: this is no JSON"},
        {"{\n\"L\": [[NaN]]}", "bad:2: this is no JSON"},
        {"{\"L\": [[0,1e999],[1,0]]}", "bad:1: the number is too large"},
        {"[]", "an instance is an object"},
        {"{}", "\"L\" is missing"},
        {R"({"L":[],"g":[],"T":[],"root":0})", "one cluster at least"},
        {R"({"L":[[0]],"g":[[0]],"T":[1]})", "\"root\" is missing"},
        {R"({"L":[[0]],"g":[[0]],"T":[1],"root":1})", "root 1 is no cluster: there are 1"},
        {R"({"L":[[0]],"g":[[0]],"T":[1],"root":-1})", "root is no cluster"},
        {R"({"L":[[0]],"g":[[0]],"T":[1],"root":0.5})", "root is no cluster"},
        {R"({"L":[[0]],"g":[[0]],"T":["x"],"root":0})", "T[0] is no number"},
        {R"({"L":3,"g":[[0]],"T":[1],"root":0})", "L is no list"},
        {R"({"L":[[0,1],[1]],"g":[[0,1],[1,0]],"T":[1,1],"root":0})",
         "row 1 of L has 1 numbers for 2 clusters"},
        {R"({"L":[[0,1],[1,0]],"g":[[0,1]],"T":[1,1],"root":0})", "g has 1 rows for 2 clusters"},
        {R"({"L":[[0,1],[1,0]],"g":[[0,-1],[1,0]],"T":[1,1],"root":0})", "g[0][1] is -1"},
        {R"({"L":[[0,null],[1,0]],"g":[[0,1],[1,0]],"T":[1,1],"root":0})", "L[0][1] is no number"},
    };
    for (const auto& [text, part] : cases)
        check_refused({"intercluster", folder.file("bad", text).string()}, 3, part);
    check_refused({"intercluster", (folder / "none").string()}, 3, "cannot be read");
    check_refused({"intercluster", (folder / "").string()}, 3, "cannot be read");
}

TEST_CASE("table3 prints the paper's values, and the exact binomial time") {
    const std::string three = out_of(table3("0.004", "3", {"--segment", "256"}));
    REQUIRE(is_json(three));
    CHECK(number_of(three, "linear").value_or(0) == Approx(0.009));
    CHECK(number_of(three, "pipeline").value_or(0) == Approx(2 * (0.004 + 0.001) + 3 * 0.004));
    CHECK(number_of(three, "binary").value_or(0) == Approx(2 * 0.009));
    CHECK(number_of(three, "binomial").value_or(0) == Approx(2 * 0.001 + 0.004));
    CHECK(number_of(three, "binomial_exact").value_or(0) == Approx(2 * 0.004 + 0.001));
    const std::string given = out_of(table3("0.004", "3", {"--segment", "256", "--segment-gap", "0.002"}));
    CHECK(number_of(given, "pipeline").value_or(0) == Approx(2 * (0.002 + 0.001) + 3 * 0.002));
    const std::string long_segment = out_of(table3("0.004", "3", {"--segment", "1MiB"}));
    CHECK(number_of(long_segment, "pipeline").value_or(0) == Approx(2 * (0.004 + 0.001)));
    CHECK(out_of(table3("0.004", "1")) ==
          "{\"linear\":0,\"pipeline\":0,\"binary\":0,\"binomial\":0,\"binomial_exact\":0}\n");
    const std::string text =
        out_of({"table3", "--latency", "1e-3", "--gap", "2e-3", "--members", "2", "--size", "0"});
    CHECK(text.find("binomial_exact") != std::string::npos);
    CHECK(text.find("0.003") != std::string::npos);
}

TEST_CASE("options of table3 and intercluster that are missing, wrong or another verb's are usage errors") {
    check_refused({"table3"}, 2, "table3 needs --latency");
    check_refused(table3("-1", "3"), 2, "--gap takes seconds, 0 or more, not \"-1\"");
    check_refused(table3("nan", "3"), 2, "not \"nan\"");
    check_refused(table3("1", "0"), 2, "--members takes a whole number from 1 on, not \"0\"");
    check_refused(table3("1", "3", {"--segment", "0"}), 2, "--segment takes one byte at least");
    check_refused(table3("1", "3", {"--segment", "x"}), 2, "--segment takes bytes");
    check_refused(table3("1", "3", {"--svg"}), 2, "table3 takes");
    check_refused({"intercluster"}, 2, "FILE");
    check_refused({"intercluster", "x", "--completion", "now"}, 2, "after, overlap");
    check_refused({"intercluster", "x", "--latency", "1"}, 2, "intercluster takes");
    check_refused({"partition", "x", "--completion", "after"}, 2, "goes with intercluster");
}

} // namespace model_test
