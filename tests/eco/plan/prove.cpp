// SPDX-License-Identifier: BSD-3-Clause
// A proof fails for every plan that is broken: written by hand, and by chance changes of good
// ones, where running on data is the judge.
#include "eco/plan/run_plan.h"
#include "support/catch.h"

namespace prove_test {

using namespace plexus::eco;
using namespace plexus::testing;
using Catch::Matchers::Contains;

namespace {

Plan good(Operation operation, Rank members = 4, Pattern pattern = Pattern::binomial) {
    return plan({operation, members, 0, 8, 8, true}, {pattern});
}

std::string broken(const Plan& plan) { return prove(plan).broken; }

} // namespace

TEST_CASE("a plan that is no plan is refused before it is run") {
    Plan plan = good(Operation::broadcast);
    plan.members = 5;
    CHECK_THAT(broken(plan), Contains("5 members"));
    plan = good(Operation::broadcast);
    plan.root = 4;
    CHECK_THAT(broken(plan), Contains("root 4"));
    plan = good(Operation::broadcast);
    plan.messages[0].to = 9;
    CHECK_THAT(broken(plan), Contains("message 0 goes from 0 to 9"));
    plan = good(Operation::broadcast);
    plan.messages[0].to = 0;
    CHECK_THAT(broken(plan), Contains("message 0 goes from 0 to 0"));
    plan = good(Operation::broadcast);
    plan.messages[1].first_range = 77;
    CHECK_THAT(broken(plan), Contains("message 1 has blocks that are not in the plan"));
    plan = good(Operation::broadcast);
    plan.ranges[0].count = 2;
    CHECK_THAT(broken(plan), Contains("message 0 has blocks 0 to 2, of 1"));
    plan = good(Operation::broadcast);
    plan.steps[0].push_back(plan.steps[0].front());
    CHECK_THAT(broken(plan), Contains("message 0 is sent twice"));
    plan = good(Operation::broadcast);
    plan.steps[3].clear();
    CHECK_THAT(broken(plan), Contains("is not both sent and taken"));
    plan = good(Operation::broadcast);
    plan.steps[0].push_back({99, true});
    CHECK_THAT(broken(plan), Contains("step for no message"));
    plan = good(Operation::scatter);
    plan.block_elements.pop_back();
    CHECK_THAT(broken(plan), Contains("blocks"));
    plan = good(Operation::reduce);
    plan.block_elements.clear();
    plan.ranges.clear();
    CHECK_FALSE(broken(plan).empty());
}

TEST_CASE("members that wait for each other are found") {
    Plan plan = good(Operation::all_reduce, 2, Pattern::butterfly);
    for (auto& steps : plan.steps) std::swap(steps[0], steps[1]);
    CHECK_THAT(broken(plan), Contains("waits for member") && Contains("for ever"));
}

TEST_CASE("what is sent too early, twice, or to the wrong one is found") {
    Plan plan = good(Operation::broadcast); // 0 to 2, 0 to 1, 2 to 3
    REQUIRE(plan.steps[2].size() == 2);
    std::swap(plan.steps[2][0], plan.steps[2][1]);
    CHECK_THAT(broken(plan), Contains("does not have it"));

    plan = good(Operation::scatter);
    plan.operation = Operation::broadcast;
    CHECK_THAT(broken(plan), Contains("never gets block"));

    plan = good(Operation::all_gather, 4, Pattern::ring);
    plan.ranges.back() = plan.ranges.front();
    CHECK_FALSE(broken(plan).empty());

    plan = good(Operation::reduce);
    for (Message& each : plan.messages) each.merge = Merge::store;
    CHECK_THAT(broken(plan), Contains("a part of the outcome replaces another"));

    plan = good(Operation::gather);
    plan.messages[0].merge = Merge::after;
    CHECK_THAT(broken(plan), Contains("only to be moved"));

    // The third round of a butterfly for four.
    plan = good(Operation::all_reduce, 4, Pattern::butterfly);
    const Message again = plan.messages.back();
    plan.messages.push_back(again);
    const auto number = static_cast<std::uint32_t>(plan.messages.size() - 1);
    plan.steps[again.from].push_back({number, true});
    plan.steps[again.to].push_back({number, false});
    CHECK_THAT(broken(plan), Contains("would count twice"));

    plan = good(Operation::barrier, 5, Pattern::bruck);
    CHECK(broken(plan).empty());
    for (auto& steps : plan.steps) steps.resize(4);
    plan.messages.resize(10);
    CHECK_THAT(broken(plan), Contains("cannot know"));
}

TEST_CASE("a proof says whether contributions come in the order of ranks") {
    Plan plan = good(Operation::reduce);
    CHECK(prove(plan).rank_order);
    plan.messages.back().merge = Merge::before;
    CHECK(prove(plan));
    CHECK_FALSE(prove(plan).rank_order);
}

TEST_CASE("plans changed by chance are proved only if they still work on data") {
    Random random(31);
    int still_right = 0;
    int refused = 0;
    for (int draw = 0; draw < 4000; ++draw) {
        const Operation operation = std::vector{Operation::broadcast, Operation::gather,
                                                Operation::all_gather, Operation::all_reduce}[random() % 4];
        const Pattern pattern =
            std::vector{Pattern::binomial, Pattern::tree, Pattern::butterfly}[random() % 3];
        if (!supports(pattern, operation)) continue;
        const auto members = static_cast<Rank>(2 + random() % 6);
        Plan plan =
            plexus::eco::plan({operation, members, 0, 6, 8, true}, {pattern, 2, 0, random() % 2 * 1000});
        auto& steps = plan.steps[random() % members];
        Message& message = plan.messages[random() % plan.messages.size()];
        switch (random() % 4) {
        case 0:
            std::swap(steps[random() % steps.size()], steps[random() % steps.size()]);
            break;
        case 1:
            message.first_range = static_cast<std::uint32_t>(random() % plan.ranges.size());
            break;
        case 2:
            message.merge = Merge::store;
            break;
        case 3:
            std::swap(message.first_range, plan.messages[random() % plan.messages.size()].first_range);
            break;
        }
        const bool proved = prove(plan).broken.empty();
        ++(proved ? still_right : refused);
        if (!proved) continue;
        const std::size_t blocks = plan.block_elements.size();
        Data data(members, std::vector<std::optional<std::string>>(blocks));
        const bool reduction = operation == Operation::all_reduce;
        for (Rank member = 0; member < members; ++member)
            for (std::size_t block = 0; block < blocks; ++block)
                if (reduction || (operation == Operation::broadcast ? member == 0 : member == block))
                    data[member][block] = std::string(1, static_cast<char>('a' + member));
        const Data after = run_on(plan, data, random);
        for (Rank member = 0; member < members; ++member)
            for (std::size_t block = 0; block < blocks; ++block) {
                if (operation == Operation::gather && member != 0) continue;
                std::string got = after[member][block].value_or("");
                std::sort(got.begin(), got.end());
                std::string due;
                for (Rank each = 0; each < members; ++each) due += static_cast<char>('a' + each);
                if (operation == Operation::broadcast) due = "a";
                if (operation == Operation::gather || operation == Operation::all_gather)
                    due = std::string(1, static_cast<char>('a' + block));
                if (got != due) FAIL("draw " << draw << ": proved, and member " << member << " has " << got);
            }
    }
    CHECK(still_right > 100);
    CHECK(refused > 1000);
}

} // namespace prove_test
