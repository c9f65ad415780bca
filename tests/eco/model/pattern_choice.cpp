// SPDX-License-Identifier: BSD-3-Clause
// Poly-adapt-2: what competes, which ends first, and the paper's Table 4 from data of its Table 2.
#include "support/catch.h"

#include "eco/model/samples.h"
#include "eco/model/words.h"
#include "plexus/eco/fit.h"
#include "plexus/eco/pattern_choice.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace pattern_choice_test {

using namespace plexus::eco;
using plexus::testing::doubled_sizes;
using plexus::testing::messages_by;
using plexus::testing::occupancy_by;
using plexus::testing::words_of;

namespace {

PlanRequest broadcast(Rank members, std::uint64_t bytes, Rank root = 0) {
    return {Operation::broadcast, members, root, bytes, 1, true};
}

std::vector<Pattern> patterns_of(const std::vector<PatternTime>& all) {
    std::vector<Pattern> out;
    for (const PatternTime& each : all) out.push_back(each.options.pattern);
    return out;
}

bool has(const std::vector<PatternTime>& all, Pattern pattern) {
    const auto patterns = patterns_of(all);
    return std::find(patterns.begin(), patterns.end(), pattern) != patterns.end();
}

PatternTime chain_of(const std::vector<PatternTime>& all) {
    return *std::find_if(all.begin(), all.end(),
                         [](const PatternTime& each) { return each.options.pattern == Pattern::chain; });
}

} // namespace

TEST_CASE("every pattern that suits an operation competes, with the time of its plan") {
    const Model model = LogGP{30e-6, 1e-6, 9e-6, 8e-9};
    for (const Operation operation : kOperations)
        for (const Rank members : {1U, 2U, 3U, 9U, 16U})
            for (const std::uint64_t bytes : {0, 1, 100, 100000}) {
                const PlanRequest request{operation, members, members / 2, bytes, 1, true};
                const auto all = predict_patterns(model, request);
                INFO(to_string(operation) << " of " << bytes << " among " << members);
                for (const Pattern pattern : kPatterns)
                    CHECK(has(all, pattern) == supports(pattern, operation));
                for (const PatternTime& each : all) {
                    CHECK(each.time_s == predict_s(model, request, each.options));
                    CHECK(earliest(all).time_s <= each.time_s * (1 + 1e-9));
                    CHECK((each.time_s == 0) == (members == 1));
                }
                CHECK(predict_patterns(model, request).size() == all.size());
            }
}

TEST_CASE(
    "trees of several arities compete as far as they are no stars, and both butterflies of all_reduce") {
    const Model model = Hockney{1e-5, 1e8};
    const auto arities = [&](Rank members) {
        std::vector<std::uint32_t> out;
        for (const PatternTime& each : predict_patterns(model, broadcast(members, 1000)))
            if (each.options.pattern == Pattern::tree) out.push_back(each.options.arity);
        return out;
    };
    CHECK(arities(20) == std::vector<std::uint32_t>{2, 3, 4, 8});
    CHECK(arities(5) == std::vector<std::uint32_t>{2, 3});
    CHECK(arities(2) == std::vector<std::uint32_t>{2});
    const auto butterflies = [&](Operation operation) {
        const auto patterns = patterns_of(predict_patterns(model, {operation, 8, 0, 100000, 1, true}));
        return std::count(patterns.begin(), patterns.end(), Pattern::butterfly);
    };
    CHECK(butterflies(Operation::all_reduce) == 2);
    CHECK(butterflies(Operation::broadcast) == 1);
}

TEST_CASE("a chain has the best of all segments of powers of two, and one segment where that is as good") {
    const Model model = Hockney{1e-5, 1e8};
    for (const std::uint64_t bytes : {1000, 65536, 524288, 600001}) {
        const PlanRequest request = broadcast(20, bytes);
        const PatternTime chain = chain_of(predict_patterns(model, request));
        const std::uint64_t segment = chain.options.segment_bytes;
        INFO(bytes << " in segments of " << segment);
        CHECK((std::has_single_bit(segment) || segment == bytes));
        for (std::uint64_t other = 256; other <= 2 * bytes; other *= 2)
            CHECK(chain.time_s <= predict_s(model, request, {Pattern::chain, 2, other}) * (1 + 1e-9));
    }
    CHECK(chain_of(predict_patterns(model, broadcast(2, 65536))).options.segment_bytes == 65536);
    CHECK(chain_of(predict_patterns(model, broadcast(20, 0))).options.segment_bytes == 1);
    CHECK(chain_of(predict_patterns(model, broadcast(20, 1))).options.segment_bytes == 1);
    // Of operations with a block for each member there are no segments.
    CHECK(
        chain_of(predict_patterns(model, {Operation::scatter, 5, 0, 65536, 1, true})).options.segment_bytes ==
        65536);
}

TEST_CASE("patterns that end together are taken in their order") {
    CHECK(earliest({{{Pattern::star}, 2}, {{Pattern::chain}, 1}, {{Pattern::ring}, 1}}).options.pattern ==
          Pattern::chain);
    CHECK(earliest({{{Pattern::star}, 1}, {{Pattern::chain}, 1 - 1e-12}}).options.pattern == Pattern::star);
    CHECK(earliest({{{Pattern::star}, 1}, {{Pattern::chain}, 1 - 1e-6}}).options.pattern == Pattern::chain);
    // Two members have one message by any pattern.
    CHECK(earliest(predict_patterns(Hockney{1, 10}, broadcast(2, 100))).options.pattern == Pattern::star);
    CHECK(earliest(predict_patterns(Hockney{1, 10}, broadcast(1, 100))).time_s == 0);
}

TEST_CASE(
    "a star wins where messages are short and far, and scatter with all-gather for long ones in few hops") {
    CHECK(earliest(predict_patterns(Hockney{1, 1e9}, broadcast(9, 8))).options.pattern == Pattern::star);
    const Model slow_start = LogGP{1e-3, 0, 1e-3, 1e-7};
    const auto large = predict_patterns(slow_start, broadcast(64, 1 << 20));
    CHECK(earliest(large).options.pattern == Pattern::butterfly);
    CHECK(
        earliest(predict_patterns(slow_start, {Operation::all_reduce, 64, 0, 8, 1, true})).options.pattern ==
        Pattern::butterfly);
}

TEST_CASE("a slow processor counts where the model knows it") {
    // Member 1 needs a second for each message: nobody leaves anything to it.
    const Model model = Cappello{{0, 1, 0, 0, 0, 0, 0, 0}, {{1e-3, 1e6}}};
    const auto time = [&](Rank root) {
        return predict_s(model, broadcast(8, 100, root), {Pattern::binomial});
    };
    CHECK(time(0) < 2);
    CHECK(time(1) >= 3);
    CHECK(time(0) >= 1);
    const Model short_of = Cappello{{0, 1}, {{1e-3, 1e6}}};
    CHECK(predict_s(short_of, broadcast(8, 100, 1), {Pattern::binomial}) < 1);
}

TEST_CASE("large clusters are served without patterns of P - 1 rounds, unless nothing else is there") {
    const Model model = Hockney{1e-5, 1e8};
    CHECK(has(predict_patterns(model, broadcast(128, 1000)), Pattern::ring));
    CHECK(!has(predict_patterns(model, broadcast(129, 1000)), Pattern::ring));
    CHECK(!predict_patterns(model, broadcast(300, 1 << 20)).empty());
}

TEST_CASE("an all_to_all of large blocks goes by pairs above 128 members as below") {
    const Model model = Hockney{1e-5, 1e8};
    const auto fastest = [&](Rank members) {
        return earliest(predict_patterns(model, {Operation::all_to_all, members, 0, 65536, 1, true}));
    };
    const PatternTime few = fastest(128);
    for (const Rank members : {Rank{129}, Rank{200}}) {
        const PatternTime more = fastest(members);
        CHECK(to_string(more.options.pattern) == to_string(Pattern::pairwise));
        CHECK(more.time_s == Approx(few.time_s * (members - 1) / 127).epsilon(0.01));
    }
    // Small blocks go in few messages.
    CHECK(earliest(predict_patterns(model, {Operation::all_to_all, 129, 0, 1, 1, true})).options.pattern !=
          Pattern::pairwise);
}

TEST_CASE("requests and models that make no sense are refused, and reductions in order have no ring") {
    const Model model = Hockney{1e-5, 1e8};
    CHECK(words_of([&] { predict_patterns(model, broadcast(0, 1)); }) != "taken");
    CHECK(words_of([&] { predict_patterns(model, broadcast(4, 1, 4)); }) != "taken");
    CHECK(words_of([&] {
              predict_patterns(Hockney{-1, 1}, broadcast(4, 1));
          }).find("latency_s is -1") != std::string::npos);
    CHECK(!has(predict_patterns(model, {Operation::all_reduce, 6, 0, 100, 1, false}), Pattern::ring));
}

// Table 2: latency in us and members of each cluster; 1 Gb/s: 10 us and 8 ns a byte between two messages.
TEST_CASE("Table 4 by both steps: binomial inside every cluster of Grid'5000 at 8 kB, pipeline at 512 kB") {
    struct Cluster {
        double latency_us;
        Rank members;
    };
    const auto sizes = doubled_sizes(8, 1 << 20);
    for (const Cluster& cluster : {Cluster{48.39, 20}, Cluster{35.52, 11}, Cluster{60.08, 7},
                                   Cluster{26.94, 20}, Cluster{35.04, 19}}) {
        const Model real = LogGP{cluster.latency_us * 1e-6 + 10e-6, 0, 10e-6, 8e-9};
        for (const bool has_gaps : {false, true}) {
            Sample sample;
            sample.messages = messages_by(real, sizes, 3);
            if (has_gaps) sample.occupancy = occupancy_by(real, sizes, 0);
            for (const auto& [bytes, pattern] : {std::pair{std::uint64_t{8192}, Pattern::binomial},
                                                 {std::uint64_t{524288}, Pattern::chain}}) {
                const auto models = fits(sample);
                const auto place = choose(models, bytes);
                REQUIRE(place);
                const auto all = predict_patterns(*models[*place].model, broadcast(cluster.members, bytes));
                INFO(cluster.latency_us << " us, " << cluster.members << " members, " << bytes << " B by "
                                        << to_string(models[*place].kind));
                CHECK(to_string(earliest(all).options.pattern) == to_string(pattern));
            }
        }
    }
}

} // namespace pattern_choice_test
