// SPDX-License-Identifier: BSD-3-Clause
// `plexus map predict`: what it prints as text and as JSON, and what it says of maps and options that do not
// do.
#include "support/catch.h"
#include "support/tmpdir.h"
#include "system/launcher/command.h"
#include "system/tools/json_text.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace predict_test {

using namespace plexus::testing;

namespace {

using Us = std::function<double(std::uint64_t bytes, char from, char to)>;

/// Messages between hosts; two whose names begin alike share a cluster. Nothing below 0.
std::string map_text(const std::vector<std::string>& hosts, const std::vector<std::uint64_t>& sizes,
                     const Us& us) {
    const auto quoted = [](const std::string& name) { return "\"" + name + "\""; };
    std::string names;
    std::string bytes;
    std::string costs;
    for (const std::string& host : hosts) names += (names.empty() ? "" : ", ") + quoted(host);
    for (const std::uint64_t size : sizes) {
        bytes += (bytes.empty() ? "" : ", ") + std::to_string(size);
        costs += "[[size]]\nbytes = " + std::to_string(size) + "\ncosts = [\n";
        for (const std::string& from : hosts)
            for (const std::string& to : hosts) {
                const std::string cost = std::to_string(us(size, from.front(), to.front()));
                if (from == to || cost.front() == '-') continue;
                costs += "[" + quoted(from) + ", " + quoted(to) + ", \"tcp\", 9";
                for (int quantile = 0; quantile < 5; ++quantile) costs += ", " + cost;
                costs += "],\n";
            }
        costs += "]\n";
    }
    return "version = 1\ndate = \"\"\nhosts = [" + names + "]\nmethods = [\"tcp\"]\nsizes_bytes = [" + bytes +
           "]\nboth_ways = false\n" + costs;
}

double two_sites(std::uint64_t bytes, char from, char to) {
    return from == to ? 20 + 0.01 * static_cast<double>(bytes) : 1000 + 0.1 * static_cast<double>(bytes);
}

const std::vector<std::string> kHosts{"ant", "asp", "ape", "bee", "bat", "cow"};
const std::vector<std::uint64_t> kSizes{8, 1024, 32768};

struct Answer {
    std::optional<int> code;
    std::string out;
    std::string err;
};

Answer predict(const std::filesystem::path& file, const Words& more) {
    Words words{"map", "predict", file.string()};
    words.insert(words.end(), more.begin(), more.end());
    Command tool(words);
    const auto code = tool.wait();
    return {code, tool.out(), tool.err()};
}

} // namespace

TEST_CASE("predict prints models, patterns and schedules of every cluster, and the choice") {
    const TmpDir folder;
    const auto file = folder.file("net", map_text(kHosts, kSizes, two_sites));
    const Words asked{"--operation", "broadcast", "--size", "1000", "--root", "bat"};
    const Answer text = predict(file, asked);
    CHECK(text.code == 0);
    CHECK(text.err.empty());
    CHECK(text.out.starts_with("broadcast of 1000 B, root bat\n"));
    CHECK(text.out.find("cluster 0 of ant: 3 hosts") != std::string::npos);
    CHECK(text.out.find("cluster 1 of bat: 2 hosts") != std::string::npos);
    CHECK(text.out.find("cluster 2 of cow: 1 host\n") != std::string::npos);
    CHECK(text.out.find("one level was measured: that is plogp") != std::string::npos);
    CHECK(text.out.find("chosen: hockney, star\n") != std::string::npos);
    CHECK(text.out.find("chosen: flat, 0.0012 s\n") != std::string::npos);

    Words with_json = asked;
    with_json.push_back("--json");
    const Answer json = predict(file, with_json);
    CHECK(json.code == 0);
    REQUIRE(is_json(json.out));
    CHECK(value_of(json.out, "operation") == "\"broadcast\"");
    CHECK(number_of(json.out, "size") == 1000);
    CHECK(value_of(json.out, "root") == "\"bat\"");
    CHECK(value_of(json.out, "hosts") == R"(["ant","asp","ape"])");
    CHECK(value_of(json.out, "coordinator") == "\"ant\"");
    CHECK(value_of(json.out, "model") == "\"hockney\"");
    CHECK(value_of(*value_of(json.out, "models"), "name") == "\"hockney\"");
    CHECK(number_of(*value_of(json.out, "models"), "error").value_or(1) < 1e-6);
    CHECK(value_of(*value_of(json.out, "pattern"), "algorithm") == "\"star\"");
    CHECK(number_of(*value_of(json.out, "pattern"), "s").value_or(0) == Approx(40e-6));
    const auto between = value_of(json.out, "between");
    REQUIRE(between);
    CHECK(number_of(*between, "root") == 1);
    const auto schedules = value_of(json.out, "schedules");
    REQUIRE(schedules);
    for (const std::string rule : {"flat", "fef", "ecef", "optimal"}) CHECK(value_of(*schedules, rule));
    CHECK(value_of(json.out, "chosen") == "\"flat\"");
    CHECK(number_of(json.out, "completion").value_or(0) == Approx(1.2e-3));
    const auto estimate = value_of(json.out, "estimate");
    REQUIRE(estimate);
    const std::string chosen = value_of(*estimate, "chosen").value_or("");
    const std::string eco = value_of(*estimate, "eco").value_or("");
    CHECK(number_of(chosen, "idle").value_or(0) > 1e-3);
    CHECK(number_of(chosen, "open").value_or(0) > 1e-3);
    CHECK(number_of(eco, "idle").value_or(1) + number_of(eco, "open").value_or(1) <=
          number_of(chosen, "idle").value_or(0) + number_of(chosen, "open").value_or(0));
    CHECK(!value_of(json.out, "missing"));
}

TEST_CASE("predict prints the patterns of other operations between clusters, and the fastest") {
    const TmpDir folder;
    const auto file = folder.file("net", map_text(kHosts, kSizes, two_sites));
    for (const std::string name :
         {"scatter", "gather", "all_gather", "all_reduce", "all_to_all", "barrier", "reduce_scatter"}) {
        INFO(name);
        const Answer text = predict(file, {"--operation", name, "--size", "1000"});
        CHECK(text.code == 0);
        const auto between = text.out.find("between clusters\n");
        REQUIRE(between != std::string::npos);
        CHECK(text.out.find("binomial", between) != std::string::npos);
        CHECK(text.out.find("chain:0") == std::string::npos); // whole messages
        CHECK(text.out.find("chosen: ", between) != std::string::npos);
        CHECK(text.out.find("of groups with this map", between) != std::string::npos);
        const Answer json = predict(file, {"--operation", name, "--size", "1000", "--json"});
        CHECK(json.code == 0);
        REQUIRE(is_json(json.out));
        const auto patterns = value_of(json.out, "patterns_between");
        REQUIRE(patterns);
        CHECK(value_of(*patterns, "algorithm") == "\"star\"");
        CHECK(value_of(json.out, "chosen"));
        CHECK(number_of(json.out, "completion").value_or(0) > 1e-3);
        CHECK(number_of(json.out, "completion").value_or(1) <= number_of(*patterns, "s").value_or(0));
        const auto exchanges = value_of(json.out, "exchanges");
        CHECK(exchanges.has_value() == (name == "all_to_all"));
        CHECK((text.out.find("\nexchange by up to 2 of each cluster") != std::string::npos) ==
              exchanges.has_value());
        if (exchanges) {
            CHECK(value_of(json.out, "chosen") == "\"exchange\"");
            CHECK(value_of(json.out, "exchange"));
            CHECK(text.out.find("chosen: exchange by ") != std::string::npos);
        }
        CHECK(!value_of(json.out, "schedules"));
        CHECK(value_of(json.out, "estimate"));
    }
    const std::string beyond = "Messages for several hosts have up to ";
    CHECK(predict(file, {"--operation", "gather", "--size", "1000"}).out.find(beyond) == std::string::npos);
    CHECK(predict(file, {"--operation", "gather", "--size", "32KiB"}).out.find(beyond) != std::string::npos);
}

TEST_CASE("predict names algorithms as groups take them, and both butterflies") {
    const TmpDir folder;
    const std::vector<std::string> nine{"a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9"};
    const auto file = folder.file("net", map_text(nine, kSizes, two_sites));
    const Answer chain = predict(file, {"--size", "1MiB"});
    CHECK(chain.code == 0);
    CHECK(chain.out.find("beyond, the models go on") != std::string::npos);
    CHECK(chain.out.find("holds no gaps") != std::string::npos);
    CHECK(chain.out.find("\ntree:8") == std::string::npos);
    CHECK(chain.out.find("\ntree:4") != std::string::npos);
    CHECK(chain.out.find("\nchain:") != std::string::npos);
    const Answer all = predict(file, {"--operation", "all_reduce", "--size", "1000"});
    CHECK(all.out.find("butterfly, halving") != std::string::npos);
    CHECK(all.out.find("butterfly, whole vectors") != std::string::npos);
    CHECK(predict(file, {"--operation", "all_gather", "--size", "1000"}).out.find("chain:1000B") !=
          std::string::npos);
    const Answer json = predict(file, {"--operation", "all_reduce", "--size", "1000", "--json"});
    REQUIRE(is_json(json.out));
    CHECK(json.out.find(R"("halves":true)") != std::string::npos);
    CHECK(json.out.find(R"("halves":false)") != std::string::npos);
}

TEST_CASE("every operation in one cluster has an answer, in words and as JSON") {
    const TmpDir folder;
    const auto file = folder.file("net", map_text({"a1", "a2", "a3", "a4"}, kSizes, two_sites));
    for (const std::string name : {"broadcast", "scatter", "gather", "reduce", "all_gather", "all_reduce",
                                   "all_to_all", "barrier", "reduce_scatter", "scan", "exclusive_scan"}) {
        const Answer text = predict(file, {"--operation", name, "--size", "1000"});
        CHECK(text.code == 0);
        CHECK(text.out.find("of groups with this map") != std::string::npos);
        const Answer json = predict(file, {"--operation", name, "--size", "1000", "--json"});
        CHECK(json.code == 0);
        REQUIRE(is_json(json.out));
        CHECK(value_of(json.out, "estimate"));
    }
}

TEST_CASE("sizes 0 and 1, maps that differ by direction and either completion have an answer") {
    const TmpDir folder;
    const auto file = folder.file("net", map_text(kHosts, kSizes, [](auto bytes, char from, char to) {
                                      return two_sites(bytes, from, to) * (from < to ? 2 : 1);
                                  }));
    for (const std::string size : {"0", "1", "64KiB"})
        for (const std::string completion : {"after", "overlap"})
            for (const std::string operation : {"broadcast", "reduce"}) {
                const Answer json = predict(
                    file, {"--size", size, "--completion", completion, "--json", "--operation", operation});
                CHECK(json.code == 0);
                REQUIRE(is_json(json.out));
                CHECK(number_of(json.out, "completion").value_or(0) > 1e-3);
                CHECK(number_of(*value_of(json.out, "estimate"), "idle").value_or(0) > 1e-3);
                CHECK(json.out.find("nan") == std::string::npos);
                CHECK(value_of(json.out, "remarks")->find("differs by direction") != std::string::npos);
            }
    CHECK(predict(file, {"--operation", "reduce"}).out.find("the other way and in reverse order") !=
          std::string::npos);
}

TEST_CASE("a map that does not suffice ends with 1, what there is, and why there is no choice") {
    const TmpDir folder;
    const auto plain = folder.file("plain", "3 a b c\n0 1 1\n1 0 1\n1 1 0\n");
    const Answer text = predict(plain, {});
    CHECK(text.code == 1);
    CHECK(text.err.empty());
    CHECK(
        text.out.find("no choice: no model describes the cluster of a: hockney: 1 size was measured, and it "
                      "needs 2\n") != std::string::npos);
    const Answer json = predict(plain, {"--json"});
    CHECK(json.code == 1);
    REQUIRE(is_json(json.out));
    CHECK(value_of(json.out, "missing"));
    CHECK(value_of(json.out, "model") == "null");
    CHECK(!value_of(json.out, "chosen"));
    const auto file = folder.file("net", map_text(kHosts, kSizes, two_sites));
    const Answer scan = predict(file, {"--operation", "scan"});
    CHECK(scan.code == 1);
    CHECK(scan.out.find("no choice: a scan goes by rank, not by clusters") != std::string::npos);
    CHECK(scan.out.find("bruck") != std::string::npos);
    const auto apart = folder.file("apart", map_text(kHosts, kSizes, [](auto bytes, char from, char to) {
                                       return from == to ? two_sites(bytes, from, to) : -1;
                                   }));
    const Answer nothing = predict(apart, {});
    CHECK(nothing.code == 1);
    CHECK(nothing.out.find("between the clusters of ant and bee nothing was measured") != std::string::npos);
}

TEST_CASE("options of predict that are wrong or another verb's are usage errors in one sentence") {
    const TmpDir folder;
    const auto file = folder.file("net", map_text(kHosts, kSizes, two_sites));
    const std::tuple<Words, int, std::string> cases[] = {
        {{"--root", "nobody"}, 2, "and nobody is none"},
        {{"--operation", "dance"}, 2, "--operation takes one of broadcast"},
        {{"--size", "many"}, 2, "--size takes bytes"},
        {{"--completion", "now"}, 2, "after, overlap"},
        {{"--pattern", "star"}, 2, "go with show"},
        {{"--svg"}, 2, "go with show"},
        {{"--levels"}, 2, "--levels goes with partition"},
        {{"--members", "4"}, 2, "with table3"},
        {{"--tolerance", "x"}, 2, "--tolerance takes a share"},
    };
    for (const auto& [more, code, part] : cases) {
        const Answer answer = predict(file, more);
        INFO(answer.err);
        CHECK(answer.code == code);
        CHECK(answer.out.empty());
        CHECK(answer.err.find(part) != std::string::npos);
        CHECK(count_of(answer.err, "\n") == 1);
    }
    CHECK(predict(folder / "none", {}).code == 3);
    CHECK(predict(folder.file("bad", "version = 9\n"), {}).code == 3);
    Command partition({"map", "partition", file.string(), "--root", "ant"});
    CHECK(partition.wait() == 2);
    CHECK(partition.err().find("go with show and predict") != std::string::npos);
    Command none({"map", "predict"});
    CHECK(none.wait() == 2);
    CHECK(none.err().find("FILE") != std::string::npos);
}

} // namespace predict_test
