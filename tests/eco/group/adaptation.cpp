// SPDX-License-Identifier: BSD-3-Clause
// Groups that adapt: members come to the same refined map at the same call, and go on as before.
#include "eco/group/party.h"
#include "group/algorithm_text.h"
#include "group/decision.h"
#include "group/group_state.h"
#include "support/arguments.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <thread>

namespace adaptation_test {

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::testing;

namespace {

/// `hosts` hosts, between which every message takes as long.
std::shared_ptr<const Map> even_map(std::size_t hosts, double us) {
    std::vector<std::string> names;
    for (std::size_t host = 0; host < hosts; ++host) names.push_back("host" + std::to_string(host));
    Map map(names, {"tcp"}, {1, 65536}, "2026-01-01T00:00:00Z");
    for (std::size_t one = 0; one < hosts; ++one)
        for (std::size_t other = 0; other < one; ++other) {
            map.set_both(0, one, other, {us, us, us, us, us, 3, 0});
            map.set_both(1, one, other, {2 * us, 2 * us, 2 * us, 2 * us, 2 * us, 3, 0});
        }
    return std::make_shared<const Map>(std::move(map));
}

auto on(const std::shared_ptr<const Map>& map) {
    return [map](Rank rank) {
        GroupOptions options;
        options.map = map;
        options.host = "host" + std::to_string(rank);
        return options;
    };
}

/// Everything counts as drift that is not exactly what is expected.
AdaptOptions impatient() {
    AdaptOptions options;
    options.least_us = 0;
    options.drift = 1.0001;
    options.share = 1e9; // checks as often as allowed
    return options;
}

std::string use(const Group& all, int times) {
    for (int call = 0; call < times; ++call) {
        std::vector<std::uint64_t> data(1000, all.rank() == 0 ? 7 + call : 0);
        all.broadcast(std::span(data));
        if (data.front() != 7u + call || data.back() != 7u + call) return "broadcast";
        all.all_reduce(std::span(data), std::plus<>{});
        if (data.back() != (7u + call) * all.size()) return "all_reduce";
    }
    return {};
}

} // namespace

TEST_CASE("a group whose map promises too much refines it while it runs, the same on all members") {
    Party party(4, "tcp");
    const auto said = party.run_with(on(even_map(4, 1e-3)), [](const Group& all) -> std::string {
        const Group adaptive = all.adapt(impatient());
        if (const std::string wrong = use(adaptive, 16); !wrong.empty()) return wrong;
        const AdaptReport report = adaptation_of(adaptive);
        if (report.calls != 32) return "calls";
        if (report.checks != 7) return "checks: " + std::to_string(report.checks); // before call 5, 9 … 29
        if (report.epoch == 0 || report.probed == 0) return "nothing was refined";
        if (report.drifted.empty() || to_text(report).find("host") == std::string::npos) return "report";
        // All have the same map, and the group before has its own.
        if (*all.state()->options().map != *even_map(4, 1e-3)) return "the first group's map has changed";
        if (adaptation_of(all) != AdaptReport()) return "the first group adapts";
        const std::vector<std::uint32_t> epochs = all.all_gather(report.epoch);
        const std::vector<std::string> maps = all.all_gather(to_toml(*report.map));
        for (Rank member = 0; member < all.size(); ++member)
            if (epochs[member] != report.epoch || maps[member] != maps[0]) return "maps differ";
        if (report.map->cost(1, 0, 1).min_us <= 2e-3) return "no cost was refined";
        // What is made of it begins with the refined map.
        const Group part = adaptive.split(0);
        return *part.state()->options().map == *adaptation_of(adaptive).map
                   ? ""
                   : "a part of the group has the old map";
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("edges that have drifted are measured a second time, those that have not only once") {
    Party party(3, "tcp");
    const auto said = party.run_with(on(even_map(3, 1e-3)), [](const Group& all) -> std::string {
        const Group adaptive = all.adapt(impatient());
        std::vector<int> data(100);
        for (int call = 0; call < 5; ++call) adaptive.broadcast(std::span(data)); // checks before the last
        const AdaptReport report = adaptation_of(adaptive);
        if (report.epoch != 1) return "nothing was refined";
        // Both of the plan and the one beside them.
        if (report.probed != 6) return "edges that were measured: " + std::to_string(report.probed);
        return {};
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("a group whose calls are quicker than the map says measures no edge") {
    Party party(3, "local");
    const auto said = party.run_with(on(even_map(3, 1e7)), [](const Group& all) -> std::string {
        AdaptOptions options;
        options.drift = 1000;
        options.share = 1e9;
        const Group adaptive = all.adapt(options);
        if (const std::string wrong = use(adaptive, 10); !wrong.empty()) return wrong;
        const AdaptReport report = adaptation_of(adaptive);
        return report.checks == 4 && report.epoch == 0 && report.probed == 0 ? "" : "edges were measured";
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("calls that follow each other are predicted with open connections") {
    // 2 ms between hosts, and 0.1 us for 1,000 bytes. An idle connection would need 10 ms for 96 KiB.
    Map made({"host0", "host1"}, {"tcp"}, {0, 1'000'000}, "2026-01-01T00:00:00Z");
    for (const std::size_t size : {0, 1}) {
        const double us = size == 0 ? 2000 : 2100;
        made.set_both(size, 0, 1, {us, us, us, us, us, 3, 0});
    }
    const auto map = std::make_shared<const Map>(std::move(made));
    Party party(2, "local");
    const auto said = party.run_with(on(map), [](const Group& all) -> std::string {
        AdaptOptions options;
        options.share = 1e9;
        const Group adaptive = all.adapt(options);
        std::vector<std::byte> data(98'304);
        for (int call = 0; call < 5; ++call) adaptive.broadcast(std::span(data)); // checks before the last
        if (all.rank() != 0) return {};
        const AdaptReport report = adaptation_of(adaptive);
        if (report.measured.calls().size() != 1) return "calls";
        const double us = report.measured.calls().front().predicted_us;
        return std::abs(us - 2009.8) < 1 ? "" : "predicted: " + std::to_string(us);
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("calls with futures and persistent collectives run beside an adaptation") {
    Party party(3, "tcp");
    const auto said = party.run_with(on(even_map(3, 1e-3)), [](const Group& all) -> std::string {
        const Group adaptive = all.adapt(impatient());
        std::vector<int> kept(100, all.rank() == 0 ? 1 : 0);
        PersistentCollective again = adaptive.prepare().broadcast(std::span(kept));
        for (int round = 0; round < 6; ++round) {
            std::vector<int> data(500, all.rank() == 1 ? round : -1);
            Future<void> future = adaptive.async().broadcast(std::span(data), 1);
            if (const std::string wrong = use(adaptive, 2); !wrong.empty()) return wrong;
            future.get();
            if (data.back() != round) return "the call with a future";
            if (all.rank() == 0) kept.assign(100, round);
            again.run();
            if (kept.back() != round) return "the persistent collective";
        }
        return adaptation_of(adaptive).epoch > 0 ? "" : "nothing was refined";
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("a call that is refused inside an inline handler leaves the members in step") {
    static constexpr Request<bool(int&)> kTry{"test.adaptation.wait_inside"};
    Party party(3, "tcp");
    const auto said = party.run_with(on(even_map(3, 1e7)), [&](const Group& all) -> std::string {
        AdaptOptions options;
        options.share = 1e9;
        options.drift = 1000;
        const Group adaptive = all.adapt(options);
        if (all.rank() == 1) {
            int object = 0;
            Context& here = party.context(1);
            here.on(kTry, [&](int&) {
                try {
                    adaptive.barrier();
                } catch (const Error& error) { return error.status() == Status::would_deadlock; }
                return false;
            });
            const Bound<int> bound = here.bind(object);
            if (!within(bound.pointer().call(kTry))) return "the call in the handler was not refused";
        }
        if (const std::string wrong = use(adaptive, 5); !wrong.empty()) return wrong;
        return adaptation_of(adaptive).checks == 2 ? "" : "checks";
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("a group without a map is not adapted, and options that make no sense are refused by all") {
    Party party(2, "local");
    CHECK(complaints(party.run([](const Group& all) -> std::string {
              try {
                  (void)all.adapt();
              } catch (const Error& error) {
                  return error.status() == Status::bad_argument &&
                                 std::string(error.what()).find("has no map") != std::string::npos
                             ? ""
                             : error.what();
              }
              return "adapted";
          })) == "");
    const auto said = party.run_with(on(even_map(2, 100)), [](const Group& all) -> std::string {
        AdaptOptions none;
        none.every = 0;
        AdaptOptions less;
        less.drift = 1;
        AdaptOptions share;
        share.share = 0;
        AdaptOptions least;
        least.least_us = std::nan("");
        for (const AdaptOptions& options : {none, less, share, least}) {
            try {
                (void)all.adapt(options);
                return "adapted";
            } catch (const Error& error) {
                if (error.status() != Status::bad_argument) return error.what();
            }
        }
        all.barrier();
        return {};
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("members that adapt with other options are named on all members, and the group stays whole") {
    Party party(3, "local");
    const auto said = party.run_with(on(even_map(3, 100)), [](const Group& all) -> std::string {
        AdaptOptions options;
        if (all.rank() == 2) options.every = 5;
        try {
            (void)all.adapt(options);
            return "adapted";
        } catch (const Error& error) {
            if (std::string(error.what()).find("member 2 has other AdaptOptions") == std::string::npos)
                return error.what();
        }
        all.barrier();
        return {};
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("a group given a history goes by what was measured fastest, as member 0 has read it") {
    Party party(4, "tcp");
    const auto map = even_map(4, 1e7); // every call is quicker than this map says: nothing is refined
    const std::string fastest = GENERATE("star", "levels:star/binomial", "flat/star");
    const auto said = party.run_with(on(map), [&](const Group& all) -> std::string {
        AdaptOptions options;
        options.share = 1e9;
        options.drift = 1000;
        const auto fill = [&](const Group& group, int times) {
            for (int call = 0; call < times; ++call) {
                std::vector<std::uint64_t> data(1000, group.rank() == 0 ? 5 : 0);
                group.broadcast(std::span(data));
                if (data.back() != 5) return false;
            }
            return true;
        };
        const Group first = all.adapt(options);
        if (!fill(first, 4) || !fill(first.with(Pattern::binomial), 5)) return "broadcast";
        History measured = adaptation_of(first).measured;
        if (all.rank() == 0) {
            if (measured.calls().size() != 2) return "calls that were measured: " + to_toml(measured);
            if (measured.calls()[0].algorithm != "auto" || measured.calls()[1].algorithm != "binomial" ||
                measured.calls()[0].bytes != 7680 || measured.calls()[0].calls != 4)
                return to_toml(measured);
            PastCalls quick = measured.calls()[0]; // as if this had been by far the fastest
            quick.algorithm = fastest;
            quick.measured_us = 0;
            measured.add(quick);
            options.history = std::make_shared<const History>(measured);
        }
        const Group second = all.adapt(options);
        if (adaptation_of(second).chosen != 1) return "nothing was chosen";
        if (!fill(second, 9)) return "broadcast by choice";
        if (all.rank() != 0) return {};
        const AdaptReport report = adaptation_of(second);
        if (report.measured.calls().size() != 1 || report.measured.calls()[0].algorithm != fastest)
            return "the choice was not followed";
        return report.ignored;
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("a history of another map is ignored, and the report says so") {
    Party party(2, "local");
    const auto said = party.run_with(on(even_map(2, 1e7)), [](const Group& all) -> std::string {
        History other;
        other.add({{1, 2}, Operation::broadcast, 0, 8, "star", 1, 1, 5});
        AdaptOptions options;
        if (all.rank() == 0) options.history = std::make_shared<const History>(other);
        const Group adaptive = all.adapt(options);
        adaptive.barrier();
        const AdaptReport report = adaptation_of(adaptive);
        if (report.chosen != 0) return "something was chosen";
        return report.ignored.find("none of them on this map") != std::string::npos || all.rank() != 0
                   ? ""
                   : "the report says: " + report.ignored;
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("a member that follows a map of another epoch is found out by name") {
    const auto late = expect_warning("plexus.eco.arrive");
    Party party(3, "local");
    const auto map = even_map(3, 100);
    const auto said = party.run_with(on(map), [&](const Group& all) -> std::string {
        if (all.rank() == 1) all.state()->learn_map(map, 3);
        all.barrier();
        all.barrier();
        return "done";
    });
    for (const std::string& each : said) {
        CAPTURE(each);
        CHECK(each.find("member 1 ") != std::string::npos);
        CHECK(each.find("by the map of epoch 3") != std::string::npos);
    }
}

TEST_CASE("leaders of hosts on which members share memory follow the refined map as well") {
    Party party(6, "shm, tcp");
    const auto map = even_map(3, 100);
    Map changed = *map;
    for (const std::size_t size : {0, 1}) changed.set_both(size, 0, 1, {1e6, 1e6, 1e6, 1e6, 1e6, 3, 0});
    const auto by_two = [&](Rank rank) {
        GroupOptions options = on(map)(rank / 2);
        return options;
    };
    const auto said = party.run_with(by_two, [&](const Group& all) -> std::string {
        std::vector<std::byte> data(100);
        eco::detail::CollectiveArgs args;
        args.operation = Operation::broadcast;
        args.receive = data.data();
        args.receive_elements = data.size();
        args.element_bytes = 1;
        // To whom the first member of host0 sends by messages, among the leaders.
        const auto peers = [&] {
            std::vector<Rank> out;
            for (const auto& step : all.state()->prepare(args, Algorithm(), true)->steps)
                for (const eco::detail::ScheduleOp& op : step->schedule.ops)
                    if (op.send && !step->signature.memory) out.push_back(op.peer);
            std::sort(out.begin(), out.end());
            return out;
        };
        const std::vector<Rank> before = peers();
        all.state()->learn_map(std::make_shared<const Map>(changed), 1);
        const std::vector<Rank> after = peers();
        for (const std::byte value : {std::byte{1}, std::byte{2}}) {
            data.assign(100, all.rank() == 0 ? value : std::byte{0});
            all.broadcast(std::span(data));
            if (data.back() != value) return "broadcast";
        }
        if (all.rank() != 0) return {};
        if (std::find(before.begin(), before.end(), 1u) == before.end())
            return "no message went to host1 before";
        return after == std::vector<Rank>{2} ? "" : "messages still go the slow way";
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("what member 0 sends has bounds: a group in which it sends more breaks, and nobody waits") {
    const auto late = expect_warning("plexus.eco.arrive");
    Party party(3, "local");
    const auto said = party.run_with(on(even_map(3, 100)), [](const Group& all) -> std::string {
        if (all.rank() != 0) {
            (void)all.adapt();
            return "adapted";
        }
        const Group as_if = all.dup();
        const std::uint64_t number = eco::detail::number_of(AdaptOptions());
        std::vector<std::uint64_t> numbers(all.size());
        as_if.all_gather(std::span(&number, 1), std::span(numbers));
        std::uint64_t choices = std::uint64_t{1} << 40;
        as_if.broadcast(std::span(&choices, 1));
        as_if.barrier();
        return "went on";
    });
    for (const std::string& each : said) {
        CAPTURE(each);
        CHECK(each.find("member 0 sends 1099511627776 words of chosen algorithms") != std::string::npos);
    }
}

TEST_CASE("members take no edge, change or choice that their group can't have") {
    const Map map = *even_map(3, 100);
    const auto refuses = [](auto body) {
        try {
            body();
        } catch (const Error& error) { return error.status() == Status::bad_archive; }
        return false;
    };
    using eco::detail::changes_in, eco::detail::choices_in, eco::detail::edges_in, eco::detail::to_words;
    using eco::detail::Decision;
    const std::vector<MemberPair> edges{{0, 2}, {1, 0}};
    CHECK(edges_in(to_words(edges), 3) == edges);
    CHECK(refuses([&] { edges_in(to_words(edges), 2); }));
    CHECK(refuses([&] { edges_in(to_words(std::vector<MemberPair>{{1, 1}}), 3); }));
    const std::vector<CostChange> changes{{1, 0, 2, 5.5}, {0, 2, 1, 7}};
    CHECK(changes_in(to_words(changes), map) == changes);
    for (const CostChange& bad :
         {CostChange{2, 0, 1, 5}, {0, 3, 1, 5}, {0, 0, 3, 5}, {0, 1, 1, 5}, {0, 0, 1, -5}})
        CHECK(refuses([&] { changes_in(to_words(std::vector{bad}), map); }));
    const eco::detail::Choice star{Operation::gather, 2, 4096, Pattern::star};
    const std::vector<eco::detail::Choice> several{
        star,
        {Operation::broadcast, 0, 8, *parse_algorithm("levels:chain:64B/tree:3/star")},
        {Operation::reduce, 1, 8, *parse_algorithm("ecef_lat_max/butterfly")},
        {Operation::all_gather, 0, 8, Algorithm::by_models()}};
    const std::vector<eco::detail::Choice> back = choices_in(to_words(several), 3);
    REQUIRE(back.size() == 4);
    CHECK((back[0].operation == star.operation && back[0].root == 2 && back[0].bytes == 4096));
    for (std::size_t at = 0; at < 4; ++at)
        CHECK(eco::detail::text_of(back[at].algorithm) == eco::detail::text_of(several[at].algorithm));
    CHECK(back[0].algorithm.options()->halve_from_bytes == 8192);
    CHECK(refuses([&] { choices_in(to_words(std::vector{star}), 2); }));
    std::vector<std::uint64_t> words = to_words(several);
    for (std::size_t size = 1; size < words.size(); ++size) {
        const bool is_whole = size == 6 || size == 6 + 12 || size == 6 + 12 + 6;
        CHECK(refuses([&] { choices_in(std::span(words).first(size), 3); }) != is_whole);
    }
    constexpr std::uint64_t kBadForms[] = {
        std::uint64_t{1} << 32 | 17,  // too many levels
        std::uint64_t{1} << 32,       // none
        std::uint64_t{10} << 32 | 3,  // no such rule
        std::uint64_t{100} << 32 | 3, // models with patterns
        3,                            // three patterns in one
    };
    for (const std::uint64_t form : kBadForms) {
        std::vector<std::uint64_t> bad = words;
        bad[6 + 2] = form;
        CHECK(refuses([&] { choices_in(bad, 3); }));
    }
    CHECK_FALSE(eco::detail::can_choose(Algorithm(), Operation::broadcast));
    CHECK_FALSE(eco::detail::can_choose(Algorithm::eco(), Operation::broadcast));
    CHECK_FALSE(eco::detail::can_choose(*parse_algorithm("flat/star"), Operation::gather));
    CHECK_FALSE(eco::detail::can_choose(Algorithm::by_level(std::vector<AlgorithmOptions>(17)),
                                        Operation::broadcast));
    CHECK(refuses([&] {
        choices_in(to_words(std::vector<eco::detail::Choice>{{Operation::scan, 0, 8, Pattern::star}}), 3);
    }));
    CHECK(refuses([&] {
        choices_in(
            to_words(std::vector<eco::detail::Choice>{{static_cast<Operation>(99), 0, 8, Pattern::star}}), 3);
    }));
    eco::detail::check(Decision{9, 0, 0, 0}, {}, 3, map);
    eco::detail::check(Decision{0, 18, 1, 4}, {}, 3, map);
    for (const Decision& bad :
         {Decision{10, 0, 0, 0}, {0, 19, 1, 4}, {0, 0, 0, 3}, {0, 0, 0, 1ull << 32}, {0, 0, 1ull << 32, 4}})
        CHECK(refuses([&] { eco::detail::check(bad, {}, 3, map); }));
    CHECK(refuses([&] { eco::detail::check_choice_words(4096 * 51 + 1); }));
}

TEST_CASE("more kinds of calls than are timed at once are timed one after the other") {
    Party party(2, "local");
    const auto said = party.run_with(on(even_map(2, 1e7)), [](const Group& all) -> std::string {
        AdaptOptions options;
        options.share = 1e9;
        options.drift = 1000;
        const Group adaptive = all.adapt(options);
        std::vector<std::uint64_t> data(1 << 12);
        for (int kind = 0; kind < 40; ++kind)
            for (int call = 0; call < 4; ++call)
                adaptive.broadcast(std::span(data).first(static_cast<std::size_t>(8 + 100 * kind)),
                                   call % 2 == 0 ? 0u : 1u);
        const AdaptReport report = adaptation_of(adaptive);
        if (report.checks != 39) return "checks";
        const auto& measured = report.measured.calls();
        return all.rank() != 0 || std::any_of(measured.begin(), measured.end(),
                                              [](const PastCalls& each) { return each.bytes == 28672; })
                   ? ""
                   : "the last kinds were not timed";
    });
    CHECK(complaints(said) == "");
}

namespace {

/// Contexts that receive each message so much later.
struct LateParty : Party {
    LateParty(Rank size, std::chrono::milliseconds delay)
      : Party(size, "faults?delay=" + std::to_string(delay.count()) + " ms", more()) {}
    static Values more() {
        Values out{{"progress.close_timeout", "500 ms"}};
        out["module_path"] = std::filesystem::path(arguments().objects.at("faults")).parent_path().string();
        return out;
    }
};

} // namespace

TEST_CASE("edges on one shared wire are measured one after the other", "[.faults]") {
    const auto broken = expect_warning("");
    constexpr std::chrono::milliseconds delay{4};
    LateParty party(4, delay);
    Map map = *even_map(4, 1e-3);
    map.set_shared_wires({{0, 1, 2, 3}});
    const auto said =
        party.run_with(on(std::make_shared<const Map>(map)), [&](const Group& all) -> std::string {
            const Group adaptive = all.adapt(impatient());
            const Group exchanging = adaptive.with(Pattern::butterfly);
            std::uint64_t one = 1;
            for (int call = 0; call < 4; ++call) (void)exchanging.all_reduce(one, std::plus<>{});
            const auto begin = std::chrono::steady_clock::now();
            (void)exchanging.all_reduce(one, std::plus<>{});
            const auto took = std::chrono::steady_clock::now() - begin;
            const auto probed = static_cast<int>(adaptation_of(adaptive).probed);
            if (probed < 4) return "edges that were measured: " + std::to_string(probed);
            return took >= 14 * probed * delay ? "" : "edges were measured at the same time";
        });
    CHECK(complaints(said) == "");
}

TEST_CASE("edges that are too slow for the deadline are not measured, and the group stays whole",
          "[.faults]") {
    const auto broken = expect_warning("");
    const auto delay = 40ms * kPatience;
    LateParty party(3, std::chrono::duration_cast<std::chrono::milliseconds>(delay));
    const auto said = party.run_with(on(even_map(3, 1e-3)), [&](const Group& all) -> std::string {
        std::vector<int> sent(3);
        std::vector<int> received(3);
        all.with(Pattern::pairwise)
            .all_to_all(std::span(std::as_const(sent)), std::span(received)); // connects all
        const Group adaptive = all.adapt(impatient());
        const Group tight = adaptive.with(deadline(12 * delay)); // a probe has 14 messages
        std::vector<int> data(100);
        for (int call = 0; call < 6; ++call) tight.all_reduce(std::span(data), std::plus<>{});
        const AdaptReport report = adaptation_of(adaptive);
        if (report.checks != 1 || report.probed != 0) return "edges were measured";
        for (int call = 0; call < 4; ++call)
            adaptive.all_reduce(std::span(data), std::plus<>{}); // without a deadline
        return {};
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("a member that is late now and then raises one suspicion, and not one each time", "[.faults]") {
    const auto broken = expect_warning("");
    LateParty party(3, 2ms);
    const auto said = party.run_with(on(even_map(3, 2000)), [&](const Group& all) -> std::string {
        AdaptOptions options;
        options.drift = 4; // above what messages differ from the map's 2 ms
        options.share = 1e9;
        const Group adaptive = all.adapt(options);
        std::vector<std::byte> data(100);
        for (int check = 0; check < 13; ++check)
            for (int call = 0; call < 4; ++call) {
                if (check % 2 == 1 && all.rank() == 0) std::this_thread::sleep_for(60ms);
                adaptive.broadcast(std::span(data));
            }
        const AdaptReport report = adaptation_of(adaptive);
        if (report.checks != 12 || report.epoch != 0) return "checks, or a change of the map";
        if (report.probed == 0) return "no suspicion";
        return report.probed <= 6 ? "" : "edges that were measured: " + std::to_string(report.probed);
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("a kind of calls that pauses is still known afterwards, and suspected once", "[.faults]") {
    const auto broken = expect_warning("");
    LateParty party(3, 2ms);
    const auto said = party.run_with(on(even_map(3, 2000)), [&](const Group& all) -> std::string {
        AdaptOptions options;
        options.drift = 4;
        options.share = 1e9;
        const Group adaptive = all.adapt(options);
        std::vector<std::byte> data(5000);
        for (int check = 0; check < 11; ++check)
            for (int call = 0; call < 4; ++call) {
                const bool is_late = check % 2 == 0;
                if (is_late && all.rank() == 0) std::this_thread::sleep_for(60ms);
                adaptive.broadcast(std::span(data).first(is_late ? 100 : 5000));
            }
        const AdaptReport report = adaptation_of(adaptive);
        if (report.checks != 10 || report.epoch != 0) return "checks, or a change of the map";
        if (report.probed == 0) return "no suspicion";
        return report.probed <= 6 ? "" : "edges that were measured: " + std::to_string(report.probed);
    });
    CHECK(complaints(said) == "");
}

} // namespace adaptation_test
