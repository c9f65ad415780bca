// SPDX-License-Identifier: BSD-3-Clause
// Groups whose calls follow a schedule: agreed on once, and then every member gets what is due.
#include "eco/group/party.h"
#include "eco/plan/round_schedules.h"
#include "group/agreement.h"
#include "support/catch.h"

#include <numeric>
#include <sys/resource.h>

namespace by_schedule_test {

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::testing;
using Catch::Matchers::Contains;

namespace {

constexpr std::uint32_t kOverlaps[] = {0, 2, GroupSchedule::kAsynchronous};

/// The schedule on member `from`, nothing on others.
GroupSchedule only_on(const Group& all, Rank from, const GroupSchedule& how) {
    return all.rank() == from ? how : GroupSchedule{};
}

/// What a member at `rank` sends to `to`, `n` numbers.
std::vector<std::uint32_t> numbers(Rank rank, Rank to, std::size_t n) {
    std::vector<std::uint32_t> out(n);
    std::iota(out.begin(), out.end(), rank * 1000 + to * 10);
    return out;
}

std::string exchanges(const Group& group, std::size_t n) {
    std::vector<std::uint32_t> out;
    std::vector<std::uint32_t> due;
    for (Rank other = 0; other < group.size(); ++other) {
        for (const std::uint32_t each : numbers(group.rank(), other, n)) out.push_back(each);
        for (const std::uint32_t each : numbers(other, group.rank(), n)) due.push_back(each);
    }
    std::vector<std::uint32_t> in(out.size());
    group.all_to_all(std::span(out), std::span(in));
    return in == due ? "" : "all_to_all of " + std::to_string(n);
}

std::string message_of(const std::function<void()>& what) {
    try {
        what();
    } catch (const Error& error) { return std::string(to_string(error.status())) + ": " + error.what(); }
    return "nothing was thrown";
}

} // namespace

TEST_CASE("all_to_all follows a schedule that one member has, in lockstep or not, for any size") {
    const RoundSchedule schedule = first_fit_aas(named_graph("btree-8"));
    Party party(8, GENERATE("local", "tcp"));
    const auto said = party.run([&](const Group& all) -> std::string {
        for (const std::uint32_t overlap : kOverlaps) {
            const Group group = all.by(only_on(all, 3, {schedule, {7, 6, 5, 4, 3, 2, 1, 0}, overlap}), 3);
            for (const std::size_t n : {0, 1, 1000, 30'000})
                if (std::string bad = exchanges(group, n); !bad.empty()) return bad;
            const Plan plan = group.plan_of({Operation::all_to_all, 8, 0, 10, 4, true});
            if (!prove(plan)) return "the plan";
            // Only the ends of a message know its length, and nobody passes one on.
            std::vector<std::uint64_t> out_counts;
            std::vector<std::uint64_t> in_counts;
            for (Rank other = 0; other < 8; ++other) {
                out_counts.push_back(all.rank() + 2 * other);
                in_counts.push_back(other + 2 * all.rank());
            }
            std::vector<Rank> out(std::accumulate(out_counts.begin(), out_counts.end(), std::size_t{0}),
                                  all.rank());
            std::vector<Rank> in(std::accumulate(in_counts.begin(), in_counts.end(), std::size_t{0}), 99);
            group.all_to_all_v(std::span(out), Layout{out_counts, {}}, std::span(in), Layout{in_counts, {}});
            std::size_t at = 0;
            for (Rank other = 0; other < 8; ++other)
                for (std::uint64_t i = 0; i < in_counts[other]; ++i)
                    if (in[at++] != other) return "all_to_all_v";
        }
        return "";
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("every operation that has a schedule follows it, blocking, with a future and prepared") {
    constexpr Rank kMembers = 6;
    Party party(kMembers, "local");
    const auto said = party.run([&](const Group& all) -> std::string {
        const Rank me = all.rank();
        for (const std::uint32_t overlap : kOverlaps) {
            const auto by = [&](const RoundSchedule& schedule) {
                return all.by({schedule, {}, overlap}); // all have it
            };
            const Rank root = 4;
            const Group tree = by(doubling_oab(kMembers, root));
            std::vector<std::uint64_t> data(5000, me == root ? 17 : 0);
            tree.broadcast(std::span(data), root);
            if (data.front() != 17 || data.back() != 17) return "broadcast";
            std::fill(data.begin(), data.end(), me + 1);
            tree.async().reduce(std::span(data), std::plus<>{}, root).get();
            if (data.back() != (me == root ? 21 : me + 1)) return "reduce";

            const Group ring = by(ring_aab(kMembers));
            std::vector<Rank> mine(100, me);
            std::vector<Rank> whole(600);
            auto prepared = ring.prepare().all_gather(std::span(mine), std::span(whole));
            for (int run = 0; run < 3; ++run) {
                std::fill(whole.begin(), whole.end(), 99);
                prepared.run();
                for (std::size_t i = 0; i < whole.size(); ++i)
                    if (whole[i] != i / 100) return "all_gather";
            }
            if (ring.all_gather(std::string(me, 'x'))[5] != "xxxxx") return "all_gather of values";

            const Group line = by(serial_oas(kMembers, root));
            std::fill(mine.begin(), mine.end(), 99);
            line.scatter(std::span(whole), std::span(mine), root);
            if (mine.front() != me || mine.back() != me) return "scatter";
            std::fill(whole.begin(), whole.end(), 99);
            line.gather(std::span(mine), std::span(whole), root);
            if (me == root)
                for (std::size_t i = 0; i < whole.size(); ++i)
                    if (whole[i] != i / 100) return "gather";
        }
        return "";
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("members with other schedules are named to all, and the group stays whole") {
    Party party(5, "local");
    const auto said = party.run([&](const Group& all) -> std::string {
        GroupSchedule mine{shift_aas(5)};
        if (all.rank() == 2) std::swap(mine.schedule.rounds[0], mine.schedule.rounds[1]);
        if (all.rank() == 4) mine.overlap = 1;
        const std::string two = message_of([&] { all.by(mine, 1); });
        if (two != "bad argument: members 2, 4 have another schedule than member 1") return two;
        if (all.rank() == 4) mine = {};
        const std::string one = message_of([&] { all.by(mine); });
        if (one != "bad argument: member 2 has another schedule than member 0") return one;
        const std::string none = message_of([&] { all.by(only_on(all, 0, {shift_aas(4)})); });
        if (none.find("bad argument: the schedule is no all_to_all of 5 members") != 0) return none;
        if (message_of([&] { all.by(mine, 5); }).find("bad argument") != 0) return "no such member";
        return exchanges(all.by(only_on(all, 0, {shift_aas(5)})), 10);
    });
    CHECK(complaints(said) == "");
}

TEST_CASE(
    "a call that a schedule is not for is refused, and groups that come out of the group are free of it") {
    Party party(4, "local");
    const auto said = party.run([&](const Group& all) -> std::string {
        const Group group = all.by(only_on(all, 0, {doubling_oab(4, 1)}));
        std::uint32_t value = all.rank();
        const std::string other = message_of([&] { group.barrier(); });
        if (other.find("unsupported: a schedule of OAB is for broadcast and reduce") != 0) return other;
        const std::string root = message_of([&] { group.broadcast(value, 2); });
        if (root.find("bad argument: the root of the schedule is member 1") != 0) return root;
        const Group half = group.split(all.rank() % 2);
        half.broadcast(value);
        half.barrier();
        if (value != all.rank() % 2) return "split";
        group.dup().broadcast(value, 1);
        return value == 1 ? "" : "dup";
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("a member that announces a schedule of any size costs others no memory") {
    Party party(3, "local");
    const auto said = party.run([&](const Group& all) -> std::string {
        for (const std::uint64_t words : {std::uint64_t{1} << 28, std::uint64_t{1} << 40, UINT64_MAX}) {
            if (all.rank() == 0) { // as by() begins, and no further
                std::uint64_t size = words;
                all.broadcast(std::span(&size, 1), 0);
                continue;
            }
            const std::string why = message_of([&] { (void)all.by({}, 0); });
            if (why.find("bad argument: ") != 0 || why.find("schedule of member 0") == std::string::npos)
                return why;
        }
        return "";
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("a member that follows another schedule without having agreed on it breaks the group") {
    const auto late = expect_warning("plexus.eco.arrive"); // for a member that has left by then
    Party party(4, "local");
    const auto said = party.run([&](const Group& all) -> std::string {
        GroupSchedule mine{shift_aas(4)};
        if (all.rank() == 3) mine.overlap = 1;
        const Group group = all.with(Algorithm::by(std::make_shared<const GroupSchedule>(mine)));
        return message_of([&] {
            exchanges(group, 100);
            group.with(Algorithm()).barrier(); // who has heard of nothing does here
        });
    });
    for (const std::string& each : said) CHECK_THAT(each, Contains("bad argument") && Contains("all_to_all"));
}

TEST_CASE("the words of a schedule give it back, and bytes that are none are refused") {
    const std::optional<Pace> pace = GENERATE(std::optional<Pace>(), std::optional(Pace{1e-3, 2.5e-9, -0.0}));
    const GroupSchedule how{first_fit_aas(named_graph("btree-4")), {3, 2, 1, 0}, 7, pace};
    const std::vector<std::uint32_t> words = eco::detail::words_of(how);
    CHECK(eco::detail::schedule_in(words) == how);
    for (std::size_t size = 0; size < words.size(); ++size)
        CHECK_THROWS_AS(eco::detail::schedule_in(std::span(words).first(size)), Error);
    std::vector<std::uint32_t> longer = words;
    longer.push_back(0);
    CHECK_THROWS_AS(eco::detail::schedule_in(longer), Error);
    std::vector<std::uint32_t> strange = words;
    strange[0] = 4;
    CHECK_THROWS_AS(eco::detail::schedule_in(strange), Error);
    strange = words;
    strange[pace ? 10 : 4] = UINT32_MAX; // how many ranks follow
    CHECK_THROWS_AS(eco::detail::schedule_in(strange), Error);
}

TEST_CASE("room is made for as many transfers as a member can have sent") {
    std::vector<std::uint32_t> words(std::size_t{1} << 24);
    words[0] = 3;
    words[5] = 1; // rounds, of no ranks
    words[6] = static_cast<std::uint32_t>(words.size() - 7);
    const auto most_kib = [] {
        rusage used{};
        getrusage(RUSAGE_SELF, &used);
        return used.ru_maxrss;
    };
    const long before = most_kib();
    CHECK_THROWS_AS(eco::detail::schedule_in(words), Error);
    CHECK(most_kib() - before < 1 << 18); // with a transfer for each word it was 640 MiB
}

} // namespace by_schedule_test
