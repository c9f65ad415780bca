// SPDX-License-Identifier: BSD-3-Clause
// Every pattern for every operation it suits, for 1 to 200 members and every root: everyone
// gets what is due, once, in an order that can happen.
#include "support/catch.h"

#include "plexus/eco/plan.h"
#include "plexus/error.h"

#include <bit>

namespace patterns_test {

using namespace plexus::eco;
using Catch::Matchers::Contains;

namespace {

constexpr Rank kMostMembers = 200;

bool has_root(Operation operation) {
    return operation == Operation::broadcast || operation == Operation::scatter ||
           operation == Operation::gather || operation == Operation::reduce;
}

/// Proves plans for all sizes; the first failure is the test's. Every root for up to 50
/// members and for every tenth size above, else three. Patterns without a tree have as many
/// messages as members squared: of those every root for up to 30.
void prove_all(const AlgorithmOptions& shape, Operation operation, std::uint64_t elements,
               bool commutative = true) {
    const bool square = shape.pattern == Pattern::ring || shape.pattern == Pattern::butterfly;
    for (Rank members = 1; members <= kMostMembers; ++members) {
        const bool every = square ? members <= 30 : members <= 50 || members % 10 == 0;
        const bool few = !has_root(operation) || !every;
        const std::vector<Rank> some{0, members / 3, members - 1};
        const Rank roots = few ? static_cast<Rank>(has_root(operation) ? some.size() : 1) : members;
        for (Rank at = 0; at < roots; ++at) {
            const PlanRequest request{operation, members, few ? some[at] : at, elements, 8, commutative};
            const Plan made = plan(request, shape);
            const Proof proof = prove(made);
            if (!proof)
                FAIL(to_string(shape.pattern) << " " << to_string(operation) << ", root " << request.root
                                              << " of " << members << ": " << proof.broken);
            const bool ordered = operation == Operation::reduce || operation == Operation::all_reduce ||
                                 operation == Operation::reduce_scatter;
            if (!commutative && ordered && !proof.rank_order)
                FAIL(to_string(shape.pattern) << " " << to_string(operation) << ", root " << request.root
                                              << " of " << members << " is not in the order of ranks");
        }
    }
}

std::size_t messages(Operation operation, Rank members, const AlgorithmOptions& shape) {
    return plan({operation, members, 0, 64, 8, true}, shape).messages.size();
}

/// Steps of the member that has most.
std::size_t most_steps(const Plan& plan) {
    std::size_t most = 0;
    for (const auto& steps : plan.steps) most = std::max(most, steps.size());
    return most;
}

} // namespace

TEST_CASE("trees serve every operation but scans") {
    for (const Operation operation : kOperations) {
        if (!supports(Pattern::star, operation)) continue;
        prove_all({Pattern::star}, operation, 3);
        prove_all({Pattern::binomial}, operation, 3);
        for (const std::uint32_t arity : {2, 3}) prove_all({Pattern::tree, arity}, operation, 3);
    }
}

TEST_CASE("a chain serves every operation, vectors in segments") {
    for (const Operation operation : kOperations) prove_all({Pattern::chain, 2, 16}, operation, 10);
}

TEST_CASE("a ring, a butterfly, Bruck's rounds and pairs serve the operations they suit") {
    for (const Pattern pattern : {Pattern::ring, Pattern::butterfly, Pattern::bruck, Pattern::pairwise})
        for (const Operation operation : kOperations)
            if (supports(pattern, operation)) prove_all({pattern, 2, 0, 0}, operation, 5);
    prove_all({Pattern::butterfly, 2, 0, UINT64_MAX}, Operation::all_reduce, 5);
}

TEST_CASE("contributions are combined in the order of ranks where that is asked for") {
    for (const Operation operation : {Operation::reduce, Operation::all_reduce}) {
        for (const Pattern pattern : {Pattern::star, Pattern::tree, Pattern::binomial, Pattern::chain})
            prove_all({pattern, 3, 16}, operation, 4, false);
        for (const std::uint64_t halve_from : {std::uint64_t{0}, UINT64_MAX})
            prove_all({Pattern::butterfly, 2, 0, halve_from}, operation, 5, false);
    }
    for (const Pattern pattern : {Pattern::star, Pattern::tree, Pattern::binomial, Pattern::chain,
                                  Pattern::butterfly, Pattern::pairwise})
        prove_all({pattern, 3, 16}, Operation::reduce_scatter, 4, false);
    CHECK_THROWS_WITH(plan({Operation::all_reduce, 4, 0, 8, 8, false}, {Pattern::ring}), Contains("order"));
}

TEST_CASE("patterns send as many messages as the books say") {
    CHECK(messages(Operation::broadcast, 13, {Pattern::binomial}) == 12);
    CHECK(messages(Operation::broadcast, 13, {Pattern::chain, 2, 64}) == 12 * 8);
    CHECK(messages(Operation::all_gather, 13, {Pattern::ring}) == 13 * 12);
    CHECK(messages(Operation::all_gather, 13, {Pattern::bruck}) == 13 * 4);
    CHECK(messages(Operation::all_to_all, 16, {Pattern::pairwise}) == 16 * 15);
    CHECK(messages(Operation::all_reduce, 16, {Pattern::butterfly, 2, 0, UINT64_MAX}) == 16 * 4);
    CHECK(messages(Operation::all_reduce, 16, {Pattern::butterfly, 2, 0, 0}) == 16 * 8);
    CHECK(messages(Operation::barrier, 100, {Pattern::bruck}) == 100 * 7);
    CHECK(messages(Operation::reduce_scatter, 16, {Pattern::butterfly}) == 16 * 4);
    CHECK(messages(Operation::reduce_scatter, 13, {Pattern::ring}) == 13 * 12);
    CHECK(messages(Operation::scan, 16, {Pattern::bruck}) == 15 + 14 + 12 + 8);
    CHECK(messages(Operation::exclusive_scan, 13, {Pattern::chain, 2, 64}) == 12 + 11 * 8);
    for (const Rank members : {2u, 7u, 64u, 200u}) {
        const auto rounds = static_cast<std::size_t>(std::bit_width(members - 1));
        CHECK(most_steps(plan({Operation::all_to_all, members, 0, 1, 1, true}, {Pattern::bruck})) ==
              2 * rounds);
        CHECK(most_steps(plan({Operation::broadcast, members, 0, 1, 1, true}, {Pattern::binomial})) ==
              rounds);
    }
}

TEST_CASE("a task that makes no sense is refused") {
    CHECK_THROWS_WITH(plan({Operation::broadcast, 0, 0, 1, 1, true}, {}), Contains("at least one member"));
    CHECK_THROWS_WITH(plan({Operation::broadcast, 4, 4, 1, 1, true}, {}), Contains("no root 4 among 4"));
    CHECK_THROWS_WITH(plan({Operation::broadcast, 4, 0, 1, 0, true}, {}), Contains("at least one byte"));
    CHECK_THROWS_WITH(plan({Operation::gather, 4, 0, UINT64_MAX / 4, 2, true}, {}),
                      Contains("more than can be counted"));
    CHECK_THROWS_WITH(plan({Operation::all_to_all, 100'000, 0, 1, 1, true}, {}), Contains("too many"));
    CHECK_THROWS_WITH(plan({Operation::scatter, 4, 0, 1, 1, true}, {Pattern::bruck}),
                      Contains("makes no scatter"));
    CHECK_THROWS_WITH(plan({Operation::scatter, 4, 0, 1, 1, true}, {Pattern::tree, 0}), Contains("arity"));
}

TEST_CASE("a vector of fewer elements than parts has empty parts and is whole all the same") {
    for (const std::uint64_t elements : {0, 1, 5}) {
        const Plan made = plan({Operation::all_reduce, 9, 0, elements, 4, true}, {Pattern::ring});
        CHECK(prove(made));
        std::uint64_t sum = 0;
        for (const std::uint64_t each : made.block_elements) sum += each;
        CHECK(sum == elements);
    }
}

} // namespace patterns_test
