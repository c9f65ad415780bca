// SPDX-License-Identifier: BSD-3-Clause
// Plans run on data, members taking turns at random, against what the operation means.
#include "eco/plan/run_plan.h"
#include "support/catch.h"

namespace run_plan_test {

using namespace plexus::eco;
using namespace plexus::testing;

namespace {

std::string contribution(Rank member, std::size_t block) {
    return "<" + std::to_string(member) + ":" + std::to_string(block) + ">";
}

Data before(const Plan& plan) {
    const std::size_t blocks = plan.block_elements.size();
    Data data(plan.members, std::vector<std::optional<std::string>>(blocks));
    for (Rank member = 0; member < plan.members; ++member)
        for (std::size_t block = 0; block < blocks; ++block) {
            bool has = true;
            if (plan.operation == Operation::broadcast || plan.operation == Operation::scatter)
                has = member == plan.root;
            if (plan.operation == Operation::gather || plan.operation == Operation::all_gather)
                has = member == block;
            if (plan.operation == Operation::all_to_all) has = block / plan.members == member;
            if (has) data[member][block] = contribution(member, block);
        }
    return data;
}

/// Letters of a reduction in any order, where the order is free.
std::string sorted_contributions(std::string text) {
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('>', at) + 1;
        pieces.push_back(text.substr(at, end - at));
        at = end;
    }
    std::sort(pieces.begin(), pieces.end());
    std::string out;
    for (const std::string& piece : pieces) out += piece;
    return out;
}

/// What is wrong with the outcome; empty: nothing.
std::string wrong(const Plan& plan, const Data& data, bool in_order) {
    for (Rank member = 0; member < plan.members; ++member)
        for (std::size_t block = 0; block < plan.block_elements.size(); ++block) {
            std::string expected;
            bool due = true;
            bool combined = false;
            switch (plan.operation) {
            case Operation::broadcast:
                expected = contribution(plan.root, block);
                break;
            case Operation::scatter:
                expected = contribution(plan.root, block);
                due = member == block;
                break;
            case Operation::gather:
                expected = contribution(static_cast<Rank>(block), block);
                due = member == plan.root;
                break;
            case Operation::all_gather:
                expected = contribution(static_cast<Rank>(block), block);
                break;
            case Operation::all_to_all:
                expected = contribution(static_cast<Rank>(block / plan.members), block);
                due = block % plan.members == member;
                break;
            case Operation::scan:
            case Operation::exclusive_scan:
                due = plan.operation == Operation::scan || member > 0;
                for (Rank each = 0; each < member + (plan.operation == Operation::scan ? 1 : 0); ++each)
                    expected += contribution(each, block);
                break;
            default:
                combined = true;
                due = plan.operation == Operation::all_reduce ||
                      member == (plan.operation == Operation::reduce ? plan.root : block);
                for (Rank each = 0; each < plan.members; ++each) expected += contribution(each, block);
            }
            if (!due) continue;
            const auto& got = data[member][block];
            if (!got) return "member " + std::to_string(member) + " lacks block " + std::to_string(block);
            const bool same = combined && !in_order
                                  ? sorted_contributions(*got) == sorted_contributions(expected)
                                  : *got == expected;
            if (!same) return "member " + std::to_string(member) + " has " + *got + " instead of " + expected;
        }
    return {};
}

} // namespace

TEST_CASE("every pattern does on data what the operation means, in whatever order members get on") {
    Random random(30);
    for (const Operation operation : kOperations)
        for (const Pattern pattern : kPatterns) {
            if (!supports(pattern, operation) || operation == Operation::barrier) continue;
            for (int draw = 0; draw < 40; ++draw) {
                const auto members = static_cast<Rank>(1 + random() % 24);
                const PlanRequest request{
                    operation,     members, static_cast<Rank>(random() % members),
                    random() % 40, 8,       pattern == Pattern::ring || random() % 2 == 0};
                const AlgorithmOptions shape{pattern, static_cast<std::uint32_t>(1 + random() % 4),
                                             random() % 3 * 32, random() % 2 * 100'000};
                const Plan made = plan(request, shape);
                INFO(to_string(pattern)
                     << " " << to_string(operation) << ", root " << request.root << " of " << members);
                CHECK(wrong(made, run_on(made, before(made), random), !request.commutative).empty());
                CHECK(prove(made));
            }
        }
}

} // namespace run_plan_test
