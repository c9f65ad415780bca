// SPDX-License-Identifier: BSD-3-Clause
// Plans that are put together level by level: whatever the groups and the patterns, everyone gets what is
// due.
#include "eco/plan/run_plan.h"
#include "eco/topology/networks.h"
#include "support/catch.h"

#include "plexus/eco/levels.h"
#include "plexus/error.h"

#include <algorithm>
#include <numeric>

namespace by_level_test {

using namespace plexus::eco;
using Catch::Matchers::Contains;
using plexus::testing::Random;

namespace {

/// Groups that are runs of `order`, each level joining some neighbours of the level before.
Levels levels_over(const std::vector<std::size_t>& order, std::size_t depth, Random& random) {
    Levels out;
    Partition below;
    for (const std::size_t member : order) below.push_back({member});
    for (std::size_t level = 0; level < depth; ++level) {
        Partition here;
        for (const Subnet& part : below) {
            if (here.empty() || (level + 1 < depth && random() % 3 == 0)) here.emplace_back();
            here.back().insert(here.back().end(), part.begin(), part.end());
        }
        below = here;
        for (Subnet& group : here) std::sort(group.begin(), group.end());
        std::shuffle(here.begin(), here.end(), random); // groups stand in any order
        out.push_back(here);
    }
    return out;
}

std::vector<std::size_t> ranks(Rank members) {
    std::vector<std::size_t> out(members);
    std::iota(out.begin(), out.end(), std::size_t{0});
    return out;
}

bool combines(Operation operation) {
    return operation == Operation::reduce || operation == Operation::all_reduce ||
           operation == Operation::reduce_scatter;
}

AlgorithmOptions any_pattern(Operation operation, bool in_order, Random& random) {
    while (true) {
        const AlgorithmOptions options{kPatterns[random() % std::size(kPatterns)],
                                       static_cast<std::uint32_t>(1 + random() % 4), random() % 3 * 40,
                                       random() % 2 == 0 ? 0 : UINT64_MAX};
        if (in_order && options.pattern == Pattern::ring) continue;
        if (supports(options.pattern, operation)) return options;
    }
}

/// Hosts 0-1-2, 3-4 and 5-6-7 are close, and the first two groups are closer to each other than to the third.
const Levels kThree{{{0, 1, 2}, {3, 4}, {5, 6, 7}}, {{0, 1, 2, 3, 4}, {5, 6, 7}}, {{0, 1, 2, 3, 4, 5, 6, 7}}};

/// Messages whose ends are in different groups.
std::size_t crossing(const Plan& plan, const Partition& groups) {
    std::vector<std::size_t> group_of(plan.members);
    for (std::size_t group = 0; group < groups.size(); ++group)
        for (const std::size_t member : groups[group]) group_of[member] = group;
    return static_cast<std::size_t>(
        std::count_if(plan.messages.begin(), plan.messages.end(),
                      [&](const Message& each) { return group_of[each.from] != group_of[each.to]; }));
}

} // namespace

TEST_CASE("any patterns on any levels of groups give everyone what is due") {
    Random random(20261126);
    for (int turn = 0; turn < 6000; ++turn) {
        const auto operation = kOperations[random() % std::size(kOperations)];
        if (operation == Operation::scan || operation == Operation::exclusive_scan) continue;
        const auto members = static_cast<Rank>(1 + random() % 24);
        std::vector<std::size_t> order = ranks(members);
        const bool in_order = random() % 4 == 0;
        if (!in_order) std::shuffle(order.begin(), order.end(), random);
        const Levels levels = levels_over(order, 1 + random() % 4, random);
        std::vector<AlgorithmOptions> patterns;
        for (std::size_t count = 1 + random() % 4; count > 0; --count)
            patterns.push_back(any_pattern(operation, in_order, random));
        const std::uint64_t elements[] = {0, 1, 7, 100, 5000};
        const PlanRequest request{
            operation, members, static_cast<Rank>(random() % members), elements[random() % 5], 8, !in_order};
        const Plan made = plan_by_level(request, levels, patterns);
        const Proof proof = prove(made);
        if (!proof)
            FAIL("turn " << turn << ", " << to_string(operation) << " of " << members << ": "
                         << proof.broken);
        if (in_order && combines(operation)) CHECK(proof.rank_order);
        std::uint64_t total = 0;
        for (const std::uint64_t each : made.block_elements) total += each;
        if (operation == Operation::broadcast) CHECK(total == request.elements);
    }
}

TEST_CASE("data that is combined level by level has each contribution once") {
    Random random(7);
    const Operation operations[] = {Operation::reduce, Operation::all_reduce, Operation::reduce_scatter};
    for (int turn = 0; turn < 600; ++turn) {
        const Operation operation = operations[turn % 3];
        const auto members = static_cast<Rank>(2 + random() % 12);
        std::vector<std::size_t> order = ranks(members);
        std::shuffle(order.begin(), order.end(), random);
        const Levels levels = levels_over(order, 1 + random() % 3, random);
        const PlanRequest request{operation, members, static_cast<Rank>(random() % members), 50, 8, true};
        const Plan made = plan_by_level(
            request, levels, {any_pattern(operation, false, random), any_pattern(operation, false, random)});
        plexus::testing::Data data(members);
        std::string all;
        for (Rank member = 0; member < members; ++member) {
            all += static_cast<char>('a' + member);
            data[member].assign(made.block_elements.size(), std::string(1, all.back()));
        }
        data = plexus::testing::run_on(made, std::move(data), random);
        for (Rank member = 0; member < members; ++member)
            for (std::uint32_t block = 0; block < made.block_elements.size(); ++block) {
                if (operation == Operation::reduce && member != request.root) continue;
                if (operation == Operation::reduce_scatter && block != member) continue;
                std::string combined = data[member][block].value();
                std::sort(combined.begin(), combined.end());
                REQUIRE(combined == all);
            }
    }
}

TEST_CASE("between groups of each level a broadcast goes once into each") {
    for (const Pattern outer : {Pattern::star, Pattern::binomial, Pattern::chain})
        for (const Pattern inner : {Pattern::binomial, Pattern::star}) {
            const Plan made =
                plan_by_level({Operation::broadcast, 8, 4, 10, 8, true}, kThree, {{outer, 2, 1000}, {inner}});
            CHECK(crossing(made, kThree[0]) == 2);
            CHECK(crossing(made, kThree[1]) == 1);
            CHECK(made.messages.size() == 7);
        }
    // A ring inside cuts the vector; the level between groups still goes whole.
    const Plan ring =
        plan_by_level({Operation::broadcast, 8, 4, 12, 8, true}, kThree, {{Pattern::star}, {Pattern::ring}});
    CHECK(crossing(ring, kThree[0]) == 2);
    CHECK(ring.block_elements.size() == 6);
}

TEST_CASE("parts of a vector follow each other through all levels of trees") {
    const PlanRequest request{Operation::broadcast, 8, 0, 16, 8, true};
    const Plan made = plan_by_level(request, kThree, {{Pattern::binomial}, {Pattern::chain, 2, 8}});
    REQUIRE(made.block_elements.size() == 16);
    // Member 5 is the coordinator of the far group: it passes the first part on before it takes the second.
    REQUIRE(made.steps[5].size() >= 3);
    CHECK_FALSE(made.steps[5][0].send);
    CHECK(made.steps[5][1].send);
    CHECK_FALSE(made.steps[5][2].send);
}

TEST_CASE("the last pattern is for the closest groups, and the first for all levels that are left") {
    const PlanRequest request{Operation::broadcast, 8, 0, 1, 8, true};
    const auto children_of = [](const Plan& plan, Rank member) {
        std::vector<Rank> out;
        for (const Step& step : plan.steps[member])
            if (step.send) out.push_back(plan.messages[step.message].to);
        return out;
    };
    const Plan two = plan_by_level(request, kThree, {{Pattern::chain, 2, 1000}, {Pattern::star}});
    CHECK(children_of(two, 0) == std::vector<Rank>{5, 3, 1, 2});
    CHECK(children_of(two, 5) == std::vector<Rank>{6, 7});
    const Plan one = plan_by_level(request, kThree, {{Pattern::chain, 2, 1000}});
    CHECK(children_of(one, 0) == std::vector<Rank>{5, 3, 1});
    CHECK(children_of(one, 5) == std::vector<Rank>{6});
    const Plan four = plan_by_level(
        request, kThree, {{Pattern::star}, {Pattern::star}, {Pattern::star}, {Pattern::chain, 2, 1000}});
    CHECK(children_of(four, 0) == std::vector<Rank>{5, 3, 1});
    CHECK(plan_by_level(request, {{{0, 1, 2, 3, 4, 5, 6, 7}}}, {{Pattern::chain}, {Pattern::star}}) ==
          plan_by_level(request, {{{0, 1, 2, 3, 4, 5, 6, 7}}}, {{Pattern::star}}));
}

TEST_CASE("an all_reduce crosses groups with combined contributions alone") {
    const Plan made =
        plan_by_level({Operation::all_reduce, 8, 0, 64, 8, true}, kThree,
                      {{Pattern::butterfly, 2, 0, UINT64_MAX}, {Pattern::binomial}, {Pattern::ring}});
    CHECK(prove(made));
    CHECK(crossing(made, kThree[1]) == 2);
    CHECK(crossing(made, kThree[0]) == 4);
}

TEST_CASE("an all_to_all inside groups does not pass their coordinators") {
    const Plan made = plan_by_level({Operation::all_to_all, 8, 0, 3, 8, true}, kThree, {{Pattern::pairwise}});
    REQUIRE(prove(made));
    // The block from 1 to 2 goes there at once.
    const std::uint32_t block = 1 * 8 + 2;
    for (const Message& message : made.messages)
        for (const BlockRange& range : made.blocks_of(message))
            if (block >= range.first && block < range.first + range.count) {
                CHECK(message.from == 1);
                CHECK(message.to == 2);
            }
}

TEST_CASE("levels that are none, and what they can't do, are refused with words") {
    const PlanRequest request{Operation::broadcast, 4, 0, 1, 8, true};
    const std::vector<AlgorithmOptions> star{{Pattern::star}};
    CHECK_THROWS_WITH(plan_by_level(request, {}, star), Contains("there is none"));
    CHECK_THROWS_WITH(plan_by_level(request, {{{0, 1}, {2, 3}}}, star), Contains("not one group"));
    CHECK_THROWS_WITH(plan_by_level(request, {{{0, 1}, {2}}, {{0, 1, 2, 3}}}, star), Contains("in no group"));
    CHECK_THROWS_WITH(plan_by_level(request, {{{0, 1}, {1, 2, 3}}, {{0, 1, 2, 3}}}, star),
                      Contains("two groups"));
    CHECK_THROWS_WITH(plan_by_level(request, {{{0, 1, 2, 4}}}, star), Contains("is none"));
    CHECK_THROWS_WITH(plan_by_level(request, {{{0, 1, 2, 3}, {}}, {{0, 1, 2, 3}}}, star),
                      Contains("no member"));
    CHECK_THROWS_WITH(plan_by_level(request, {{{0, 1}, {2, 3}}, {{0, 2}, {1, 3}}, {{0, 1, 2, 3}}}, star),
                      Contains("cuts a group"));
    CHECK_THROWS_WITH(plan_by_level(request, {{{0, 1, 2, 3}}}, {}), Contains("at least one pattern"));
    CHECK_THROWS_WITH(plan_by_level(request, {{{0, 1, 2, 3}}}, {{Pattern::bruck}}),
                      Contains("makes no broadcast"));
    CHECK_THROWS_WITH(plan_by_level(request, {{{0, 1, 2, 3}}}, {{Pattern::tree, 0}}), Contains("arity"));
    CHECK_THROWS_WITH(
        plan_by_level({Operation::scan, 4, 0, 1, 8, true}, {{{0, 1, 2, 3}}}, {{Pattern::chain}}),
        Contains("no plan by level for scan"));
    const Levels mixed{{{0, 2}, {1, 3}}, {{0, 1, 2, 3}}};
    CHECK_THROWS_WITH(plan_by_level({Operation::reduce, 4, 0, 1, 8, false}, mixed, star),
                      Contains("runs of ranks"));
    CHECK_THROWS_WITH(
        plan_by_level({Operation::all_reduce, 4, 0, 1, 8, false}, mixed, {{Pattern::butterfly}}),
        Contains("runs of ranks"));
}

} // namespace by_level_test
