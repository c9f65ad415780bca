// SPDX-License-Identifier: BSD-3-Clause
// Groups on a map: plans that follow it, neighbours on it, and maps that do not fit.
#include "eco/group/party.h"
#include "group/planner.h"
#include "plexus/eco/grid.h"
#include "plexus/eco/network.h"
#include "plexus/eco/poly_model.h"

#include <numeric>
#include <utility>

namespace mapped_test {

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::testing;

namespace {

/// Two subnets of four hosts, every second host in the same. A message from the host with the smaller number
/// takes `skew` of the mean of both directions less.
std::shared_ptr<const Map> two_subnets(double skew = 0) {
    std::vector<std::string> hosts;
    for (int host = 0; host < 8; ++host) hosts.push_back("host" + std::to_string(host));
    Map map(hosts, {"tcp"}, {0, 1'000'000}, "2026-01-01T00:00:00Z");
    for (std::size_t a = 0; a < 8; ++a)
        for (std::size_t b = 0; b < a; ++b)
            for (const std::size_t size : {0, 1}) {
                const double us = (a % 2 == b % 2 ? 50 : 5000) * (size == 0 ? 1.0 : 20.0);
                const double up = us * (1 - skew), down = us * (1 + skew);
                map.set(size, b, a, {up, up, up, up, up, 3, 0});
                map.set(size, a, b, {down, down, down, down, down, 3, 0});
            }
    return std::make_shared<const Map>(std::move(map));
}

GroupOptions on(const std::shared_ptr<const Map>& map, Rank rank) {
    GroupOptions options;
    options.map = map;
    options.host = "host" + std::to_string(rank);
    return options;
}

} // namespace

TEST_CASE("a group with a map takes a schedule between its clusters by any rule") {
    const auto map = two_subnets();
    Party party(8, "local");
    const auto said = party.run_with(
        [&](Rank rank) { return on(map, rank); },
        [](const Group& all) -> std::string {
            for (const char* const text : {"flat/star", "ecef/chain:64B/binomial", "optimal/butterfly"}) {
                const Group by = all.with(*parse_algorithm(text));
                const Plan plan = by.plan_of({Operation::broadcast, 8, 1, 1000, 8, true});
                if (!prove(plan)) return "the plan proves wrong";
                std::vector<std::uint64_t> data(500, all.rank() == 5 ? 9 : 0);
                by.broadcast(std::span(data), 5);
                if (data.back() != 9) return std::string(text) + ": broadcast";
                by.reduce(std::span(data), std::plus<>{}, 2);
                if (all.rank() == 2 && data.back() != 72) return std::string(text) + ": reduce";
                if (by.split(0).size() != 8) return std::string(text) + ": split";
            }
            return {};
        });
    CHECK(complaints(said) == "");
    const auto without = party.run([](const Group& all) -> std::string {
        try {
            int value = 0;
            all.with(*parse_algorithm("flat/star")).broadcast(std::span(&value, 1), 0);
            return "a rule without a map";
        } catch (const Error& error) { return error.code() == Status::bad_argument ? "" : error.what(); }
    });
    CHECK(complaints(without) == "");
}

TEST_CASE("a group with a map takes what the models choose for it") {
    const auto map = two_subnets();
    Party party(8, "local");
    const auto said = party.run_with(
        [&](Rank rank) { return on(map, rank); },
        [&](const Group& all) -> std::string {
            const Group by = all.with(Algorithm::by_models());
            std::vector<std::size_t> host_of(8);
            std::iota(host_of.begin(), host_of.end(), std::size_t{0});
            const PlanRequest request{Operation::broadcast, 8, 3, 1024, 8, true}; // the least of its class
            if (by.plan_of(request) != plan_by_models(request, *map, host_of)) return "another plan";
            std::vector<std::uint64_t> data(500, all.rank() == 5 ? 9 : 0);
            by.broadcast(std::span(data), 5);
            by.async().all_reduce(std::span(data), std::plus<>{}).get();
            if (data.back() != 72) return "broadcast and all_reduce";
            std::vector<std::uint64_t> blocks(8, all.rank());
            by.all_to_all(std::span(blocks));
            for (Rank from = 0; from < 8; ++from)
                if (blocks[from] != from) return "all_to_all";
            const std::vector<std::uint64_t> counts{3, 0, 1, 7, 2, 0, 5, 4};
            std::vector<std::uint64_t> whole(22);
            const std::vector<std::uint64_t> mine(counts[all.rank()], all.rank());
            by.gather_v(std::span(mine), std::span(whole), Layout{counts, {}}, 2);
            if (all.rank() == 2 && (whole[2] != 0 || whole[3] != 2 || whole[21] != 7)) return "gather_v";
            if (by.split(0).size() != 8) return "split";
            try {
                by.scan(std::span(data), std::plus<>{});
                return "a scan between clusters";
            } catch (const Error& error) {
                if (error.code() != Status::unsupported) return error.what();
            }
            return {};
        });
    CHECK(complaints(said) == "");
    const auto without = party.run([](const Group& all) -> std::string {
        try {
            all.with(Algorithm::by_models()).barrier();
            return "models without a map";
        } catch (const Error& error) { return error.code() == Status::bad_argument ? "" : error.what(); }
    });
    CHECK(complaints(without) == "");
}

TEST_CASE("a group with a map follows it, and gives what every other pattern gives") {
    const auto map = two_subnets();
    Party party(8, "local");
    const auto said =
        party.run_with([&](Rank rank) { return on(map, rank); },
                       [](const Group& all) -> std::string {
                           if (all.host_of(3) != "host3") return "hosts";
                           const Plan plan = all.plan_of({Operation::broadcast, 8, 1, 1000, 8, true});
                           std::size_t crossings = 0;
                           for (const Message& each : plan.messages)
                               crossings += each.from % 2 != each.to % 2;
                           if (crossings != 1 || !prove(plan)) return "the plan does not follow the map";
                           std::uint64_t elements = 0; // those asked for, not those of their class
                           for (const std::uint64_t block : plan.block_elements) elements += block;
                           if (elements != 1000) return "the plan is for another size";
                           for (const std::size_t n : {1, 100, 20'000}) {
                               for (Rank root = 0; root < all.size(); root += 3) {
                                   std::vector<std::uint64_t> data(n, all.rank() == root ? 7 + root : 0);
                                   all.with(Algorithm::eco()).broadcast(std::span(data), root);
                                   if (data.front() != 7 + root || data.back() != 7 + root)
                                       return "broadcast";
                                   all.reduce(std::span(data), std::plus<>{}, root);
                                   if (data.back() != (7 + root) * (all.rank() == root ? 8 : 1))
                                       return "reduce";
                                   std::vector<std::uint64_t> whole(n * 8);
                                   std::fill(data.begin(), data.end(), all.rank());
                                   all.gather(std::span(data), std::span(whole), root);
                                   if (all.rank() == root)
                                       for (std::size_t i = 0; i < whole.size(); ++i)
                                           if (whole[i] != i / n) return "gather";
                                   std::fill(data.begin(), data.end(), 99);
                                   all.scatter(std::span(whole), std::span(data), root);
                                   if (data.front() != all.rank() || data.back() != all.rank())
                                       return "scatter";
                                   all.all_gather(std::span(data), std::span(whole));
                                   for (std::size_t i = 0; i < whole.size(); ++i)
                                       if (whole[i] != i / n) return "all_gather";
                                   std::fill(whole.begin(), whole.end(), all.rank());
                                   all.all_to_all(std::span(whole));
                                   for (std::size_t i = 0; i < whole.size(); ++i)
                                       if (whole[i] != i / n) return "all_to_all";
                                   std::vector<std::uint64_t> part(n);
                                   all.reduce_scatter(std::span(whole), std::span(part), std::plus<>{});
                                   if (part.front() != 8 * all.rank() || part.back() != 8 * all.rank())
                                       return "reduce_scatter";
                                   all.scan(std::span(part), std::plus<>{});
                                   if (part.back() != 4 * all.rank() * (all.rank() + 1)) return "scan";
                               }
                               all.barrier();
                           }
                           const auto [left, right] = all.ring().neighbours();
                           const auto rights = all.all_gather(right);
                           int torn = 0;
                           for (Rank rank = 0; rank < 8; ++rank) torn += rank % 2 != rights[rank] % 2;
                           if (torn != 2)
                               return "the ring crosses subnets " + std::to_string(torn) + " times";
                           return rights[left] == all.rank() ? "" : "the ring is torn";
                       });
    CHECK(complaints(said) == "");
}

TEST_CASE("of a map that differs by direction a group takes the mean of both") {
    const auto map = two_subnets(0.5);
    CHECK(map->cost(0, 0, 1).min_us == Approx(2500));
    CHECK(map->cost(0, 1, 0).min_us == Approx(7500));
    CHECK(Network(*map, {0, 1}).latency_us(0, 1) == Approx(5000));
    const PlanRequest request{Operation::broadcast, 8, 1, 1024, 8, true};
    const Plan by_mean = plan_eco(request, Network(*two_subnets(), {0, 1, 2, 3, 4, 5, 6, 7}));
    Party party(8, "local");
    const auto said = party.run_with([&](Rank rank) { return on(map, rank); },
                                     [&](const Group& all) -> std::string {
                                         if (!(all.plan_of(request) == by_mean))
                                             return "the plan is not that of the mean";
                                         std::vector<std::uint64_t> data(1024, all.rank() == 1 ? 5 : 0);
                                         all.broadcast(std::span(data), 1);
                                         if (data.front() != 5 || data.back() != 5) return "broadcast";
                                         all.all_reduce(std::span(data), std::plus<>{});
                                         if (data.front() != 40 || data.back() != 40) return "all_reduce";
                                         std::vector<std::uint64_t> whole(8 * 1024);
                                         std::fill(data.begin(), data.end(), all.rank());
                                         all.all_gather(std::span(data), std::span(whole));
                                         for (std::size_t i = 0; i < whole.size(); ++i)
                                             if (whole[i] != i / 1024) return "all_gather";
                                         return {};
                                     });
    CHECK(complaints(said) == "");
}

TEST_CASE("a map that lacks a member's host is refused by all, and names it") {
    const auto map = two_subnets();
    Party party(3, "local");
    const auto said = party.run_with([&](Rank rank) { return on(map, rank == 1 ? 11 : rank); },
                                     [](const Group&) -> std::string { return "met"; });
    for (const std::string& each : said) CHECK(each.find("host11") != std::string::npos);
}

TEST_CASE("gather_v and scatter_v by any plan give what they give directly") {
    const auto map = two_subnets();
    Party party(8, "local, tcp");
    const auto said = party.run_with(
        [&](Rank rank) { return on(map, rank); },
        [](const Group& all) -> std::string {
            const Rank me = all.rank();
            std::vector<std::uint64_t> counts;
            std::vector<std::uint64_t> displacements(8); // back to front, with gaps
            for (Rank member = 0; member < 8; ++member)
                counts.push_back(member * 5003 % 7001 * (member != 2));
            std::uint64_t total = 0;
            for (Rank member = 8; member-- > 0; total += counts[member] + 1) displacements[member] = total;
            const std::vector<std::uint32_t> mine(counts[me], me + 1);
            const std::pair<const char*, Algorithm> algorithms[] = {
                {"eco", Algorithm::eco()},
                {"messages", Algorithm::messages()},
                {"star", Pattern::star},
                {"binomial", Pattern::binomial},
                {"chain", Pattern::chain},
                {"levels", Algorithm::by_level({{Pattern::binomial}, {Pattern::star}})}};
            for (const auto& [text, algorithm] : algorithms) {
                const Group by = all.with(algorithm);
                for (const Rank root : {0u, 3u}) {
                    std::vector<std::uint32_t> whole(me == root ? total : 0);
                    // What other members than the root say of the lengths does not count.
                    const Layout layout = me == root ? Layout{counts, displacements} : Layout{{}, counts};
                    PersistentCollective gather =
                        by.prepare().gather_v(std::span(mine), std::span(whole), layout, root);
                    std::vector<std::uint32_t> back(counts[me]);
                    for (int run = 0; run < 2; ++run) {
                        std::fill(whole.begin(), whole.end(), 0);
                        std::fill(back.begin(), back.end(), 0);
                        gather.run();
                        for (Rank member = 0; me == root && member < 8; ++member)
                            for (std::uint64_t i = 0; i < counts[member]; ++i)
                                if (whole[displacements[member] + i] != member + 1)
                                    return std::string("gather_v by ") + text;
                        by.scatter_v(std::span(whole), layout, std::span(back), root);
                        if (back != mine) return std::string("scatter_v by ") + text;
                    }
                }
            }
            return {};
        });
    CHECK(complaints(said) == "");
}

TEST_CASE("with futures, without a map and by exchanges of pairs lengths are not told") {
    Party party(3, "local");
    CHECK(complaints(party.run([](const Group& all) -> std::string {
              const std::vector<std::uint64_t> counts{1, 1, 1};
              const int mine = 0;
              std::vector<int> whole(3);
              const auto refuses = [&](const Algorithm& algorithm, auto&& call, Status status) {
                  try {
                      call(all.with(algorithm));
                      return false;
                  } catch (const Error& error) { return error.status() == status; }
              };
              const auto blocking = [&](const Group& by) {
                  by.gather_v(std::span(&mine, 1), std::span(whole), Layout{counts, {}}, 0);
              };
              const auto starts = [&](const Group& by) {
                  (void)by.async().gather_v(std::span(&mine, 1), std::span(whole), Layout{counts, {}}, 0);
              };
              const auto starts_prepared = [&](const Group& by) {
                  PersistentCollective call =
                      by.prepare().gather_v(std::span(&mine, 1), std::span(whole), Layout{counts, {}}, 0);
                  (void)call.start();
              };
              const auto exchange = [&](const Group& by) {
                  std::vector<int> in(3);
                  by.all_to_all_v(std::span(whole), Layout{counts, {}}, std::span(in), Layout{counts, {}});
              };
              if (!refuses(Algorithm::eco(), blocking, Status::bad_argument)) return "eco without a map";
              if (!refuses(Pattern::ring, blocking, Status::unsupported)) return "ring";
              if (!refuses(Pattern::binomial, starts, Status::unsupported)) return "a future";
              if (!refuses(Pattern::binomial, starts_prepared, Status::unsupported)) return "start()";
              if (!refuses(Pattern::bruck, exchange, Status::unsupported)) return "all_to_all_v";
              all.barrier(); // the group is whole
              return {};
          })) == "");
}

TEST_CASE("a member whose part is not as long as the root tells breaks the group, and both are named") {
    const bool scatters = GENERATE(false, true);
    CAPTURE(scatters);
    const auto late = expect_warning("plexus.eco.arrive");
    Party party(4, "local");
    const auto said = party.run([&](const Group& all) -> std::string {
        const Group by = all.with(Pattern::binomial);
        const std::vector<std::uint64_t> counts{1, 2, 3, 4};
        std::vector<std::uint32_t> mine(counts[all.rank()] + (all.rank() == 3 ? 1 : 0));
        std::vector<std::uint32_t> whole(all.rank() == 0 ? 10 : 0);
        if (scatters)
            by.scatter_v(std::span(whole), Layout{counts, {}}, std::span(mine), 0);
        else
            by.gather_v(std::span(mine), std::span(whole), Layout{counts, {}}, 0);
        all.barrier();
        return "done";
    });
    const std::string words = scatters ? "member 0 sends 16 bytes, and member 3 expects 20"
                                       : "member 3 sends 20 bytes, and member 0 expects 16";
    for (const std::string& each : said) {
        CAPTURE(each);
        CHECK(each.find(words) != std::string::npos);
    }
}

TEST_CASE("v forms follow the levels of the map, and where they go directly, the farthest is served first") {
    using eco::detail::CollectiveArgs;
    using eco::detail::Lengths;
    const eco::detail::MapOfMembers map{two_subnets(), {0, 1, 2, 3, 4, 5, 6, 7}, {}};
    const Network network(*map.map, map.host_of);
    eco::detail::Planner planner(8, 0);
    planner.learn_hosts(false, network.levels());
    planner.learn_map(map, network, 1, 0);
    const std::vector<std::uint64_t> counts(8, 1000);
    const auto args_of = [&](Operation operation, bool varied) {
        CollectiveArgs args;
        args.operation = operation;
        args.varied = varied;
        args.send_elements = operation == Operation::gather ? 1000 : 8000;
        args.receive_elements = operation == Operation::gather ? 8000 : 1000;
        if (varied) (operation == Operation::gather ? args.receive_layout : args.send_layout) = {counts, {}};
        return args;
    };
    for (const Operation operation : {Operation::gather, Operation::scatter}) {
        INFO(to_string(operation));
        const CollectiveArgs args = args_of(operation, true);
        const auto by_level = Algorithm::by_level({{Pattern::star}, {Pattern::star}});
        CHECK(planner.prepare(args, by_level, true)->signature.tells);
        CHECK_FALSE(planner.prepare(args, Algorithm(), true)->signature.tells);
        const auto told = planner.prepare(args, by_level, true, Lengths::told);
        std::size_t far = 0;
        for (const auto& op : told->schedule.ops) far += op.peer % 2 == 1;
        CHECK(far == 1);
        CHECK(told->schedule.ops.size() == 4);
        // By the map: the plan of the operation with equal parts of the mean length.
        CHECK(planner.prepare(args, Algorithm::eco(), true, Lengths::told)->signature.plan ==
              planner.prepare(args_of(operation, false), Algorithm::eco(), true)->signature.plan);
    }
    std::vector<Rank> served;
    const auto directly = planner.prepare(args_of(Operation::scatter, true), Algorithm(), true);
    for (const auto& op : directly->schedule.ops) served.push_back(op.peer);
    CHECK(served == std::vector<Rank>{1, 3, 5, 7, 2, 4, 6});
}

TEST_CASE("a group may follow its map from its beginning") {
    const auto map = two_subnets();
    Party party(4, "local");
    const auto said = party.run_with(
        [&](Rank rank) {
            GroupOptions options = on(map, rank);
            options.algorithm = Algorithm::eco();
            return options;
        },
        [](const Group& all) -> std::string {
            const std::vector<std::string> names = all.all_gather("member " + std::to_string(all.rank()));
            return names.back() == "member 3" ? "" : "all_gather gave " + names.back();
        });
    CHECK(complaints(said) == "");
}

TEST_CASE("a member with another map than the others is found out") {
    const bool other_costs = GENERATE(false, true);
    CAPTURE(other_costs);
    const auto map = two_subnets();
    Map dearer = *map;
    dearer.set_both(0, 0, 1, {6000, 6000, 6000, 6000, 6000, 3, 0});
    const auto late = expect_warning("plexus.eco.arrive");
    Party party(3, "local");
    const auto said = party.run_with(
        [&](Rank rank) {
            GroupOptions options = on(map, rank);
            if (rank == 1) options.map = other_costs ? std::make_shared<const Map>(dearer) : nullptr;
            return options;
        },
        [](const Group& all) -> std::string {
            all.barrier();
            all.barrier();
            return "done";
        });
    for (const std::string& each : said) {
        CAPTURE(each);
        CHECK(each.find("member 1 ") != std::string::npos);
    }
}

} // namespace mapped_test
