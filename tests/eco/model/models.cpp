// SPDX-License-Identifier: BSD-3-Clause
// Models of a message by hand, predictions of operations, and what parameters are refused.
#include "support/catch.h"

#include "eco/model/words.h"
#include "plexus/eco/model.h"
#include "plexus/error.h"

#include <cmath>
#include <limits>
#include <string>

namespace models_test {

using namespace plexus::eco;
using plexus::testing::words_of;

namespace {

PLogP sampled() { return {2, {{10, 1, 1, 4}, {20, 1, 2, 6}, {40, 2, 3, 16}}}; }

std::vector<Model> all_models() {
    return {Hockney{1, 10},
            LogP{5, 1, 2, 100},
            LogGP{5, 1, 2, 0.5},
            LoPC{{5, 1, 2, 100}, 7},
            LoGPC{{5, 1, 2, 0.5}, 3, 4},
            sampled(),
            Cappello{{1, 2}, {{3, 10}, {30, 1}}},
            Steffenel{{sampled(), {50, {{1, 0, 0, 9}}}}},
            Lastovetsky{{{1, 0.25}, {2, 0.5}}, 3, 10}};
}

std::string refusal(const Model& model) {
    return words_of([&] { check(model); });
}

template <class Work>
void check_words(const Work& work, const std::string& part) {
    INFO(part);
    CHECK(words_of(work).find(part) != std::string::npos);
}

void check_refused(const Model& model, const std::string& part) {
    check_words([&] { check(model); }, part);
    check_words([&] { cost(model, {8}); }, part);
}

} // namespace

TEST_CASE("each model predicts a message as its formula says") {
    CHECK(predict_s(Hockney{1, 10}, {40}) == 1 + 4);
    CHECK(predict_s(LogP{5, 1, 2, 100}, {100}) == 5 + 2);
    CHECK(predict_s(LogP{5, 1, 2, 100}, {101}) == 5 + 2 + 2);
    CHECK(cost(LogP{5, 1, 2, 100}, {0}).spacing_s == 2);
    CHECK(cost(LogP{5, 1, 2, 100}, {250}).spacing_s == 3 * 2);
    CHECK(cost(LogP{5, 4, 2, 100}, {250}).spacing_s == 3 * 4);
    CHECK(predict_s(LogGP{5, 1, 2, 0.5}, {11}) == 5 + 2 + 10 * 0.5);
    CHECK(cost(LogGP{5, 1, 2, 0.5}, {11}).spacing_s == 2 + 10 * 0.5);
    CHECK(predict_s(LoPC{{5, 1, 2, 100}, 7}, {101}) == 9 + 7);
    CHECK(predict_s(LoGPC{{5, 1, 2, 0.5}, 3, 4}, {11}) == 12 + 3 + 4);
    CHECK(predict_s(Cappello{{1, 2}, {{3, 10}, {30, 1}}}, {40, 0, 0, 1}) == 1 + 3 + 4 + 2);
    CHECK(predict_s(Cappello{{1, 2}, {{3, 10}, {30, 1}}}, {40, 1, 1, 1}) == 2 + 30 + 40 + 2);
    CHECK(predict_s(Lastovetsky{{{1, 0.25}, {2, 0.5}}, 3, 10}, {40, 0, 0, 1}) == (1 + 10) + 3 + 4 + (2 + 20));
    CHECK(cost(Lastovetsky{{{1, 0.25}, {2, 0.5}}, 3, 10}, {40, 0, 1, 0}).spacing_s == 2 + 20);
}

TEST_CASE("pLogP's gap lies on lines between its samples, level below them and not falling above") {
    const auto gap = [](std::uint64_t bytes) { return cost(sampled(), {bytes}).spacing_s; };
    CHECK(gap(0) == 4);
    CHECK(gap(10) == 4);
    CHECK(gap(15) == 5);
    CHECK(gap(20) == 6);
    CHECK(gap(30) == 11);
    CHECK(gap(60) == 26);
    CHECK(sampled().at(15).receive_overhead_s == 1.5);
    const PLogP falling{2, {{10, 0, 0, 9}, {20, 0, 0, 3}}};
    CHECK(cost(falling, {15}).spacing_s == 6);
    CHECK(cost(falling, {1000}).spacing_s == 3);
    const PLogP one{2, {{10, 0, 0, 9}}};
    CHECK(cost(one, {1000}).spacing_s == 9);
    const Steffenel levels{{sampled(), one}};
    CHECK(predict_s(levels, {15, 0}) == 7);
    CHECK(predict_s(levels, {15, 1}) == 11);
}

TEST_CASE("facts are the rows of the paper's Table 1") {
    const char* const names[] = {"hockney", "logp",     "loggp",     "lopc",       "logpc",
                                 "plogp",   "cappello", "steffenel", "lastovetsky"};
    const auto models = all_models();
    REQUIRE(models.size() == std::variant_size_v<Model>);
    for (std::size_t place = 0; place < models.size(); ++place) {
        const ModelFacts row = facts(models[place]);
        INFO(names[place]);
        CHECK(row.name == names[place]);
        CHECK(!row.source.empty());
        CHECK(row.contention == (place == 3 || place == 4));
        CHECK(row.hierarchical == (place >= 5 && place <= 7));
        CHECK(row.heterogeneous == (place >= 5));
    }
}

TEST_CASE("every model predicts every operation by every pattern: finite, and nothing for one member") {
    for (const Model& model : all_models())
        for (const Operation operation : kOperations)
            for (const Pattern pattern : kPatterns) {
                if (!supports(pattern, operation)) continue;
                INFO(facts(model).name << " " << to_string(operation) << " " << to_string(pattern));
                for (const std::uint64_t elements : {0, 1, 1000}) {
                    CHECK(predict_s(model, {operation, 1, 0, elements, 1, true}, {pattern}) == 0);
                    for (const Rank members : {2U, 5U, 8U}) {
                        const double time =
                            predict_s(model, {operation, members, 0, elements, 1, true}, {pattern});
                        CHECK(std::isfinite(time));
                        CHECK(time > 0);
                    }
                }
            }
}

TEST_CASE("a reduction is a broadcast in reverse, and a root takes in one message after another") {
    const Model model = Hockney{1, 10};
    for (const Pattern pattern : {Pattern::star, Pattern::binomial})
        for (const Rank members : {2U, 4U, 7U, 16U}) {
            INFO(to_string(pattern) << " " << members);
            CHECK(predict_s(model, {Operation::reduce, members, 0, 40, 1, true}, {pattern}) ==
                  Approx(predict_s(model, {Operation::broadcast, members, 0, 40, 1, true}, {pattern})));
        }
    CHECK(predict_s(model, {Operation::gather, 5, 0, 40, 1, true}, {Pattern::star}) == Approx(1 + 4 * 4));
    CHECK(predict_s(model, {Operation::all_gather, 5, 0, 40, 1, true}, {Pattern::ring}) ==
          Approx(4 * (1 + 4)));
}

TEST_CASE("parameters that are missing, negative or not finite are refused by name") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double inf = std::numeric_limits<double>::infinity();
    for (const Model& model : all_models()) CHECK(refusal(model) == "taken");
    check_refused(Hockney{-1, 10}, "hockney: latency_s is -1");
    check_refused(Hockney{1, 0}, "hockney: bytes_per_s is 0");
    check_refused(LogP{nan, 1, 2, 100}, "logp: latency_s is nan");
    check_refused(LogP{5, 1, 2, 0}, "logp: packet_bytes is 0");
    check_refused(LogGP{5, 1, 2, inf}, "loggp: gap_s_per_byte is inf");
    check_refused(LoPC{{5, 1, 2, 100}, -1}, "lopc: receiver_wait_s");
    check_refused(LoGPC{{5, 1, 2, 0.5}, nan, 4}, "network_wait_s");
    check_refused(PLogP{2, {}}, "there are no samples");
    check_refused(PLogP{2, {{10, 0, 0, 1}, {10, 0, 0, 2}}}, "10 B stands after 10 B");
    check_refused(PLogP{2, {{10, 3, 0, 1}}}, "shorter than an overhead");
    check_refused(Cappello{{}, {{3, 10}}}, "there are no processors");
    check_refused(Cappello{{1}, {{3, -1}}}, "cappello: bytes_per_s is -1");
    check_refused(Steffenel{}, "there are no levels");
    check_refused(Steffenel{{{2, {}}}}, "there are no samples");
    check_refused(Lastovetsky{{{1, -0.25}}, 3, 10}, "s_per_byte is -0.25");
    check_words([] { cost(Cappello{{1}, {{3, 10}}}, {8, 1, 0, 0}); }, "level 1 is not among its 1");
    check_words([] { cost(Lastovetsky{{{1, 0}}, 3, 10}, {8, 0, 0, 4}); }, "processor 4");
    CHECK_THROWS_AS(PLogP{}.at(1), plexus::Error);
}

TEST_CASE("times and bandwidths that would leave the range of numbers are refused, and others never do") {
    check_refused(Hockney{1e300, 10}, "hockney: latency_s is 1e+300: it is not negative, and at most 1e+15");
    check_refused(Hockney{1, 1e-300}, "hockney: bytes_per_s is 1e-300");
    check_refused(Hockney{1, 1e300}, "hockney: bytes_per_s is 1e+300");
    check_refused(LogP{1, 1, 1e308, 1}, "logp: gap_s is 1e+308");
    check_refused(LogGP{1, 1, 1, 1e300}, "loggp: gap_s_per_byte is 1e+300");
    check_refused(PLogP{1, {{0, 0, 0, 1e300}}}, "plogp: gap_s is 1e+300");
    const double most = 1e15;
    for (const Model& model :
         {Model{Hockney{most, 1e-15}}, Model{Hockney{most, 1e18}}, Model{LogP{most, most, most, 1}},
          Model{LogGP{most, most, most, most}}, Model{PLogP{most, {{0, 0, 0, 0}, {1, most, most, most}}}}}) {
        const LinkCost of_most = cost(model, {std::numeric_limits<std::uint64_t>::max()});
        CHECK(std::isfinite(of_most.spacing_s));
        CHECK(std::isfinite(of_most.message_s()));
    }
}

} // namespace models_test
