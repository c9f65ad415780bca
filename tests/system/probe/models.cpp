// SPDX-License-Identifier: BSD-3-Clause
// `plexus probe --models` in a network of two subnets, and what `plexus map predict` makes of it.
#include "system/lab/lab.h"
#include "system/probe/probe.h"

#include "plexus/eco/acquire.h"
#include "plexus/eco/poly_model.h"

#include <algorithm>
#include <csignal>

namespace probed_models_test {

using namespace plexus;
using namespace plexus::testing;

namespace {

const std::string kTwoSubnets = R"(
[[segment]]
name = "left"
rate = "50 Mb/s"
delay = "100 us"
hosts = ["l1", "l2", "l3", "l4"]

[[segment]]
name = "right"
rate = "50 Mb/s"
delay = "100 us"
hosts = ["r1", "r2", "r3"]

[[bridge]]
name = "way"
joins = ["left", "right"]
delay = "3 ms"
)";

const eco::AcquiredModel& one_of(const eco::Map& map, std::string_view from, std::string_view to,
                                 std::string_view model) {
    const auto found = std::find_if(map.acquired().begin(), map.acquired().end(), [&](const auto& each) {
        return map.hosts()[each.from] == from && map.hosts()[each.to] == to && each.model == model;
    });
    INFO(from << " to " << to << ", " << model);
    REQUIRE(found != map.acquired().end());
    return *found;
}

} // namespace

TEST_CASE("models are acquired in subnets and between them, and predictions take them") {
    NEEDS_LABS();
    const NetworkFile network(kTwoSubnets);
    const TmpDir folder;
    const std::string file = (folder / "net.toml").string();
    Command lab({"lab", network.path(), "--quiet", "--", tested_plexus(), "probe", file, "--models",
                 "--repeat", "2", "--sizes", "8,2048,16384", "--tolerance", "100%"});
    CHECK(lab.wait(300s) == 0);
    INFO(lab.out() << lab.err());
    CHECK(lab.err().find(" models acquired") != std::string::npos);
    const eco::Map map = eco::load_map(file);
    REQUIRE(map.hosts().size() == 7);
    CHECK(map.acquired().size() == 3 * eco::acquired_kinds().size());

    // What is known of the network bounds what is measured on however busy a machine.
    const eco::AcquiredModel& way = one_of(map, "l1", "r1", "hockney");
    INFO(way.words);
    CHECK(way.parameters.at("latency_s") > 3e-3);
    CHECK(way.parameters.at("latency_s") < 9e-3);
    CHECK(way.parameters.at("bytes_per_s") < 50e6 / 8 * 1.05);
    CHECK(way.parameters.at("bytes_per_s") > 0.5e6);
    CHECK(one_of(map, "l1", "l2", "hockney").parameters.at("latency_s") < 3e-3);
    CHECK(way.cost.messages > 20);
    CHECK(way.cost.bytes > 16384);
    CHECK(way.cost.seconds > 0);
    const eco::AcquiredModel& gaps = one_of(map, "l1", "l2", "plogp");
    INFO(gaps.words);
    REQUIRE(gaps.levels.size() == 1);
    CHECK(gaps.levels.front().sizes.size() >= 10);
    CHECK(gaps.levels.front().sizes.back().bytes == 16384);
    CHECK(gaps.levels.front().sizes.back().gap_s > 16384 * 8 / 50e6); // the wire's
    CHECK(gaps.cost.messages > way.cost.messages);
    CHECK(one_of(map, "l1", "l2", "lopc").has_parameters());
    CHECK(one_of(map, "l1", "r1", "steffenel").levels.size() == 2);
    CHECK(one_of(map, "r1", "r2", "logpc").words == "no other pair of hosts is there to load the network");

    Command predict({"map", "predict", file, "--size", "16KiB", "--tolerance", "100%", "--json"});
    CHECK(predict.wait() == 0);
    INFO(predict.out() << predict.err());
    REQUIRE(is_json(predict.out()));
    const auto models = value_of(predict.out(), "models");
    REQUIRE(models);
    CHECK(value_of(*models, "name") == "\"hockney\"");
    CHECK(value_of(*models, "origin") == "\"acquired\"");
    CHECK(number_of(*value_of(*models, "cost"), "messages") > 20);
    CHECK(value_of(predict.out(), "links"));
    Command text({"map", "predict", file, "--size", "16KiB", "--tolerance", "100%"});
    CHECK(text.wait() == 0);
    CHECK(text.out().find(" acquired, ") != std::string::npos);
    CHECK(text.out().find("no other pair of hosts is there") != std::string::npos);
    Command page({"map", "show", file, "--tolerance", "100%"});
    CHECK(page.wait() == 0);
    CHECK(page.out().find("from the cluster of l1 to that of r1") != std::string::npos);
}

TEST_CASE(
    "a host that stands still while models are acquired is given up, and ends with the job when it goes on") {
    const TmpDir folder;
    const std::string file = (folder / "net.toml").string();
    Command job(probe_words(4, file,
                            {"--models", "--patience", "1", "--repeat", "30", "--confirm", "0", "--sizes",
                             "8,1KiB", "--tolerance", "1000000%"}));
    const auto has_all_passes = [&] { // from then on models are acquired
        if (!std::ifstream(file).good()) return false;
        const eco::Map map = eco::load_map(file);
        return pairs_in(map) == 6 && map.cost(0, 2, 3).passes == 30;
    };
    REQUIRE(eventually(60s, has_all_passes));
    const pid_t loader = process_of(job, 2);
    REQUIRE(loader > 0);
    ::kill(loader, SIGSTOP);
    REQUIRE(eventually(60s, [&] { return !eco::load_map(file).acquired().empty(); }));
    ::kill(loader, SIGCONT);
    CHECK(job.wait(60s).has_value());
    INFO(job.out() << job.err());
    CHECK(job.left_nothing());
    const eco::Map map = eco::load_map(file);
    CHECK(one_of(map, map.hosts()[0], map.hosts()[1], "hockney").has_parameters());
}

TEST_CASE("a probe without models keeps acquired ones, but for hosts that are measured anew") {
    const TmpDir folder;
    const std::string file = (folder / "net.toml").string();
    const std::string first = probed(3, file, {"--models", "--repeat", "1", "--tolerance", "1000000%"});
    CHECK(number_of(first, "models_acquired") >= 1);
    const std::vector<eco::AcquiredModel> known = eco::load_map(file).acquired();
    REQUIRE(known.size() == eco::acquired_kinds().size());
    CHECK(number_of(probed(3, file, {"--resume"}), "models_acquired") == 0);
    CHECK(eco::load_map(file).acquired() == known);
    const eco::Map map = eco::load_map(file);
    const auto other = 3 - known.front().from - known.front().to; // of three
    probed(3, file, {"--refresh", map.hosts()[other]});
    CHECK(eco::load_map(file).acquired() == known);
    probed(3, file, {"--refresh", map.hosts()[known.front().to]});
    CHECK(eco::load_map(file).acquired().empty());
}

} // namespace probed_models_test
