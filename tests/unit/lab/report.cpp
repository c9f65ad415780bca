// SPDX-License-Identifier: BSD-3-Clause
// What a lab says about itself.
#include "support/catch.h"
#include "system/tools/json_text.h"
#include "unit/lab/networks.h"

#include "tools/lab/report.h"

namespace report_test {

using namespace plexus::testing;
using namespace plexus::tools::lab;
using namespace std::chrono_literals;

TEST_CASE("a report counts the bytes of each link, and says how it was scaled") {
    const Network network = scaled(network_of(kTwoWires), 0.5, false);
    const Routes routes(network);
    Fabric fabric(network, routes);
    std::vector<Fabric::Outcome> outcomes;
    fabric.offer(0ns, 0, 2, 1226, 0);
    fabric.advance(1s, outcomes);
    SwitchCount count;
    count.time = 20ms;
    count.lateness.add(10us);

    const std::string json = report_json(network, routes, fabric, count);
    INFO(json);
    REQUIRE(is_json(json));
    CHECK(value_of(json, "network") == "\"test\"");
    CHECK(number_of(json, "scale") == 0.5);
    CHECK(value_of(json, "was_bottleneck") == "false");
    CHECK(value_of(json, "name") == "\"left\"");
    CHECK(number_of(json, "bytes") == 1226);
    CHECK(number_of(json, "busy") == Approx(0.1)); // 2 ms of 20

    const std::string text = report_text(network, routes, fabric, count);
    INFO(text);
    CHECK(text.find("left ") != std::string::npos);
    CHECK(text.find("every rate is 0.5 times that of the network, every delay 2 times") != std::string::npos);
    CHECK(text.find("was never the bottleneck: 1 frames, the latest by 10 us") != std::string::npos);

    count.lateness.add(3ms);
    CHECK(verdict(network, count).find("was the bottleneck at times: 1 of 2 frames") != std::string::npos);
}

TEST_CASE("a report says what frames found waiting on each link, and in switches") {
    const Network network = network_of(kTwoWires);
    const Routes routes(network);
    Fabric fabric(network, routes);
    std::vector<Fabric::Outcome> outcomes;
    for (Fabric::Ticket ticket = 0; ticket < 3; ++ticket) fabric.offer(0ns, 0, 1, 1000, ticket);
    fabric.advance(1s, outcomes);
    const std::string json = report_json(network, routes, fabric, {});
    CHECK(number_of(json, "queue_most_bytes") == 1000); // the first left at once, the second waited
    CHECK(report_text(network, routes, fabric, {}).find("queued in switches") != std::string::npos);
    fabric.reset_counts();
    CHECK(number_of(report_json(network, routes, fabric, {}), "queue_most_bytes") == 0);
}

} // namespace report_test
