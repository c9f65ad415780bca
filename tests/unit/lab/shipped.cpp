// SPDX-License-Identifier: BSD-3-Clause
// The networks that come with Plexus are what their papers say.
#include "support/catch.h"

#include "tools/lab/network_file.h"
#include "tools/lab/routes.h"

#include <fstream>
#include <iterator>
#include <map>

namespace shipped_test {

using namespace plexus::tools::lab;

namespace {

Network shipped(const std::string& name) {
    const std::string path = std::string(LAB_NETWORKS) + "/" + name + ".toml";
    std::ifstream file(path);
    REQUIRE(file);
    return read_network(std::string(std::istreambuf_iterator<char>(file), {}), path);
}

std::map<std::string, std::vector<std::size_t>> hosts_by_segment(const Network& network) {
    std::map<std::string, std::vector<std::size_t>> found;
    for (std::size_t i = 0; i < network.hosts.size(); ++i)
        found[network.places[network.hosts[i].place].name].push_back(i);
    return found;
}

} // namespace

TEST_CASE("the networks that come along are sound and say what they are") {
    for (const char* name : {"eco1996-ethernet", "eco1996-dome", "grid5000", "two-clusters", "flat"}) {
        const Network network = shipped(name);
        CHECK(network.name == name);
        CHECK_FALSE(network.summary.empty());
    }
}

TEST_CASE("eco1996-ethernet has eight hosts on three shared segments of 10 Mb/s and a bridge") {
    const Network network = shipped("eco1996-ethernet");
    CHECK(network.hosts.size() == 8);
    CHECK(hosts_by_segment(network).size() == 3);
    for (const Place& place : network.places) {
        if (place.kind == Place::Kind::bridge) continue;
        CHECK(place.kind == Place::Kind::shared);
        CHECK(place.speed.bits_per_second == 10'000'000);
    }
}

TEST_CASE("eco1996-dome has six, five, two and seven hosts") {
    const auto hosts = hosts_by_segment(shipped("eco1996-dome"));
    CHECK(hosts.at("ethernet-a").size() + hosts.at("ethernet-b").size() == 6);
    CHECK(hosts.at("ethernet-c").size() == 5);
    CHECK(hosts.at("fddi").size() == 2);
    CHECK(hosts.at("switched-ethernet").size() == 7);
    CHECK(hosts.size() == 5);
}

TEST_CASE("grid5000 has the six clusters of the paper's Table 2, and its latencies within 0.3 %") {
    const Network network = shipped("grid5000");
    const Routes routes(network);
    const auto hosts = hosts_by_segment(network);
    const std::vector<std::pair<std::string, std::size_t>> clusters = {{"orsay", 20},     {"grenoble-a", 11},
                                                                       {"grenoble-b", 1}, {"grenoble-c", 7},
                                                                       {"toulouse", 20},  {"sophia", 19}};
    const double table[6][6] = {{48.39, 6577.49, 6592.51, 6586.49, 5211.94, 8602.73},
                                {6577.49, 35.52, 59.96, 59.96, 5387.48, 2736.56},
                                {6592.51, 59.96, 0, 79.51, 5405.78, 2745.98},
                                {6586.49, 59.96, 79.51, 60.08, 5393.98, 2740.26},
                                {5211.94, 5387.48, 5405.78, 5393.98, 26.94, 3630.51},
                                {8602.73, 2736.56, 2745.98, 2740.26, 3630.51, 35.04}};
    CHECK(hosts.size() == clusters.size());
    for (std::size_t a = 0; a < 6; ++a) {
        CHECK(hosts.at(clusters[a].first).size() == clusters[a].second);
        for (std::size_t b = 0; b < 6; ++b) {
            if (a == b && clusters[a].second == 1) continue;
            const std::size_t from = hosts.at(clusters[a].first).front();
            const std::size_t to = hosts.at(clusters[b].first).back();
            INFO(clusters[a].first << " to " << clusters[b].first);
            CHECK(static_cast<double>(routes.delay(from, to).count()) / 1e3 ==
                  Approx(table[a][b]).epsilon(0.003));
        }
    }
}

} // namespace shipped_test
