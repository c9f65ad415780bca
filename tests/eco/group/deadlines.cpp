// SPDX-License-Identifier: BSD-3-Clause
// Collective calls with a deadline: they end in time, and all members learn why.
#include "eco/group/party.h"

#include <barrier>

namespace deadlines_test {

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::testing;

namespace {

enum class Form { blocking, async, persistent };

/// What the barrier of a group throws; empty: nothing.
Refusal barrier(const Group& group, Form form) {
    try {
        if (form == Form::blocking) group.barrier();
        if (form == Form::async) within(group.async().barrier());
        if (form == Form::persistent) group.prepare().barrier().run();
    } catch (const Error& error) {
        return {error.status(), error.what()};
    } catch (const std::exception& error) { return {Status::timed_out, error.what()}; }
    return {};
}

} // namespace

TEST_CASE("a collective call ends at its deadline, and breaks the group for all members") {
    const Form form = GENERATE(Form::blocking, Form::async, Form::persistent);
    const std::string_view hosts = GENERATE("aaa", "aba", "abc");
    CAPTURE(static_cast<int>(form), hosts);
    const auto late = expect_warning("plexus.eco.arrive");
    Party party(3, "shm");
    std::barrier<> over(3);
    CHECK(complaints(party.run_with(on_hosts(hosts), [&](const Group& all) -> std::string {
              const Group rest = all.dup();
              std::string bad;
              if (all.rank() == 1) over.arrive_and_wait(); // it does not come in time
              const Group limited = all.with(deadline(std::chrono::milliseconds(50)));
              Refusal told = barrier(limited, form);
              if (all.rank() != 1) over.arrive_and_wait();
              // Who comes late may find that all had come, before the news that they gave up: not again.
              if (all.rank() == 1 && told.status == Status::ok) told = barrier(limited, form);
              if (told.status != Status::deadline_exceeded || !told.says("deadline"))
                  bad = "it said " + told.why;
              if (rest.all_reduce(1, std::plus<>{}) != 3) bad += "the other group is broken, too";
              return bad;
          })) == "");
}

TEST_CASE("limits.call_deadline holds for collective calls that name no deadline") {
    const Form form = GENERATE(Form::blocking, Form::async, Form::persistent);
    const std::string_view hosts = GENERATE("aa", "ab");
    CAPTURE(static_cast<int>(form), hosts);
    const auto late = expect_warning("plexus.eco.arrive");
    const auto gone = expect_warning("may not have been delivered"); // to a member that has closed meanwhile
    // Long enough for the members to meet.
    Party party(2, "shm", {{"limits.call_deadline", std::to_string(500 * kPatience) + " ms"}});
    std::barrier<> over(2);
    CHECK(complaints(party.run_with(on_hosts(hosts), [&](const Group& all) -> std::string {
              if (all.rank() == 1) over.arrive_and_wait(); // it does not come in time
              const Refusal told = barrier(all, form);
              if (all.rank() == 1) return {}; // all may be there for it
              over.arrive_and_wait();
              return told.status == Status::deadline_exceeded ? "" : "it said " + told.why;
          })) == "");
}

TEST_CASE("a call that ends before its deadline is not disturbed, nor are the calls after it") {
    const Form form = GENERATE(Form::blocking, Form::async, Form::persistent);
    const std::string_view hosts = GENERATE("aa", "ab");
    CAPTURE(static_cast<int>(form), hosts);
    Party party(2, "shm");
    CHECK(complaints(party.run_with(on_hosts(hosts), [&](const Group& all) -> std::string {
              const Group limited = all.with(deadline(kLimit * kPatience));
              for (int call = 0; call < 20; ++call)
                  if (const Refusal told = barrier(limited, form); told.status != Status::ok) return told.why;
              std::vector<double> data(100'000, 1);
              limited.with(Algorithm::messages()).all_reduce(std::span(data), std::plus<>{});
              return data.front() == 2 && data.back() == 2 ? "" : "the sum is wrong";
          })) == "");
}

} // namespace deadlines_test
