// SPDX-License-Identifier: BSD-3-Clause
// Groups that adapt: members come to the same refined map at the same call, and go on as before.
#include "eco/group/party.h"
#include "group/group_state.h"

#include <algorithm>
#include <numeric>

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
            PastCalls quick = measured.calls()[0]; // as if a star had been by far the fastest
            quick.algorithm = "star";
            quick.measured_us = 0;
            measured.add(quick);
            options.history = std::make_shared<const History>(measured);
        }
        const Group second = all.adapt(options);
        if (adaptation_of(second).chosen != 1) return "nothing was chosen";
        if (!fill(second, 9)) return "broadcast by choice";
        if (all.rank() != 0) return {};
        const AdaptReport report = adaptation_of(second);
        if (report.measured.calls().size() != 1 || report.measured.calls()[0].algorithm != "star")
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
        if (all.rank() == 1) all.state()->learn_map(*map, 3);
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

} // namespace adaptation_test
