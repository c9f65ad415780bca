// SPDX-License-Identifier: BSD-3-Clause
// A probe of networks whose delays and rates are known: those of the lab.
#include "system/lab/lab.h"
#include "system/probe/probe.h"

#include "plexus/eco/partition.h"

#include <algorithm>

namespace lab_test {

using namespace plexus;
using namespace plexus::testing;

namespace {

Words in_lab(const std::string& network, Words options, const Words& probe) {
    options.insert(options.begin(), {"lab", network});
    options.insert(options.end(), {"--", tested_plexus(), "probe"});
    options.insert(options.end(), probe.begin(), probe.end());
    return options;
}

/// Two hosts of eco1996-ethernet share a segment.
bool are_close(std::size_t a, std::size_t b) { return a / 3 == b / 3; }

/// The median over the pairs inside segments, or between them, of the least cost.
double typical(const eco::Map& map, std::uint64_t bytes, bool close) {
    std::vector<double> costs;
    for (std::size_t a = 0; a < map.hosts().size(); ++a)
        for (std::size_t b = 0; b < a; ++b)
            if (are_close(a, b) == close) costs.push_back(map.cost(map.size_index(bytes), a, b).min_us);
    std::nth_element(costs.begin(), costs.begin() + static_cast<std::ptrdiff_t>(costs.size() / 2),
                     costs.end());
    return costs[costs.size() / 2];
}

} // namespace

TEST_CASE("the segments of a network are found, with the rates and the delay of its file") {
    NEEDS_LABS();
    const TmpDir folder;
    const std::string file = (folder / "net.toml").string();
    // In slow motion, so that the machine's own share is small: 1 Mb/s, and a bridge of 1 ms.
    Command lab(in_lab("eco1996-ethernet", {"--scale", "0.1", "--quiet"},
                       {file, "--sizes", "8,1032", "--repeat", "1", "--repetitions", "8", "--trips", "1"}));
    CHECK(lab.wait(100s) == 0);
    INFO(lab.out() << lab.err());
    const eco::Map map = eco::load_map(file);
    REQUIRE(map.hosts().size() == 8);
    CHECK(pairs_in(map) == 28);
    CHECK(map.shared_wires() == eco::Partition{{0, 1, 2}, {3, 4, 5}, {6, 7}});
    CHECK(map.methods().at(map.cost(0, 0, 1).method) == "tcp");
    CHECK(lab.out().find("alpha-1 alpha-2 alpha-3\n") != std::string::npos);
    CHECK(lab.out().find("alpha-4 alpha-5 alpha-6\n") != std::string::npos);
    CHECK(lab.out().find("alpha-7 alpha-8\n") != std::string::npos);
    // 1,024 bytes more in a frame take 8,192 bits longer on each wire, whatever else is sent.
    const double on_one_wire = typical(map, 1032, true) - typical(map, 8, true);
    const double on_two_wires = typical(map, 1032, false) - typical(map, 8, false);
    CHECK(on_one_wire == Approx(8192).epsilon(0.2)); // also where other programs use the processors
    CHECK(on_two_wires == Approx(2 * 8192).epsilon(0.2));
    // From segment to segment is twice the way inside one, and the bridge.
    CHECK(typical(map, 8, false) - 2 * typical(map, 8, true) == Approx(1000).margin(500));
}

TEST_CASE("a delay that is longer than anything else is what a probe measures") {
    NEEDS_LABS();
    const NetworkFile network(kOneSwitch);
    const TmpDir folder;
    const std::string file = (folder / "net.toml").string();
    Command lab(in_lab(network.path(), {"--quiet"}, {file}));
    CHECK(lab.wait() == 0);
    INFO(lab.out() << lab.err());
    const eco::Map map = eco::load_map(file);
    CHECK(map.cost(0, 0, 1).min_us == Approx(5000).epsilon(0.2));
    // 20 Mb/s for the content, and for the headers of 23 frames.
    const double content = map.cost(2, 0, 1).min_us - map.cost(1, 0, 1).min_us;
    CHECK(content ==
          Approx((32768 - 1024) * 8 / 20.0).epsilon(0.2)); // with acknowledgements, and on a busy machine
}

TEST_CASE("subnets are found as the network is, without slow motion") {
    NEEDS_LABS();
    const TmpDir folder;
    const std::string file = (folder / "net.toml").string();
    Command lab(in_lab("two-clusters", {"--quiet"}, {file, "--sizes", "8", "--json"}));
    CHECK(lab.wait(60s) == 0);
    INFO(lab.out() << lab.err());
    const eco::Map map = eco::load_map(file);
    const eco::Partition found = eco::partition(map.matrix(0, eco::Statistic::min), eco::Tolerance{1, 1});
    REQUIRE(found.size() == 2);
    CHECK(map.shared_wires().empty()); // both are switched
    for (const eco::Subnet& subnet : found)
        for (const std::size_t host : subnet)
            CHECK(map.hosts()[host].substr(0, 4) == map.hosts()[subnet.front()].substr(0, 4));
}

TEST_CASE("a burst of foreign traffic spoils a pair in one pass, and not in several") {
    NEEDS_LABS();
    const NetworkFile network(kOneWire);
    const TmpDir folder;
    // The wire brings 125 of these frames a second, and a burst of three seconds with more than it takes
    // begins with the map's file: it outlasts one pass, whose frames wait for others at every turn. One frame
    // every 5 ms on the average, also where the sender comes to its turn more seldom.
    const auto probed_in_burst = [&](const std::string& repeat) {
        const std::string file = (folder / ("net-" + repeat + ".toml")).string();
        const std::string burst =
            "until [ -e " + file +
            " ]; do sleep .01; done; begin=${EPOCHREALTIME/[.,]/}; sent=0; "
            "while past=$((${EPOCHREALTIME/[.,]/} - begin)); [ $past -lt 3000000 ]; do "
            "for ((; sent * 5000 < past; ++sent)); do printf %01000d 0 > /dev/udp/10.77.0.4/9; done; "
            "sleep .005; done";
        const std::string program = "[ $(hostname) = h1 ] && " + tested_plexus() + " lab enter h3 bash -c '" +
                                    burst + "' 2> /dev/null & exec " + tested_plexus() + " probe " + file +
                                    " --sizes 1032 --repetitions 20 --trips 1 --repeat " + repeat;
        Command lab({"lab", network.path(), "--scale", "0.1", "--quiet", "--hosts", "h1,h2", "--", "bash",
                     "-c", program});
        CHECK(lab.wait(100s) == 0);
        INFO(lab.out() << lab.err());
        return eco::load_map(file).cost(0, 0, 1);
    };
    const eco::Cost spoilt = probed_in_burst("1");
    const eco::Cost kept = probed_in_burst("16");
    INFO(spoilt.min_us << " us in the burst alone, " << kept.min_us << " us kept of 16 passes");
    CHECK(kept.samples == (16 + 2) * 20);             // the edge decides, so it is measured twice more
    CHECK(kept.min_us == Approx(9000).epsilon(0.25)); // 1,032 bytes and headers at 1 Mb/s
    CHECK(spoilt.min_us > 1.4 * kept.min_us);
}

} // namespace lab_test
