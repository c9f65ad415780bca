// SPDX-License-Identifier: BSD-3-Clause
// The evolutionary search: what it reaches on small networks, judged by a checker of its own, and how it
// ends.
#include "eco/synthesis/validity.h"
#include "support/catch.h"

#include "plexus/eco/round_schedule.h"
#include "plexus/error.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace evolution_test {

using namespace plexus::eco;
using plexus::testing::fault_of;

namespace {

EvolutionOptions options_of(std::uint64_t seed, std::uint32_t generations, std::uint32_t most_rounds) {
    EvolutionOptions out;
    out.seed = seed;
    out.generations = generations;
    out.most_rounds = most_rounds;
    return out;
}

struct Row {
    const char* graph;
    CollectiveKind kind;
    std::uint32_t root;
    std::uint32_t most; ///< rounds as printed in Tables 1 and 3, but 9 instead of 8 for AAB on btree-8
    std::uint32_t generations = 2000;
};

constexpr CollectiveKind kOab = CollectiveKind::oab;
constexpr CollectiveKind kAab = CollectiveKind::aab;
constexpr CollectiveKind kOas = CollectiveKind::oas;
constexpr CollectiveKind kAas = CollectiveKind::aas;

constexpr Row kRows[] = {
    {"omega-8", kOab, 0, 3},     {"omega-8", kAab, 0, 7, 100000},
    {"omega-8", kOas, 5, 7},     {"omega-8", kAas, 0, 7, 100000},
    {"butterfly-8", kOab, 3, 3}, {"butterfly-8", kAab, 0, 7, 100000},
    {"butterfly-8", kOas, 0, 7}, {"butterfly-8", kAas, 0, 7, 100000},
    {"btree-4", kOab, 2, 2},     {"btree-4", kAab, 0, 3},
    {"btree-4", kOas, 0, 3},     {"btree-4", kAas, 0, 4},
    {"btree-8", kOab, 0, 3},     {"btree-8", kAab, 0, 9},
    {"btree-8", kOas, 7, 7},     {"btree-8", kAas, 0, 16, 100000},
    {"ftree-4", kOab, 0, 2},     {"ftree-4", kAab, 0, 3},
    {"ftree-4", kOas, 1, 3},     {"ftree-4", kAas, 0, 3},
    {"ftree-8", kOab, 0, 3},     {"ftree-8", kAab, 0, 7, 100000},
    {"ftree-8", kOas, 0, 7},     {"ftree-8", kAas, 0, 7, 100000},
    {"fbtree-7", kOab, 6, 3},    {"fbtree-7", kOab, 1, 2},
    {"fbtree-7", kOab, 0, 2},    {"fbtree-7", kAab, 0, 7, 100000},
    {"fbtree-7", kOas, 6, 6},    {"fbtree-7", kOas, 1, 4},
    {"fbtree-7", kOas, 0, 3},    {"fbtree-7", kAas, 0, 12},
};

} // namespace

TEST_CASE("the evolutionary search reaches the paper's rounds on small networks") {
    for (const Row& row : kRows)
        for (const std::uint64_t seed : {1U, 2U}) {
            const LinkGraph graph = named_graph(row.graph);
            const auto found =
                evolve_schedule(graph, row.kind, row.root, options_of(seed, row.generations, row.most));
            INFO(row.graph << " " << to_string(row.kind) << " root " << row.root << " seed " << seed);
            CHECK(!found.schedule.rounds.empty());
            CHECK(found.schedule.rounds.size() >= found.bound.rounds);
            CHECK(fault_of(graph, found.schedule) == "");
        }
}

TEST_CASE("the evolutionary search makes valid schedules where pairs have several paths") {
    for (const char* name : {"clos-12", "mesh-3x3", "torus-3x3", "cube-3", "star-5", "ring-5"})
        for (const CollectiveKind kind : kCollectiveKinds) {
            const LinkGraph graph = named_graph(name);
            const auto found = evolve_schedule(graph, kind, 1, options_of(4, 300, 0));
            INFO(name << " " << to_string(kind));
            CHECK(!found.schedule.rounds.empty());
            CHECK(found.schedule.rounds.size() >= found.bound.rounds);
            CHECK(found.schedule.kind == kind);
            CHECK(fault_of(graph, found.schedule) == "");
        }
}

TEST_CASE("a terminal with one port and several links sends once and accepts once in a round") {
    for (const char* name : {"mesh-2x3", "ring-5", "torus-3x3"})
        for (const CollectiveKind kind : kCollectiveKinds) {
            LinkGraph graph = named_graph(name);
            graph.ports = Ports::one;
            const auto found = evolve_schedule(graph, kind, 1, options_of(4, 300, 0));
            INFO(name << " " << to_string(kind));
            CHECK(!found.schedule.rounds.empty());
            CHECK(fault_of(graph, found.schedule) == "");
        }
}

TEST_CASE("no fewer rounds are tried than are asked for first") {
    auto options = options_of(1, 10, 19);
    options.first_rounds = 20;
    const auto found = evolve_schedule(named_graph("omega-8"), kOas, 0, options);
    CHECK(found.schedule.rounds.empty());
    CHECK(found.tries == 0);
}

TEST_CASE("the same seed evolves the same schedule, another seed another one") {
    const LinkGraph graph = named_graph("omega-8");
    const auto first = evolve_schedule(graph, kAas, 0, options_of(9, 1000, 0));
    const auto again = evolve_schedule(graph, kAas, 0, options_of(9, 1000, 0));
    CHECK(first.schedule == again.schedule);
    CHECK(first.tries == again.tries);
    CHECK(!(first.schedule == evolve_schedule(graph, kAas, 0, options_of(10, 1000, 0)).schedule));
}

TEST_CASE("the evolutionary search adds a round where its generations are not enough") {
    const LinkGraph graph = named_graph("omega-8");
    const auto found = evolve_schedule(graph, kAas, 0, options_of(1, 5, 0));
    CHECK(found.schedule.rounds.size() > found.bound.rounds);
    // five generations for each number of rounds before the last one; rounds left empty are not in the result
    const std::uint64_t given_up = found.schedule.rounds.size() - found.bound.rounds;
    CHECK(found.tries >= 5 * given_up);
    CHECK(fault_of(graph, found.schedule) == "");
}

TEST_CASE("the evolutionary search ends without a schedule beyond the most rounds asked for") {
    const auto found = evolve_schedule(named_graph("omega-16"), kAas, 0, options_of(1, 5, 16));
    CHECK(found.schedule.rounds.empty());
    CHECK(found.tries == 10); // of 15 rounds and of 16
}

TEST_CASE("the evolutionary search ends as soon as its caller wants") {
    auto options = options_of(1, 1000, 0);
    std::uint64_t asked = 0;
    options.go_on = [&asked](const SearchProgress& progress) {
        ++asked;
        CHECK(progress.bound == 15);
        return progress.tries < 3;
    };
    const auto some = evolve_schedule(named_graph("omega-16"), kAas, 0, options);
    CHECK(some.schedule.rounds.empty());
    CHECK(some.tries == 3);
    CHECK(asked >= 4);

    options.go_on = [](const SearchProgress&) { return false; };
    const auto none = evolve_schedule(named_graph("omega-16"), kAas, 0, options);
    CHECK(none.schedule.rounds.empty());
    CHECK(none.tries == 0);
}

TEST_CASE("two terminals need one round") {
    for (const CollectiveKind kind : kCollectiveKinds) {
        const LinkGraph graph = named_graph("star-2");
        const auto found = evolve_schedule(graph, kind, 1, options_of(1, 10, 0));
        INFO(to_string(kind));
        CHECK(found.schedule.rounds.size() == 1);
        CHECK(fault_of(graph, found.schedule) == "");
    }
}

TEST_CASE("the evolutionary search refuses what it cannot work with") {
    const LinkGraph graph = named_graph("omega-8");
    auto options = options_of(1, 10, 0);
    options.population = 3;
    CHECK_THROWS_AS(evolve_schedule(graph, kOab, 0, options), plexus::Error);
    options.population = 4;
    CHECK_NOTHROW(evolve_schedule(graph, kOab, 0, options));
    options.mutation = 1.5;
    CHECK_THROWS_AS(evolve_schedule(graph, kOab, 0, options), plexus::Error);
    options.mutation = std::nan("");
    CHECK_THROWS_AS(evolve_schedule(graph, kOab, 0, options), plexus::Error);
    options.mutation = 0;
    options.population = 0xffff'ffff; // their counters of conflicts alone are more than a gigabyte
    CHECK_THROWS_AS(evolve_schedule(graph, kOab, 0, options), plexus::Error);
    CHECK_THROWS_AS(evolve_schedule(graph, kOab, 8, options_of(1, 10, 0)), plexus::Error);
    CHECK_THROWS_AS(evolve_schedule(LinkGraph{}, kAab, 0, options_of(1, 10, 0)), plexus::Error);
}

} // namespace evolution_test
