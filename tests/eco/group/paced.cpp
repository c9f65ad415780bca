// SPDX-License-Identifier: BSD-3-Clause
// Calls whose members hold messages back: they bring what is due, take the time that they are told to take,
// and end when they have to.
#include "eco/group/party.h"
#include "eco/plan/round_schedules.h"
#include "support/catch.h"

#include "plexus/eco/pace.h"

#include <barrier>

namespace paced_test {

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::testing;

namespace {

using Clock = std::chrono::steady_clock;

/// Nobody waits for so long.
constexpr Pace kNever{1000, 0, 0};

std::string exchange(const Group& group, bool with_future, std::size_t n = 3) {
    std::vector<Rank> out(n * group.size(), group.rank());
    std::vector<Rank> in(out.size(), 99);
    if (with_future) {
        within(group.async().all_to_all(std::span(std::as_const(out)), std::span(in)));
    } else {
        group.all_to_all(std::span(std::as_const(out)), std::span(in));
    }
    for (std::size_t i = 0; i < in.size(); ++i)
        if (in[i] != i / n) return "the wrong numbers came";
    return {};
}

Refusal refusal(const std::function<void()>& what) {
    try {
        what();
    } catch (const Error& error) {
        return {error.status(), error.what()};
    } catch (const std::exception& error) { return {Status::timed_out, error.what()}; }
    return {};
}

} // namespace

TEST_CASE("a paced call brings what is due, and takes no less time than its pace says") {
    const bool with_future = GENERATE(false, true);
    Party party(5, GENERATE("local", "tcp"));
    const auto said = party.run([&](const Group& all) -> std::string {
        const GroupSchedule how{shift_aas(5), {}, 0, Pace{1e-3, 0, 100e-6}};
        const Group group = all.by(how);
        for (const std::size_t n : {0, 1, 20'000}) {
            all.barrier();
            const auto begin = Clock::now();
            if (std::string bad = exchange(group, with_future, n); !bad.empty()) return bad;
            // Three transfers of 1 ms go before a member's last one.
            if (Clock::now() - begin < std::chrono::milliseconds(3)) return "it held nothing back";
        }
        return "";
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("a paced call ends at its deadline, however long its messages are held back") {
    const bool with_future = GENERATE(false, true);
    const auto late = expect_warning("plexus.eco.arrive");
    Party party(3, "shm");
    const auto said = party.run([&](const Group& all) -> std::string {
        const Group group =
            all.by({shift_aas(3), {}, 0, kNever}).with(deadline(std::chrono::milliseconds(50)));
        const Refusal told = refusal([&] { exchange(group, with_future); });
        return told.status == Status::deadline_exceeded ? "" : "it said " + told.why;
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("members that hold messages back learn that another one broke the group") {
    const bool with_future = GENERATE(false, true);
    const auto late = expect_warning("plexus.eco.arrive");
    Party party(3, "local");
    std::barrier<> over(3);
    const auto said = party.run([&](const Group& all) -> std::string {
        const Group group = all.by({shift_aas(3), {}, 0, kNever});
        Refusal told;
        if (all.rank() == 1) {
            // The first messages, by which members meet, are sent: the others hold back the next.
            told =
                refusal([&] { exchange(group.with(deadline(std::chrono::milliseconds(100))), with_future); });
        } else {
            told = refusal([&] { exchange(group, with_future); });
        }
        over.arrive_and_wait();
        return told.says("deadline") ? "" : "it said " + told.why;
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("a pace is measured, is the same on all members, and serves a call") {
    Party party(4, GENERATE("shm", "tcp"));
    const auto said = party.run([&](const Group& all) -> std::string {
        GroupSchedule how;
        if (all.rank() == 2) how.schedule = first_fit_aas(named_graph("btree-4"));
        for (const std::uint64_t bytes : {0, 1, 4096, 1 << 20}) {
            const Pace pace = measure_pace(all, how, bytes, 2);
            for (const double each : {pace.message_s, pace.byte_s, pace.hop_s})
                if (!(each >= 0 && each < 60)) return "a time of " + std::to_string(each);
            for (const Pace& other : all.all_gather(pace))
                if (!(other == pace)) return "members have several paces";
            if (all.rank() == 2) how.pace = pace;
            if (std::string bad = exchange(all.by(how, 2), false, 100); !bad.empty()) return bad;
        }
        return "";
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("there is no pace of a schedule without transfers, nor by a member that is not there") {
    Party party(3, "local");
    const auto said = party.run([&](const Group& all) -> std::string {
        const Refusal empty = refusal([&] { measure_pace(all, {}, 4096); });
        if (empty.status != Status::bad_argument || !empty.says("without transfers")) return empty.why;
        const Refusal nobody = refusal([&] { measure_pace(all, {shift_aas(3)}, 4096, 3); });
        if (nobody.status != Status::bad_argument) return nobody.why;
        return exchange(all, false);
    });
    CHECK(complaints(said) == "");
}

} // namespace paced_test
