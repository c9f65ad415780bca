// SPDX-License-Identifier: BSD-3-Clause
// Plans whose members hold their messages back: at the stated pace no link ever carries two transfers, and
// nothing is passed on before it is there.
#include "eco/plan/round_schedules.h"
#include "support/catch.h"

#include "plan/estimate.h"
#include "plexus/eco/network.h"
#include "plexus/eco/schedule_plan.h"
#include "plexus/error.h"

#include <limits>

namespace paced_test {

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::testing;
using Catch::Matchers::Contains;

namespace {

constexpr Pace kPace{100e-6, 1e-6, 250e-6};
constexpr std::uint64_t kElements = 1000;

PlanRequest request_of(Operation operation, Rank members, Rank root = 0) {
    return {operation, members, root, kElements, 1, true};
}

/// What occupies a link, in nanoseconds.
struct Use {
    std::uint64_t from;
    std::uint64_t until;
};

/// The transfers of a plan that starts everywhere at 0, on the links that they take by the pace alone.
std::map<std::uint32_t, std::vector<Use>> uses_of(const Plan& plan, const RoundSchedule& schedule,
                                                  bool reversed) {
    std::map<std::pair<Rank, Rank>, std::vector<LinkPath>> paths; // terminals are members here
    for (const Round& round : schedule.rounds)
        for (const Transfer& each : round) {
            LinkPath path = each.path;
            if (reversed) std::reverse(path.begin(), path.end());
            paths[reversed ? std::pair(each.dst, each.src) : std::pair(each.src, each.dst)].push_back(path);
        }
    std::map<std::uint32_t, std::vector<Use>> uses;
    for (std::size_t at = plan.start_messages; at < plan.messages.size(); ++at) {
        const Message& message = plan.messages[at];
        std::uint64_t begin = plan.hold_ns[at];
        for (const std::uint32_t link : paths.at({message.from, message.to}).front()) {
            uses[link].push_back({begin, begin + 1'100'000});
            begin += 250'000;
        }
    }
    return uses;
}

/// How many of these overlap.
std::size_t overlaps(std::map<std::uint32_t, std::vector<Use>> uses) {
    std::size_t found = 0;
    for (auto& [link, all] : uses) {
        std::sort(all.begin(), all.end(), [](const Use& a, const Use& b) { return a.from < b.from; });
        for (std::size_t at = 1; at < all.size(); ++at) found += all[at].from < all[at - 1].until ? 1 : 0;
    }
    return found;
}

/// The first message whose sender passes on a block that cannot have reached it; empty: none.
std::string sent_too_early(const Plan& plan, std::size_t links) {
    std::map<std::pair<Rank, std::uint32_t>, std::uint64_t> there; // by member and block
    for (std::size_t at = plan.start_messages; at < plan.messages.size(); ++at)
        for (const BlockRange& range : plan.blocks_of(plan.messages[at]))
            there[{plan.messages[at].to, range.first}] = plan.hold_ns[at] + 1'100'000 + (links - 1) * 250'000;
    for (std::size_t at = plan.start_messages; at < plan.messages.size(); ++at)
        for (const BlockRange& range : plan.blocks_of(plan.messages[at])) {
            const auto found = there.find({plan.messages[at].from, range.first});
            if (found != there.end() && plan.hold_ns[at] < found->second)
                return "message " + std::to_string(at);
        }
    return {};
}

std::string refusal(const PlanRequest& request, const GroupSchedule& how) {
    try {
        to_plan(request, how);
    } catch (const Error& error) { return std::string(to_string(error.status())) + ": " + error.what(); }
    return "nothing was refused";
}

} // namespace

TEST_CASE("at its pace a schedule uses no link twice at a time, in either direction") {
    for (const std::string_view name : {"btree-8", "btree-16", "star-7", "karytree-3-2"}) {
        const LinkGraph graph = named_graph(name);
        const RoundSchedule schedule = first_fit_aas(graph);
        const auto members = static_cast<Rank>(graph.terminals.size());
        const Plan plan = to_plan(request_of(Operation::all_to_all, members), {schedule, {}, 0, kPace});
        REQUIRE(prove(plan));
        CHECK(overlaps(uses_of(plan, schedule, false)) == 0);
        // Packed one behind the other, not a transfer's whole time behind it.
        const std::uint64_t end = *std::max_element(plan.hold_ns.begin(), plan.hold_ns.end());
        CHECK(end < schedule.rounds.size() * (1'100'000 + 6 * 250'000));
        CHECK(end > (schedule.rounds.size() - 1) * 1'100'000);
    }
    // The judge sees what it has to.
    const RoundSchedule schedule = first_fit_aas(named_graph("btree-16"));
    const Pace hasty{50e-6, 0.5e-6, 250e-6};
    CHECK(overlaps(uses_of(to_plan(request_of(Operation::all_to_all, 16), {schedule, {}, 0, hasty}), schedule,
                           false)) > 0);

    const RoundSchedule line = serial_oas(9, 4);
    CHECK(overlaps(uses_of(to_plan(request_of(Operation::scatter, 9, 4), {line, {}, 0, kPace}), line,
                           false)) == 0);
    CHECK(overlaps(uses_of(to_plan(request_of(Operation::gather, 9, 4), {line, {}, 0, kPace}), line, true)) ==
          0);
}

TEST_CASE("at its pace nothing is passed on before it is there, for every operation of 2 to 17 members") {
    for (Rank members = 2; members <= 17; ++members) {
        const auto check = [&](Operation operation, const RoundSchedule& schedule, Rank root = 0) {
            const Plan plan = to_plan(request_of(operation, members, root), {schedule, {}, 0, kPace});
            CAPTURE(to_string(operation), members);
            CHECK(prove(plan));
            if (operation != Operation::reduce) CHECK(sent_too_early(plan, 2) == "");
        };
        check(Operation::all_gather, ring_aab(members));
        check(Operation::broadcast, doubling_oab(members, 1), 1);
        check(Operation::reduce, doubling_oab(members, 1), 1);
        check(Operation::scatter, serial_oas(members, 0));
        check(Operation::gather, serial_oas(members, 0));
    }
}

TEST_CASE("members of a paced plan meet before all else, and hold back nothing of that") {
    const Plan plan = to_plan(request_of(Operation::all_to_all, 5), {shift_aas(5), {}, 0, kPace});
    CHECK(plan.start_messages == 15);
    REQUIRE(plan.hold_ns.size() == plan.messages.size());
    for (std::size_t at = 0; at < 15; ++at) {
        CHECK(plan.hold_ns[at] == 0);
        CHECK(plan.messages[at].ranges == 0);
    }
    for (const std::vector<Step>& steps : plan.steps)
        for (std::size_t at = 0; at < steps.size(); ++at) CHECK((steps[at].message < 15) == (at < 6));
    CHECK(to_plan(request_of(Operation::all_to_all, 5), {shift_aas(5)}).hold_ns.empty());
}

TEST_CASE("the estimate of a paced plan holds messages back as the plan says") {
    Map map({"a", "b", "c", "d"}, {}, {0, 10000}, "");
    for (std::size_t a = 0; a < 4; ++a)
        for (std::size_t b = 0; b < a; ++b)
            for (const std::size_t size : {0u, 1u})
                map.set_both(size, a, b, {1, 1, 1, 1, 1, 1, Cost::kNoMethod});
    const Network network(map, {0, 1, 2, 3});
    const Plan plan = to_plan(request_of(Operation::all_to_all, 4), {shift_aas(4), {}, 0, kPace});
    const double last_us =
        static_cast<double>(*std::max_element(plan.hold_ns.begin(), plan.hold_ns.end())) * 1e-3;
    const double time = estimate_us(plan, network);
    CHECK(time > last_us);
    CHECK(time < last_us + 50);
}

TEST_CASE("what is no pace is refused, and the sentence says why") {
    const PlanRequest request = request_of(Operation::all_to_all, 4);
    const auto paced = [&](const Pace& pace, std::uint32_t overlap = 0) {
        return refusal(request, {shift_aas(4), {}, overlap, pace});
    };
    for (const double bad :
         {-1e-9, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 3601.0}) {
        CHECK_THAT(paced({bad, 0, 0}), Contains("bad argument: a transfer is paced by"));
        CHECK_THAT(paced({0, bad, 0}), Contains("bad argument: a transfer is paced by"));
        CHECK_THAT(paced({0, 0, bad}), Contains("bad argument: a transfer is paced by"));
    }
    CHECK_THAT(paced(kPace, 1), Contains("bad argument: members that pace themselves have no overlap"));
    CHECK_THAT(paced(kPace, GroupSchedule::kAsynchronous), Contains("have no overlap"));
    CHECK(prove(to_plan(request, {shift_aas(4), {}, 0, Pace{}})));
    GroupSchedule how{shift_aas(4), {}, 0, kPace};
    how.schedule.rounds[1][0].path.clear();
    CHECK_THAT(refusal(request, how), Contains("bad argument: a transfer over no link cannot be paced"));
    // 9,000 transfers of an hour over one link.
    const RoundSchedule longest = serial_oas(9001, 0);
    CHECK_THAT(refusal(request_of(Operation::scatter, 9001), {longest, {}, 0, Pace{3600, 0, 0}}),
               Contains("bad argument: at this pace the schedule takes more than a year"));
}

TEST_CASE("a round in lockstep takes longer than a paced one where ways are long and transfers small") {
    // A packet of 1500 bytes takes 2.4 ms a link.
    const Pace slow{0.25e-3, 1.6e-6, 2.4e-3};
    CHECK(lockstep_ratio(slow, 4096, 8) == Approx(3.1).margin(0.2));
    CHECK(lockstep_ratio(slow, 65'536, 8) == Approx(1.16).margin(0.03));
    CHECK(lockstep_ratio(slow, 1 << 20, 8) == Approx(1).margin(0.03));
    CHECK(lockstep_ratio(slow, 4096, 2) < lockstep_ratio(slow, 4096, 8));
    CHECK(lockstep_ratio(Pace{}, 4096, 8) == 1);
}

} // namespace paced_test
