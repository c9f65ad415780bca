// SPDX-License-Identifier: BSD-3-Clause
// Poly-adapt-1: each model's parameters come back from data that the model made, each model describes its own
// data, and what a sample does not hold is said in words.
#include "support/catch.h"

#include "eco/model/samples.h"
#include "plexus/eco/fit.h"

#include <cmath>
#include <limits>
#include <random>
#include <string>

namespace fit_test {

using namespace plexus::eco;
using namespace plexus::testing;

namespace {

const std::vector<std::uint64_t> kSizes = doubled_sizes(8, 1 << 18);

const Hockney kHockney{30e-6, 1e8};
const LogP kLogP{20e-6, 2e-6, 9e-6, 1024};
const LogGP kLogGP{20e-6, 2e-6, 11e-6, 8e-9};
const LoPC kLoPC{kLogP, 40e-6};
const LoGPC kLoGPC{kLogGP, 30e-6, 50e-6};
const PLogP kPLogP{20e-6, {{8, 1e-6, 2e-6, 5e-6}, {1024, 1e-6, 2e-6, 9e-6}, {65536, 2e-6, 3e-6, 3e-3}}};
const Cappello kCappello{{0, 3e-6, 9e-6, 2e-6}, {{20e-6, 1e8}, {900e-6, 2e6}}};
const Steffenel kSteffenel{{kPLogP, {900e-6, {{8, 0, 0, 40e-6}, {4096, 0, 0, 80e-6}, {65536, 0, 0, 9e-3}}}}};
const Lastovetsky kLastovetsky{{{3e-6, 1e-9}, {0, 7e-9}, {9e-6, 0}, {2e-6, 2e-9}}, 20e-6, 1e8};

Sample plain(const Model& model, std::size_t processors = 2, std::size_t levels = 1) {
    Sample out;
    out.messages = messages_by(model, kSizes, processors, levels);
    return out;
}

Sample with_occupancy(const Model& model, double overhead_s, std::size_t levels = 1) {
    Sample out = plain(model, 2, levels);
    out.occupancy = occupancy_by(model, kSizes, overhead_s, levels);
    return out;
}

Sample with_load(const Model& loaded, const Model& free, double overhead_s) {
    Sample out;
    out.messages = messages_by(loaded, kSizes);
    out.unloaded = messages_by(free, kSizes);
    out.occupancy = occupancy_by(free, kSizes, overhead_s);
    return out;
}

Sample contended() {
    Sample out = with_load(kLoGPC, kLogGP, 2e-6);
    out.network_loaded = messages_by(LoGPC{kLogGP, kLoGPC.network_wait_s, 0}, kSizes);
    return out;
}

template <class Kind>
Kind fitted(ModelKind kind, const Sample& sample) {
    const ModelFit made = fit(kind, sample);
    INFO(made.words);
    REQUIRE(made.model);
    return std::get<Kind>(*made.model);
}

void check_alike(double found, double wanted) {
    INFO(found << " for " << wanted);
    CHECK(std::abs(found - wanted) <= 1e-6 * wanted + 1e-18);
}

void check_alike(const PLogP& found, const PLogP& wanted) {
    check_alike(found.latency_s, wanted.latency_s);
    for (const std::uint64_t bytes : kSizes) check_alike(found.at(bytes).gap_s, wanted.at(bytes).gap_s);
}

std::string words(ModelKind kind, const Sample& sample) {
    const ModelFit made = fit(kind, sample);
    CHECK(!made.model);
    CHECK(made.by_size.empty());
    return made.words;
}

void check_words(ModelKind kind, const Sample& sample, const std::string& part) {
    const std::string all = words(kind, sample);
    INFO(to_string(kind) << ": " << all);
    CHECK(all.find(part) != std::string::npos);
}

/// The one chosen over all sizes of the sample.
ModelKind chosen_of(const Sample& sample, std::uint64_t bytes) {
    const auto all = fits(sample);
    const auto place = choose(all, bytes);
    REQUIRE(place);
    return all[*place].kind;
}

} // namespace

TEST_CASE("kinds are the alternatives of a model, by their names") {
    const Model models[] = {kHockney, kLogP,     kLogGP,     kLoPC,       kLoGPC,
                            kPLogP,   kCappello, kSteffenel, kLastovetsky};
    for (std::size_t place = 0; place < std::size(models); ++place) {
        CHECK(facts(models[place]).name == to_string(kModelKinds[place]));
        CHECK(models[place].index() == static_cast<std::size_t>(kModelKinds[place]));
    }
}

TEST_CASE("Hockney, LogP and LogGP come back from their own data") {
    const auto hockney = fitted<Hockney>(ModelKind::hockney, plain(kHockney));
    check_alike(hockney.latency_s, kHockney.latency_s);
    check_alike(hockney.bytes_per_s, kHockney.bytes_per_s);
    for (const std::uint64_t packet : {0, 1024}) {
        Sample sample = with_occupancy(kLogP, kLogP.overhead_s);
        sample.packet_bytes = packet;
        const auto logp = fitted<LogP>(ModelKind::logp, sample);
        check_alike(logp.latency_s, kLogP.latency_s);
        check_alike(logp.overhead_s, kLogP.overhead_s);
        check_alike(logp.gap_s, kLogP.gap_s);
        CHECK(logp.packet_bytes == kLogP.packet_bytes);
    }
    const auto loggp = fitted<LogGP>(ModelKind::loggp, with_occupancy(kLogGP, kLogGP.overhead_s));
    check_alike(loggp.latency_s, kLogGP.latency_s);
    check_alike(loggp.overhead_s, kLogGP.overhead_s);
    check_alike(loggp.gap_s, kLogGP.gap_s);
    check_alike(loggp.gap_s_per_byte, kLogGP.gap_s_per_byte);
}

TEST_CASE("a size that ends within a packet has this packet too, and the median of two is their mean") {
    Sample packets;
    packets.packet_bytes = 1024;
    packets.messages = messages_by(kLogP, {8, 1000, 1024, 1025, 3000, 5000});
    check_alike(fitted<LogP>(ModelKind::logp, packets).gap_s, kLogP.gap_s);
    CHECK(fit(ModelKind::logp, packets).error < 1e-9);
    Sample pairs;
    pairs.messages = {{{8}, 2}, {{8}, 4}, {{16}, 4}, {{16}, 6}, {{24}, 6}, {{24}, 8}};
    const auto hockney = fitted<Hockney>(ModelKind::hockney, pairs); // 3, 5 and 7 s
    CHECK(hockney.latency_s == Approx(1));
    CHECK(hockney.bytes_per_s == Approx(4));
}

TEST_CASE("where all sizes are one packet, LogP's gap is the measured one") {
    Sample sample;
    sample.packet_bytes = 1024;
    sample.messages = messages_by(kLogP, {8, 64, 1024});
    check_words(ModelKind::logp, sample, "the gap between packets is not seen");
    sample.occupancy = occupancy_by(kLogP, {8, 64}, kLogP.overhead_s);
    const auto logp = fitted<LogP>(ModelKind::logp, sample);
    check_alike(logp.gap_s, kLogP.gap_s);
    check_alike(logp.latency_s, kLogP.latency_s);
}

TEST_CASE("the waits of LoPC and LoGPC are what load adds") {
    const auto lopc = fitted<LoPC>(ModelKind::lopc, with_load(kLoPC, kLogP, kLogP.overhead_s));
    check_alike(lopc.receiver_wait_s, kLoPC.receiver_wait_s);
    check_alike(lopc.free.gap_s, kLogP.gap_s);
    check_alike(lopc.free.latency_s, kLogP.latency_s);
    const auto logpc = fitted<LoGPC>(ModelKind::logpc, contended());
    check_alike(logpc.network_wait_s, kLoGPC.network_wait_s);
    check_alike(logpc.receiver_wait_s, kLoGPC.receiver_wait_s);
    check_alike(logpc.free.gap_s, kLogGP.gap_s);
    check_alike(logpc.free.latency_s, kLogGP.latency_s);
}

TEST_CASE("pLogP comes back for each level") {
    const Sample one = with_occupancy(kPLogP, 1e-6);
    const auto plogp = fitted<PLogP>(ModelKind::plogp, one);
    check_alike(plogp, kPLogP);
    check_alike(plogp.at(512).send_overhead_s, 1e-6);
    const auto steffenel = fitted<Steffenel>(ModelKind::steffenel, with_occupancy(kSteffenel, 1e-6, 2));
    REQUIRE(steffenel.levels.size() == 2);
    for (const std::size_t level : {0, 1}) check_alike(steffenel.levels[level], kSteffenel.levels[level]);
}

TEST_CASE("Cappello and Lastovetsky come back where the least processor takes no time") {
    const auto cappello = fitted<Cappello>(ModelKind::cappello, plain(kCappello, 4, 2));
    for (std::size_t place = 0; place < 4; ++place)
        check_alike(cappello.processing_s[place], kCappello.processing_s[place]);
    for (std::size_t level = 0; level < 2; ++level) {
        check_alike(cappello.levels[level].latency_s, kCappello.levels[level].latency_s);
        check_alike(cappello.levels[level].bytes_per_s, kCappello.levels[level].bytes_per_s);
    }
    const auto lastovetsky = fitted<Lastovetsky>(ModelKind::lastovetsky, plain(kLastovetsky, 4));
    for (std::size_t place = 0; place < 4; ++place) {
        check_alike(lastovetsky.processors[place].fixed_s, kLastovetsky.processors[place].fixed_s);
        check_alike(lastovetsky.processors[place].s_per_byte, kLastovetsky.processors[place].s_per_byte);
    }
    check_alike(lastovetsky.latency_s, kLastovetsky.latency_s);
    check_alike(lastovetsky.bytes_per_s, kLastovetsky.bytes_per_s);
}

// Mean waits are part of a latency for LogP and LogGP; without gaps LogGP is a line over sizes, as Hockney
// is.
TEST_CASE("each model is chosen on its own data, or a cheaper one that describes the same") {
    CHECK(chosen_of(with_occupancy(kHockney, 0), 4096) == ModelKind::hockney);
    CHECK(chosen_of(with_occupancy(kLogP, kLogP.overhead_s), 4096) == ModelKind::logp);
    CHECK(chosen_of(with_load(kLoPC, kLogP, kLogP.overhead_s), 4096) == ModelKind::logp);
    CHECK(chosen_of(with_occupancy(kPLogP, 1e-6), 4096) == ModelKind::plogp);
    CHECK(chosen_of(plain(kCappello, 4, 2), 4096) == ModelKind::cappello);
    CHECK(chosen_of(with_occupancy(kSteffenel, 1e-6, 2), 4096) == ModelKind::steffenel);
    CHECK(chosen_of(plain(kLastovetsky, 4), 4096) == ModelKind::lastovetsky);
    CHECK(chosen_of(with_occupancy(kLogGP, kLogGP.overhead_s), 4096) == ModelKind::loggp);
    CHECK(chosen_of(contended(), 4096) == ModelKind::loggp);
    CHECK(chosen_of(plain(kLogGP), 4096) == ModelKind::hockney);
    Sample stars = plain(kLogGP); // operations tell the gap from a part of the latency as well
    for (const std::uint64_t bytes : kSizes)
        for (const Operation operation : {Operation::broadcast, Operation::scatter}) {
            const PlanRequest request{operation, 16, 0, bytes, 1, true};
            stars.operations.push_back(
                {request, {Pattern::star}, predict_s(kLogGP, request, {Pattern::star})});
        }
    CHECK(chosen_of(stars, 64) == ModelKind::loggp);
}

TEST_CASE("the error is what the model of the other sizes is wrong by, and 0 on its own data") {
    for (const auto& [kind, sample] : {std::pair{ModelKind::hockney, plain(kHockney)},
                                       {ModelKind::logp, plain(kLogP)},
                                       {ModelKind::lastovetsky, plain(kLastovetsky, 4)}}) {
        const ModelFit made = fit(kind, sample);
        INFO(to_string(kind));
        CHECK(made.cross_validated);
        CHECK(made.error < 1e-9);
        CHECK(made.by_size.size() == kSizes.size());
    }
    // Each size by the line through the others: 4.4 for 4, 4.8 for 5, 6 for 5.6.
    Sample bent;
    bent.messages = {{{10}, 4}, {{20}, 5}, {{30}, 5.6}};
    const ModelFit made = fit(ModelKind::hockney, bent);
    REQUIRE(made.cross_validated);
    REQUIRE(made.by_size.size() == 3);
    CHECK(made.by_size[0].error == Approx(0.1));
    CHECK(made.by_size[1].error == Approx(0.04));
    CHECK(made.by_size[2].error == Approx(1 / 14.0));
    CHECK(made.error == Approx(1 / 14.0));
    CHECK(error_at(made, 5) == Approx(0.1));
    CHECK(error_at(made, 20) == Approx(0.04));
    CHECK(error_at(made, 25) == Approx(0.02 + 1 / 28.0));
    CHECK(error_at(made, 1000) == Approx(1 / 14.0));
    // Without size 0 the line through the others starts below 0: the model of all sizes is judged instead.
    bent.messages = {{{0}, 1}, {{1}, 2}, {{2}, 6}};
    const ModelFit refused = fit(ModelKind::hockney, bent);
    REQUIRE(refused.model);
    CHECK(!refused.cross_validated);
    CHECK(refused.by_size.size() == 3);
}

TEST_CASE("at each size messages, gaps and operations count alike, however many there are") {
    Sample sample = plain(kHockney, 5);
    const PlanRequest star{Operation::broadcast, 2, 0, 64, 1, true};
    const double message = predict_s(kHockney, ModelMessage{64});
    const double gap = cost(kHockney, ModelMessage{64}).spacing_s;
    sample.operations = {{star, {Pattern::star}, message / 1.5}}; // predicted half too long
    CHECK(error_at(fit(ModelKind::hockney, sample), 64) == Approx(0.25));
    sample.occupancy = {{64, 0, {}, {}, gap / 2}, {64, 0, {}, {}, gap / 1.25}, {64, 0, {}, {}, gap / 1.25}};
    CHECK(error_at(fit(ModelKind::hockney, sample), 64) == Approx(0.25)); // of 0, 0.25, 0.5
    CHECK(error_at(fit(ModelKind::hockney, sample), 128) < 1e-9);
    CHECK(fit(ModelKind::hockney, sample).error < 1e-9);
}

TEST_CASE("of models that err alike the cheaper one is taken, and those that were validated go first") {
    const auto with = [](ModelKind kind, double error, bool validated = true) {
        return ModelFit{kind, Model{Hockney{1, 1}}, {}, error, validated, {{8, error}, {64, 0.5}}};
    };
    const ModelFit none{ModelKind::hockney, {}, "no", 0, false, {}};
    const auto chosen = [](const std::vector<ModelFit>& all) { return choose(all, 8); };
    CHECK(chosen({with(ModelKind::hockney, 0.11), with(ModelKind::logp, 0.1005)}) == 0U);
    CHECK(chosen({with(ModelKind::hockney, 0.12), with(ModelKind::logp, 0.1)}) == 1U);
    CHECK(chosen({none, with(ModelKind::logp, 0.1)}) == 1U);
    CHECK(chosen({with(ModelKind::hockney, 0, false), with(ModelKind::logp, 0.3)}) == 1U);
    CHECK(chosen({with(ModelKind::hockney, 0.3, false), with(ModelKind::logp, 0.1, false)}) == 1U);
    CHECK(choose({with(ModelKind::hockney, 0.3), with(ModelKind::logp, 0.1)}, 64) == 0U);
    CHECK(!chosen({none}));
    CHECK(!chosen({}));
}

TEST_CASE("a star's end gives the gap that messages alone do not") {
    Sample sample = plain(kLogGP);
    CHECK(fitted<LogGP>(ModelKind::loggp, sample).gap_s == 0);
    CHECK(fit(ModelKind::loggp, sample).words.find("no gap was measured") != std::string::npos);
    const PlanRequest star{Operation::broadcast, 9, 0, 4096, 1, true};
    sample.operations.push_back({star, {Pattern::star}, predict_s(kLogGP, star, {Pattern::star})});
    const ModelFit made = fit(ModelKind::loggp, sample);
    CHECK(made.words.find("no gap was measured") == std::string::npos);
    check_alike(std::get<LogGP>(*made.model).gap_s, kLogGP.gap_s);
}

TEST_CASE("noise of five per cent moves no parameter by more than a tenth") {
    std::mt19937_64 random(4);
    Sample sample;
    for (int round = 0; round < 20; ++round)
        for (MeasuredMessage each : messages_by(kHockney, kSizes)) {
            each.time_s *= 0.95 + 0.1 * static_cast<double>(random() >> 11) * 0x1p-53;
            sample.messages.push_back(each);
        }
    sample.messages.push_back({{8}, 1}); // one message was held up
    const auto found = fitted<Hockney>(ModelKind::hockney, sample);
    CHECK(found.latency_s == Approx(kHockney.latency_s).epsilon(0.1));
    CHECK(found.bytes_per_s == Approx(kHockney.bytes_per_s).epsilon(0.1));
    CHECK(chosen_of(sample, 4096) == ModelKind::hockney);
}

TEST_CASE("a sample that is too small for a model says so in words") {
    for (const ModelKind kind : kModelKinds) check_words(kind, {}, "no message was measured");
    Sample one;
    one.messages = messages_by(kHockney, {64});
    check_words(ModelKind::hockney, one, "1 size was measured, and it needs 2");
    check_words(ModelKind::plogp, one, "1 size was measured, and it needs 2");
    check_words(ModelKind::cappello, one, "needs 2");
    Sample two;
    two.messages = messages_by(kHockney, {64, 128});
    check_words(ModelKind::logp, two, "2 sizes were measured, and it needs 3");
    check_words(ModelKind::lopc, two, "both under load and without");
    check_words(ModelKind::logpc, two, "both under load and without");
    check_words(ModelKind::cappello, two, "three processors");
    check_words(ModelKind::lastovetsky, two, "three processors");
    check_words(ModelKind::steffenel, two, "one level was measured: that is plogp");
    CHECK(!fit(ModelKind::hockney, two).cross_validated);
    CHECK(chosen_of(two, 64) == ModelKind::hockney);
    Sample bytes;
    bytes.messages = {{{0}, 1}, {{1}, 1.5}};
    check_words(ModelKind::loggp, bytes, "sizes 0 and 1 alone");
    Sample busy = two;
    busy.unloaded = two.messages;
    check_words(ModelKind::logpc, busy, "load on the network alone");
    Sample line; // 0 to 1, 1 to 2: two processors at least are not told apart
    for (const std::uint64_t size : kSizes)
        line.messages.push_back({{size, 0, 0, 1}, 1.0 + 1e-6 * double(size)});
    for (const std::uint64_t size : kSizes)
        line.messages.push_back({{size, 0, 1, 2}, 1.0 + 1e-6 * double(size)});
    check_words(ModelKind::cappello, line, "do not tell processors and network apart");
    check_words(ModelKind::lastovetsky, line, "do not tell processors and network apart");
    Sample half = with_occupancy(kSteffenel, 1e-6, 2);
    std::erase_if(half.messages,
                  [](const auto& each) { return each.message.level == 1 && each.message.bytes > 8; });
    check_words(ModelKind::steffenel, half, "level 1: 1 size was measured");
}

TEST_CASE("a sample that contradicts a model says so in words") {
    Sample level;
    level.messages = {{{8}, 1}, {{64}, 1}, {{512}, 1}};
    check_words(ModelKind::hockney, level, "does not rise with size");
    CHECK(fit(ModelKind::plogp, level).error < 1e-9);
    Sample falling;
    falling.messages = {{{8}, 2}, {{64}, 3}, {{512}, 1}};
    check_words(ModelKind::plogp, falling, "the time falls from 3 s at 64 B to 1 s at 512 B");
    check_words(ModelKind::hockney, falling, "the time falls");
    Sample steep; // the line through these starts below 0
    steep.messages = {{{1000}, 1}, {{2000}, 9}, {{3000}, 80}};
    check_words(ModelKind::hockney, steep, "hockney: latency_s is -");
    CHECK(fit(ModelKind::plogp, steep).model);
    Sample heavy = with_occupancy(kLogGP, 40e-6);
    check_words(ModelKind::loggp, heavy, "loggp: latency_s is -");
    check_words(ModelKind::plogp, heavy, "shorter than an overhead");
    Sample fast_load = with_load(kLogP, kLoPC, 0);
    check_words(ModelKind::lopc, fast_load, "receiver_wait_s is -");
    Sample gaps = plain(kPLogP);
    gaps.occupancy = {{7, 0, {}, {}, 1e-6}};
    check_words(ModelKind::plogp, gaps, "no size has both its gap and its message");
    gaps.occupancy = {{8, 0, {}, {}, 1.0}};
    check_words(ModelKind::plogp, gaps, "latency_s is -");
    Sample itself = plain(kLastovetsky, 3);
    itself.messages.push_back({{8, 0, 1, 1}, 1});
    check_words(ModelKind::cappello, itself, "from processor 1 to itself");
}

TEST_CASE("numbers that no clock gives are named, for every model, and nothing is NaN") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double inf = std::numeric_limits<double>::infinity();
    for (const double bad : {nan, inf, -1.0, 0.0, 1e-300, 1e300}) {
        Sample sample = with_occupancy(kHockney, 0);
        sample.messages.back().time_s = bad;
        for (const ModelKind kind : kModelKinds) check_words(kind, sample, "times are above 0 and finite");
    }
    Sample sample = plain(kHockney);
    sample.occupancy = {{8, 0, nan, 1, {}}};
    check_words(ModelKind::hockney, sample, "an overhead or gap of 8 B is measured as nan s");
    sample = plain(kHockney);
    sample.operations = {{{Operation::broadcast, 4, 0, 8, 1, true}, {Pattern::star}, nan}};
    check_words(ModelKind::hockney, sample, "broadcast of 8 B is measured as nan s");
    sample.operations = {{{Operation::broadcast, 4, 9, 8, 1, true}, {Pattern::star}, 1}};
    CHECK(!fit(ModelKind::hockney, sample).words.empty());
    sample = plain(kHockney);
    sample.messages.push_back({{8, 0, std::numeric_limits<std::size_t>::max(), 0}, 1});
    check_words(ModelKind::cappello, sample, "names a level or processor");
    sample.messages.back().message.sender = 100000;
    check_words(ModelKind::cappello, sample, "100001 processors are too many");
    check_words(ModelKind::lastovetsky, sample, "100001 processors are too many");
}

TEST_CASE("whatever a sample holds, models are finite or refused, and predict finite times") {
    std::mt19937_64 random(21);
    for (int round = 0; round < 300; ++round) {
        Sample sample;
        const std::size_t count = random() % 30;
        for (std::size_t each = 0; each < count; ++each)
            sample.messages.push_back(
                {{std::uint64_t{1} << random() % 63, random() % 2, random() % 4, random() % 4},
                 std::pow(10, static_cast<double>(random() % 24) - 15)});
        sample.unloaded = sample.network_loaded = sample.messages;
        for (std::size_t each = 0; each < random() % 3; ++each)
            sample.occupancy.push_back({std::uint64_t{1} << random() % 63, random() % 2, 1e-6, 0.0, 1e-3});
        for (const ModelFit& made : fits(sample)) {
            CHECK(made.words.find("nan") == std::string::npos);
            if (!made.model) continue;
            CHECK(std::isfinite(made.error));
            for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1} << 40})
                CHECK(std::isfinite(predict_s(*made.model, ModelMessage{bytes})));
        }
    }
}

} // namespace fit_test
