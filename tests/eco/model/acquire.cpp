// SPDX-License-Identifier: BSD-3-Clause
// Procedures that acquire parameters, on networks whose parameters are known; and what poly-models make of
// acquired ones.
#include "eco/model/words.h"
#include "support/catch.h"

#include "plexus/eco/acquire.h"
#include "plexus/eco/poly_model.h"
#include "plexus/error.h"

#include <cmath>
#include <random>

namespace acquire_test {

using namespace plexus::eco;
using namespace plexus::testing;
using Catch::Matchers::Contains;

namespace {

constexpr double kUs = 1e-6;

/// A network that is pLogP with a gap of two lines, and waits under load.
struct Net {
    double latency_s = 40 * kUs;
    double send_s = 2 * kUs;
    double receive_s = 4 * kUs;
    double empty_gap_s = 6 * kUs;
    double s_per_byte = 8e-9;
    std::uint64_t jump_bytes = 9000; ///< messages above it have a gap that is longer by `jump_s`
    double jump_s = 0;
    double network_wait_s = 0;
    double receiver_wait_s = 0;
    double noise = 0; ///< each time is at most this share too long
    bool has_others = true;
    mutable std::minstd_rand random{7};
    mutable std::map<Experiment, int> asked = {};

    double gap(std::uint64_t bytes) const {
        return empty_gap_s + static_cast<double>(bytes) * s_per_byte + (bytes > jump_bytes ? jump_s : 0);
    }
    double time(const Experiment& what) const {
        const double message = latency_s + gap(what.bytes);
        // The receiver's load, and that of pairs that send the same way, is on one of the two ways.
        const double one = what.load == Load::none ? 0 : network_wait_s;
        const double both = what.load == Load::network ? 2 * one : one;
        const double end = what.load == Load::receiver ? receiver_wait_s : 0;
        switch (what.quantity) {
        case Quantity::ping_pong:
            return message + (both + end) / 2;
        case Quantity::round_trip:
            return message + latency_s + empty_gap_s + both + end;
        case Quantity::send:
            return send_s;
        case Quantity::receive:
            return receive_s;
        case Quantity::gap:
            break;
        }
        return gap(what.bytes);
    }
    Observe observe() const {
        return [this](const Experiment& what) {
            if (what.load != Load::none && !has_others)
                throw plexus::Error(plexus::Status::unsupported, "no other host is there to make load");
            ++asked[what];
            const double share = std::uniform_real_distribution<double>(0, noise)(random);
            return Observation{time(what) * (1 + share), {10, 10 * what.bytes, 0.5}};
        };
    }
};

AcquisitionOptions up_to(std::uint64_t bytes) {
    AcquisitionOptions out;
    out.most_bytes = bytes;
    return out;
}

double worst_error(const Model& model, const Net& net, std::uint64_t most, std::uint64_t but_from = 0,
                   std::uint64_t but_to = 0) {
    double worst = 0;
    for (std::uint64_t bytes = 0; bytes <= most; bytes += 37) {
        if (bytes > but_from && bytes < but_to) continue;
        const double true_s = net.time({Quantity::ping_pong, Load::none, bytes});
        worst = std::max(worst, std::abs(predict_s(model, ModelMessage{bytes}) - true_s) / true_s);
    }
    return worst;
}

} // namespace

TEST_CASE("each procedure finds the parameters of a network that is so") {
    const Net net;
    const Observe observe = net.observe();
    const auto hockney = std::get<Hockney>(model_of(acquire(ModelKind::hockney, observe, up_to(32768))));
    CHECK(hockney.latency_s == Approx(46 * kUs));
    CHECK(hockney.bytes_per_s == Approx(125e6));

    const auto logp = std::get<LogP>(model_of(acquire(ModelKind::logp, observe, up_to(32768))));
    CHECK(logp.packet_bytes == 1024);
    CHECK(logp.overhead_s == Approx(3 * kUs));
    CHECK(logp.gap_s == Approx(net.gap(1024)));
    CHECK(logp.latency_s == Approx(40 * kUs + net.gap(1024) - 6 * kUs));

    const auto loggp = std::get<LogGP>(model_of(acquire(ModelKind::loggp, observe, up_to(32768))));
    CHECK(loggp.latency_s == Approx(40 * kUs));
    CHECK(loggp.overhead_s == Approx(3 * kUs));
    CHECK(loggp.gap_s == Approx(6 * kUs));
    CHECK(loggp.gap_s_per_byte == Approx(8e-9).epsilon(1e-3));

    const auto plogp = std::get<PLogP>(model_of(acquire(ModelKind::plogp, observe, up_to(32768))));
    CHECK(plogp.latency_s == Approx(40 * kUs));
    CHECK(plogp.at(0).send_overhead_s == Approx(2 * kUs));
    CHECK(plogp.at(5000).receive_overhead_s == Approx(4 * kUs));
    CHECK(plogp.at(5000).gap_s == Approx(net.gap(5000)));
    CHECK(plogp.samples.back().bytes == 32768);
    for (const Model& model : {Model{hockney}, Model{loggp}, Model{plogp}})
        CHECK(worst_error(model, net, 32768) < 1e-3);
}

TEST_CASE("pLogP measures more sizes where the gap has a corner, and few where it is straight") {
    Net net;
    const AcquiredModel straight = acquire(ModelKind::plogp, net.observe(), up_to(65536));
    CHECK(straight.levels.front().sizes.size() == 12); // 0 B, and powers of two from 64 B on
    net.jump_s = 200 * kUs;
    const AcquiredModel bent = acquire(ModelKind::plogp, net.observe(), up_to(65536));
    CHECK(bent.levels.front().sizes.size() > 12);
    CHECK(bent.levels.front().sizes.size() <= AcquisitionOptions{}.most_sizes);
    // Beside the corner itself, which lies between two sizes that are a tenth apart.
    CHECK(worst_error(model_of(bent), net, 65536, 9000 * 9 / 10, 9000 * 11 / 10) < 0.1);
    AcquisitionOptions rough = up_to(65536);
    rough.tolerance = 10;
    CHECK(acquire(ModelKind::plogp, net.observe(), rough).levels.front().sizes.size() == 12);
    AcquisitionOptions few = up_to(65536);
    few.most_sizes = 12;
    const AcquiredModel cut = acquire(ModelKind::plogp, net.observe(), few);
    CHECK(cut.levels.front().sizes.size() <= 14);
    CHECK_THAT(cut.words, Contains("12 sizes did not suffice"));
}

TEST_CASE("with times that are up to three per cent too long a message is predicted within six") {
    Net net;
    net.noise = 0.03;
    for (const ModelKind kind : {ModelKind::hockney, ModelKind::loggp, ModelKind::plogp}) {
        INFO(to_string(kind));
        const AcquiredModel acquired = acquire(kind, net.observe(), up_to(32768));
        REQUIRE(acquired.has_parameters());
        CHECK(worst_error(model_of(acquired), net, 32768) < 0.06);
    }
}

TEST_CASE("waits under load are taken apart: the network's in both directions, the receiver's in one") {
    Net net;
    net.network_wait_s = 30 * kUs;
    net.receiver_wait_s = 50 * kUs;
    const auto logpc = std::get<LoGPC>(model_of(acquire(ModelKind::logpc, net.observe(), up_to(32768))));
    CHECK(logpc.network_wait_s == Approx(30 * kUs));
    CHECK(logpc.receiver_wait_s == Approx(50 * kUs));
    net.network_wait_s = 0;
    const auto lopc = std::get<LoPC>(model_of(acquire(ModelKind::lopc, net.observe(), up_to(32768))));
    CHECK(lopc.receiver_wait_s == Approx(50 * kUs));
    net.network_wait_s = 20 * kUs;
    AcquisitionOptions options = up_to(32768);
    options.lower_levels = {{1 * kUs, {{0, 0, 0, 1 * kUs}, {32768, 0, 0, 5 * kUs}}}};
    const auto levels =
        std::get<Steffenel>(model_of(acquire(ModelKind::steffenel, net.observe(), options))).levels;
    REQUIRE(levels.size() == 2);
    CHECK(levels[0].latency_s == 1 * kUs);
    CHECK(levels[1].latency_s == Approx(40 * kUs));
    CHECK(levels[1].at(4096).gap_s == Approx(net.gap(4096) + 20 * kUs));
}

TEST_CASE("what does not fit a model is said in words, with what it cost") {
    Net net;
    net.has_others = false;
    const AcquiredModel alone = acquire(ModelKind::lopc, net.observe(), up_to(32768));
    CHECK_FALSE(alone.has_parameters());
    CHECK_THAT(alone.words, Contains("no other host is there"));
    CHECK(alone.model == "lopc");
    CHECK(alone.cost.messages > 0);
    CHECK_THAT(acquire(ModelKind::steffenel, net.observe(), up_to(32768)).words, Contains("that is plogp"));
    net.send_s = 60 * kUs;
    CHECK_THAT(acquire(ModelKind::loggp, net.observe(), up_to(32768)).words, Contains("its overheads are"));
    CHECK_THAT(acquire(ModelKind::plogp, net.observe(), up_to(32768)).words,
               Contains("the overhead counts")); // gaps cover overheads
    net.latency_s = -4 * kUs;
    CHECK_THAT(acquire(ModelKind::plogp, net.observe(), up_to(32768)).words, Contains("there is no latency"));
    Net level;
    level.s_per_byte = 0;
    CHECK_THAT(acquire(ModelKind::hockney, level.observe(), up_to(32768)).words,
               Contains("there is no bandwidth"));
    const Observe broken = [](const Experiment&) { return Observation{std::nan(""), {1, 2, 3}}; };
    for (const ModelKind kind : acquired_kinds()) {
        const AcquiredModel out = acquire(kind, broken, up_to(32768));
        CHECK_FALSE(out.has_parameters());
        CHECK_FALSE(out.words.empty());
    }
    CHECK_THROWS_WITH(acquire(ModelKind::cappello, broken, up_to(8)), Contains("fit it to the messages"));
    CHECK_THROWS_WITH(acquire(ModelKind::hockney, broken, up_to(1)), Contains("2 B or more"));
}

TEST_CASE("the cost of a model is that of its experiments, each made once") {
    const Net net;
    const AcquiredModel hockney = acquire(ModelKind::hockney, net.observe(), up_to(1000));
    CHECK(hockney.cost == AcquisitionCost{20, 10'000, 1});
    AcquisitionOptions options = up_to(1000);
    options.lower_levels.push_back(acquire(ModelKind::plogp, net.observe(), options).levels.front());
    for (const ModelKind kind : acquired_kinds()) {
        CAPTURE(to_string(kind));
        const Net own;
        const AcquiredModel made = acquire(kind, own.observe(), options);
        REQUIRE(made.has_parameters());
        for (const auto& [experiment, times] : own.asked) CHECK(times == 1);
        CHECK(made.cost.messages == 10 * own.asked.size());
    }
}

TEST_CASE("parameters in a map that are not the model's own are refused by name") {
    AcquiredModel model{0, 1, "hockney", {{"latency_s", 1}}, {}, {}, {}};
    CHECK_THROWS_WITH(model_of(model), Contains("hockney: bytes_per_s is missing"));
    model.parameters = {{"latency_s", 1}, {"bytes_per_s", 1}, {"gap_s", 1}};
    CHECK_THROWS_WITH(model_of(model), Contains("1 of its parameters are not its own"));
    model.model = "hackney";
    CHECK_THROWS_WITH(model_of(model), Contains("hackney"));
    model = {0,  1,  "logp", {{"latency_s", 1}, {"overhead_s", 1}, {"gap_s", 1}, {"packet_bytes", 0}},
             {}, {}, {}};
    CHECK_THROWS_WITH(model_of(model), Contains("packet_bytes is 0"));
    model = {0, 1, "plogp", {}, {{1, {{0, 0, 0, 1}}}, {1, {{0, 0, 0, 1}}}}, {}, {}};
    CHECK_THROWS_WITH(model_of(model), Contains("one level, not 2"));
    model.levels = {{1, {{0, 2, 0, 1}}}};
    CHECK_THROWS_WITH(model_of(model), Contains("the gap is shorter than an overhead"));
}

namespace {

/// Two clusters of three hosts; inside one the net, between them ten times as slow.
Map two_clusters(const Net& net) {
    Map map({"a1", "a2", "a3", "b1", "b2", "b3"}, {"tcp"}, {8, 1024, 32768}, "today");
    for (std::size_t size = 0; size < 3; ++size)
        for (std::size_t a = 0; a < 6; ++a)
            for (std::size_t b = 0; b < a; ++b) {
                const double us = net.time({Quantity::ping_pong, Load::none, map.sizes_bytes()[size]}) / kUs;
                const double samples[] = {a / 3 == b / 3 ? us : 10 * us};
                map.set_both(size, a, b, cost_of(samples, 0));
            }
    return map;
}

const ModelFit& by_kind(const std::vector<ModelFit>& among, ModelKind kind) {
    const auto found =
        std::find_if(among.begin(), among.end(), [&](const auto& each) { return each.kind == kind; });
    REQUIRE(found != among.end());
    return *found;
}

} // namespace

TEST_CASE("a poly-model takes acquired parameters where the map has them, and fits elsewhere") {
    const Net net;
    Map map = two_clusters(net);
    std::vector<AcquiredModel> models;
    for (const ModelKind kind : acquired_kinds()) {
        models.push_back(acquire(kind, net.observe(), up_to(32768)));
        models.back().from = 1;
        models.back().to = 2;
    }
    models.push_back({0, 4, "loggp", {}, {}, "the overheads are longer", {9, 9, 9}});
    map.set_acquired(models);
    PolyRequest request;
    request.bytes = 8192;
    const PolyPrediction made = predict(map, request);
    REQUIRE(made.missing.empty());
    REQUIRE(made.clusters.size() == 2);
    const auto& [first, second] = std::tie(made.clusters[0], made.clusters[1]);
    CHECK(by_kind(first.models, ModelKind::plogp).acquired);
    CHECK(by_kind(first.models, ModelKind::plogp).error < 0.01);
    CHECK(by_kind(first.models, ModelKind::plogp).cross_validated);
    CHECK(by_kind(first.models, ModelKind::plogp).cost == models[5].cost);
    CHECK_FALSE(by_kind(first.models, ModelKind::cappello).acquired);
    CHECK_THAT(by_kind(first.models, ModelKind::steffenel).words, Contains("one level was measured"));
    CHECK(first.has_gaps);
    CHECK_FALSE(second.has_gaps);
    for (const ModelFit& each : second.models) CHECK_FALSE(each.acquired);
    CHECK_THAT(by_kind(made.clusters[0].models, ModelKind::logp).words, !Contains("not acquired"));
    REQUIRE(first.model);
    CHECK(first.models[*first.model].kind == ModelKind::loggp); // as exact as pLogP, and cheaper
    REQUIRE(made.links.size() == 2);
    for (const LinkPrediction& link : made.links) CHECK(link.models.size() == 2);
}

TEST_CASE("a model of several levels is for links between clusters, not for what a tolerance makes one") {
    const Net net;
    Map map = two_clusters(net);
    AcquisitionOptions options = up_to(32768);
    options.lower_levels = acquire(ModelKind::plogp, net.observe(), options).levels;
    AcquiredModel levels = acquire(ModelKind::steffenel, net.observe(), options);
    REQUIRE(levels.levels.size() == 2);
    levels.from = 0;
    levels.to = 3;
    map.set_acquired({levels});
    PolyRequest request;
    request.bytes = 8192;
    const PolyPrediction apart = predict(map, request);
    REQUIRE(apart.links.size() == 2);
    CHECK(by_kind(apart.links.front().models, ModelKind::steffenel).acquired);
    request.tolerance = {100, 1};
    const PolyPrediction merged = predict(map, request);
    REQUIRE(merged.clusters.size() == 1);
    CHECK_FALSE(by_kind(merged.clusters.front().models, ModelKind::steffenel).model);
}

TEST_CASE("a size that pLogP's table has is predicted by the others") {
    const AcquiredModel bent{
        0,  1, "plogp", {}, {{10 * kUs, {{8, 0, 0, 1 * kUs}, {1024, 0, 0, 9 * kUs}, {8192, 0, 0, 10 * kUs}}}},
        {}, {}};
    Sample sample;
    for (const std::uint64_t bytes : {8, 1024, 8192})
        sample.messages.push_back({{bytes}, predict_s(model_of(bent), ModelMessage{bytes})});
    const ModelFit judged = fit(bent, sample);
    REQUIRE(judged.model);
    REQUIRE(judged.by_size.size() == 3);
    CHECK(judged.by_size[1].error == Approx((9 - 1 - 9 * 1016.0 / 8184) / 19));
    CHECK(predict_s(*judged.model, ModelMessage{1024}) == Approx(19 * kUs));
    CHECK_THAT(fit(AcquiredModel{0, 1, "fastest", {{"a", 1}}, {}, {}, {}}, sample).words,
               Contains("no Plexus knows it"));
    CHECK_THAT(fit(bent, Sample{}).words, Contains("no message was measured"));
}

TEST_CASE("of models that err alike the one that took less time to acquire is chosen") {
    const auto fit_of = [](ModelKind kind, double error, bool acquired, double seconds) {
        ModelFit out;
        out.kind = kind;
        out.model = Hockney{1, 1};
        out.error = error;
        out.cross_validated = true;
        out.acquired = acquired;
        out.cost.seconds = seconds;
        return out;
    };
    const std::vector<ModelFit> among{
        fit_of(ModelKind::hockney, 0.105, false, 0), fit_of(ModelKind::logp, 0.105, true, 3),
        fit_of(ModelKind::loggp, 0.1, true, 2), fit_of(ModelKind::plogp, 0.2, true, 1)};
    CHECK(choose(among, 8) == 2u);
    CHECK(choose({among[0], among[3], among[1]}, 8) == 2u); // an acquired one before a fitted one
    CHECK(choose({among[0], among[3]}, 8) == 0u);           // pLogP errs more
}

} // namespace acquire_test
