// SPDX-License-Identifier: BSD-3-Clause
// Plans of schedules: everyone gets what is due, and in lockstep no link ever carries two messages.
#include "eco/plan/round_schedules.h"
#include "eco/plan/run_plan.h"
#include "support/catch.h"

#include "plexus/eco/schedule_plan.h"
#include "plexus/error.h"

#include <numeric>

namespace by_schedule_test {

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::testing;
using Catch::Matchers::Contains;

namespace {

constexpr std::uint32_t kOverlaps[] = {0, 1, 3, GroupSchedule::kAsynchronous};

PlanRequest request_of(Operation operation, Rank members, Rank root = 0) {
    return {operation, members, root, 64, 8, true};
}

/// Terminal i is member order[i], by chance.
std::vector<Rank> mixed(Rank members, Random& random) {
    std::vector<Rank> order(members);
    std::iota(order.begin(), order.end(), 0u);
    for (std::size_t at = members; at > 1; --at) std::swap(order[at - 1], order[random() % at]);
    return order;
}

void prove_each(const RoundSchedule& schedule, Operation operation, Rank members, Random& random) {
    for (const std::uint32_t overlap : kOverlaps) {
        GroupSchedule how{schedule, mixed(members, random), overlap};
        const PlanRequest request = request_of(operation, members, how.ranks_of_terminals[schedule.root]);
        const Proof proof = prove(to_plan(request, how));
        if (!proof)
            FAIL(to_string(operation)
                 << " of " << members << ", overlap " << overlap << ": " << proof.broken);
    }
}

/// Runs the plan with members that take turns at random. The most messages with content that were on their
/// way over one link at once.
std::size_t most_on_a_link(const Plan& plan, const RoundSchedule& schedule, Random& random) {
    std::map<std::pair<Rank, Rank>, LinkPath> path_of; // terminals are members here
    for (const Round& round : schedule.rounds)
        for (const Transfer& each : round) path_of[{each.src, each.dst}] = each.path;
    std::vector<std::size_t> next(plan.members);
    std::vector<char> sent(plan.messages.size());
    std::map<std::uint32_t, std::size_t> on_link;
    std::size_t most = 0;
    for (std::size_t done = 0; done < 2 * plan.messages.size();) {
        const auto member = static_cast<Rank>(random() % plan.members);
        if (next[member] == plan.steps[member].size()) continue;
        const Step step = plan.steps[member][next[member]];
        if (!step.send && sent[step.message] == 0) continue;
        const Message& message = plan.messages[step.message];
        if (message.ranges > 0)
            for (const std::uint32_t link : path_of.at({message.from, message.to}))
                most = std::max(most, step.send ? ++on_link[link] : on_link[link]--);
        sent[step.message] = 1;
        ++next[member];
        ++done;
    }
    return most;
}

std::string refusal(Status status, const PlanRequest& request, const GroupSchedule& how) {
    try {
        to_plan(request, how);
    } catch (const Error& error) { return error.status() == status ? error.what() : "another status"; }
    return "nothing was refused";
}

} // namespace

TEST_CASE(
    "schedules of every kind become plans that are proved, for 2 to 33 members, any root and any mapping") {
    Random random(12);
    for (Rank members = 2; members <= 33; ++members) {
        prove_each(ring_aab(members), Operation::all_gather, members, random);
        prove_each(shift_aas(members), Operation::all_to_all, members, random);
        for (const Rank root : {Rank{0}, members / 2, members - 1}) {
            prove_each(doubling_oab(members, root), Operation::broadcast, members, random);
            prove_each(doubling_oab(members, root), Operation::reduce, members, random);
            prove_each(serial_oas(members, root), Operation::scatter, members, random);
            prove_each(serial_oas(members, root), Operation::gather, members, random);
        }
    }
}

TEST_CASE("a schedule's plan has a message for each transfer, in lockstep beside those without content") {
    const RoundSchedule schedule = shift_aas(8);
    const Plan free =
        to_plan(request_of(Operation::all_to_all, 8), {schedule, {}, GroupSchedule::kAsynchronous});
    CHECK(free.messages.size() == 56);
    const Plan lockstep = to_plan(request_of(Operation::all_to_all, 8), {schedule});
    std::size_t with_content = 0;
    for (const Message& each : lockstep.messages) with_content += each.ranges > 0 ? 1 : 0;
    CHECK(with_content == 56);
    CHECK(lockstep.messages.size() > 56);
}

TEST_CASE("at most one more than the overlap is on its way over a link, whatever the members' pace") {
    Random random(7);
    for (const std::string_view name : {"btree-8", "btree-16", "star-7", "karytree-3-2"}) {
        const LinkGraph graph = named_graph(name);
        const RoundSchedule schedule = first_fit_aas(graph);
        const auto members = static_cast<Rank>(graph.terminals.size());
        for (const std::uint32_t overlap : {0u, 1u, 2u, 5u}) {
            const Plan plan = to_plan(request_of(Operation::all_to_all, members), {schedule, {}, overlap});
            REQUIRE(prove(plan));
            for (int draw = 0; draw < 20; ++draw)
                CHECK(most_on_a_link(plan, schedule, random) <= overlap + 1);
        }
    }
    // The judge sees what it has to.
    const RoundSchedule schedule = first_fit_aas(named_graph("btree-16"));
    const Plan free =
        to_plan(request_of(Operation::all_to_all, 16), {schedule, {}, GroupSchedule::kAsynchronous});
    CHECK(most_on_a_link(free, schedule, random) > 6);
}

TEST_CASE(
    "a reduction that does not commute goes by a schedule that keeps the order of ranks, and by no other") {
    // 0 sends to 2, then to 1; 2 sends to 3: reversed, 3 joins 2, then 1 joins 0, then 2 and 3 do.
    const RoundSchedule tree{
        CollectiveKind::oab, 0, {{over_star(0, 2, 0)}, {over_star(0, 1, 0), over_star(2, 3, 0)}}};
    PlanRequest request = request_of(Operation::reduce, 4);
    request.commutative = false;
    const Plan plan = to_plan(request, {tree});
    CHECK(prove(plan).rank_order);
    Random random(3);
    Data letters;
    for (const char* const each : {"a", "b", "c", "d"}) letters.push_back({std::string(each)});
    CHECK(run_on(plan, letters, random)[0][0] == "abcd");

    CHECK_THAT(refusal(Status::unsupported, request, {doubling_oab(4, 0)}), Contains("order of ranks"));
    request.commutative = true;
    CHECK(prove(to_plan(request, {doubling_oab(4, 0)})));
}

TEST_CASE("what is no schedule for the group is refused, and the sentence says why") {
    const auto all_to_all = request_of(Operation::all_to_all, 4);
    const auto bad = [](const PlanRequest& request, const GroupSchedule& how) {
        return refusal(Status::bad_argument, request, how);
    };
    CHECK_THAT(bad(all_to_all, {shift_aas(5)}), Contains("has a terminal 4, and the group 4 members"));
    CHECK_THAT(bad(all_to_all, {shift_aas(3)}), Contains("never gets block"));
    CHECK_THAT(bad(all_to_all, {shift_aas(4), {0, 1, 2}}), Contains("3 terminals for a group of 4"));
    CHECK_THAT(bad(all_to_all, {shift_aas(4), {0, 1, 2, 2}}), Contains("member 2 is to be at two"));
    CHECK_THAT(bad(all_to_all, {shift_aas(4), {0, 1, 2, 4}}), Contains("member 4, of 4"));
    CHECK_THAT(bad(request_of(Operation::broadcast, 4, 1), {doubling_oab(4, 2)}),
               Contains("root of the schedule is member 2, that of the broadcast is 1"));
    CHECK_THAT(refusal(Status::unsupported, request_of(Operation::barrier, 4), {shift_aas(4)}),
               Contains("AAS is for all_to_all, not for barrier"));
    CHECK_THAT(refusal(Status::unsupported, all_to_all, {doubling_oab(4, 0)}),
               Contains("OAB is for broadcast and reduce, not for all_to_all"));

    GroupSchedule how{shift_aas(4)};
    how.schedule.rounds[0].push_back(how.schedule.rounds[1].back());
    how.schedule.rounds[1].pop_back();
    CHECK_THAT(bad(all_to_all, how), Contains("in one round, link"));
    how = {shift_aas(4)};
    how.schedule.rounds[1][0].path.clear();
    CHECK_THAT(bad(all_to_all, how), Contains("over no link"));
    how.overlap = GroupSchedule::kAsynchronous;
    CHECK(prove(to_plan(all_to_all, how)));
    how.schedule.rounds[1].pop_back();
    CHECK_THAT(bad(all_to_all, how), Contains("never gets block"));
    how = {ring_aab(4)};
    std::swap(how.schedule.rounds[0], how.schedule.rounds[2]);
    CHECK_THAT(bad(request_of(Operation::all_gather, 4), how), Contains("does not have it"));
    how = {shift_aas(4)};
    how.schedule.rounds[0][0].msg = 3;
    CHECK_THAT(bad(all_to_all, how), Contains("AAS carries the message of member 3"));
    CHECK_THAT(bad(request_of(Operation::all_to_all, 0), {{CollectiveKind::aas, 0, {}}}),
               Contains("at least one member"));
}

} // namespace by_schedule_test
