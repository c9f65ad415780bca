// SPDX-License-Identifier: BSD-3-Clause
// Groups among the counters that other processes read of a context.
#include "context/core.h"
#include "eco/group/party.h"
#include "plexus/counters.h"

#include <algorithm>
#include <barrier>
#include <stdexcept>
#include <unistd.h>

namespace shown_test {

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::testing;

namespace {

CounterTable groups_of(const Context& context) {
    for (RunningContext& each : RunningContext::of(::getpid()))
        if (each.label().id == context.id())
            for (CounterTable& table : each.read(std::chrono::seconds(10 * kPatience)).tables)
                if (table.name == "group") return std::move(table);
    throw std::runtime_error("the context shows no table of groups");
}

std::uint64_t number_in(const CounterTable& table, std::size_t row, std::string_view column) {
    for (std::size_t at = 0; at < table.columns.size(); ++at)
        if (table.columns[at].name == column) return table.rows[row][at].number;
    throw std::runtime_error("there is no column " + std::string(column));
}

/// A meeting point that nobody waits at for a member that has thrown.
class Step {
  public:
    explicit Step(std::barrier<>& barrier)
      : barrier_(barrier) {}
    ~Step() { barrier_.arrive_and_drop(); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;
    void meet() { barrier_.arrive_and_wait(); }

  private:
    std::barrier<>& barrier_;
};

/// Sums of the counts of all rows.
std::uint64_t sum_in(const CounterTable& table, std::string_view column) {
    std::uint64_t sum = 0;
    for (std::size_t row = 0; row < table.rows.size(); ++row) sum += number_in(table, row, column);
    return sum;
}

} // namespace

TEST_CASE("a context shows its groups: their calls by each way, what is under way, and which are broken") {
    constexpr Rank kMembers = 3;
    Party party(kMembers, "shm");
    std::vector<CounterTable> before(kMembers);
    std::vector<CounterTable> during(kMembers);
    std::vector<CounterTable> after(kMembers);
    std::barrier<> meeting(kMembers);
    CHECK(complaints(party.run([&](const Group& all) -> std::string {
              const Rank me = all.rank();
              Step step(meeting);
              std::vector<std::uint32_t> data(100, me);
              before[me] = groups_of(party.context(me));
              for (int i = 0; i < 5; ++i) all.with(Algorithm::memory()).broadcast(std::span(data), 0);
              for (int i = 0; i < 7; ++i) all.with(Algorithm::messages()).broadcast(std::span(data), 0);
              Future<void> open; // members 1 and 2 wait for member 0
              if (me != 0) open = all.async().broadcast(std::span(data), 0);
              step.meet();
              during[me] = groups_of(party.context(me));
              step.meet();
              if (me == 0) open = all.async().broadcast(std::span(data), 0);
              open.get();
              after[me] = groups_of(party.context(me));
              step.meet(); // nobody leaves before all have looked
              return {};
          })) == "");
    for (Rank me = 0; me < kMembers; ++me) {
        CAPTURE(me);
        REQUIRE(before[me].rows.size() == 1);
        REQUIRE(during[me].rows.size() == 1);
        const auto grown = [&](std::string_view column) {
            return number_in(during[me], 0, column) - number_in(before[me], 0, column);
        };
        CHECK(during[me].rows[0][0].text.size() == 16);
        CHECK(during[me].rows[0][0].text == during[0].rows[0][0].text);
        CHECK(number_in(during[me], 0, "rank") == me);
        CHECK(number_in(during[me], 0, "members") == kMembers);
        CHECK(grown("memory_calls") == 5);
        CHECK(grown("message_calls") == (me == 0 ? 7 : 8));
        CHECK(grown("call_bytes") == 400u * (me == 0 ? 12 : 13));
        CHECK(grown("hierarchical_calls") == 0);
        CHECK(grown("multicast_calls") == 0);
        CHECK(number_in(during[me], 0, "under_way") == (me == 0 ? 0 : 1));
        CHECK(number_in(during[me], 0, "broken") == 0);
        CHECK(number_in(after[me], 0, "under_way") == 0);
        CHECK(eventually(20s, [&] { return groups_of(party.context(me)).rows.empty(); })); // they have ended
    }
}

TEST_CASE(
    "groups that execute parts of another group's calls are not shown, but parts that were asked for are") {
    Party party(4, "shm");
    std::barrier<> meeting(4);
    CHECK(complaints(party.run_with(on_hosts("aabb"), [&](const Group& all) -> std::string {
              Step step(meeting);
              std::vector<int> data(10, 1);
              all.broadcast(std::span(data), 0);
              const Group half = all.split(all.rank() % 2);
              const CounterTable shown = groups_of(party.context(all.rank()));
              step.meet();
              if (shown.rows.size() != 2) return "there are " + std::to_string(shown.rows.size());
              return sum_in(shown, "hierarchical_calls") == 0 ? "no call was hierarchical" : "";
          })) == "");
}

TEST_CASE("a broken group is shown as one") {
    const auto late = expect_warning("plexus.eco.arrive"); // for a member that has left by then
    Party party(2, "shm");
    std::barrier<> meeting(2);
    CHECK(complaints(party.run([&](const Group& all) -> std::string {
              Step step(meeting);
              std::vector<int> data(10 + all.rank());
              try {
                  for (;;) all.with(Algorithm::messages()).all_reduce(std::span(data), std::plus<>{});
              } catch (const Error&) {}
              const CounterTable shown = groups_of(party.context(all.rank()));
              step.meet();
              return shown.rows.size() == 1 && number_in(shown, 0, "broken") == 1 ? "" : "it is not";
          })) == "");
}

TEST_CASE("the last reference to a group may be that of a reader of its counters") {
    const bool closes = GENERATE(false, true);
    Party party(1, "local");
    Context& context = party.context(0);
    std::optional<Group> group(Group::meet(context, fresh_name(), 0, 1));
    group->barrier();
    std::uint64_t calls = 0;
    context.core()->shown_groups().ask([&](const ShownGroup& shown) {
        calls = shown.calls.by_messages;
        group.reset(); // the reader holds it now
        if (closes) party.end(0);
    });
    CHECK(calls > 0);
    if (!closes) CHECK(groups_of(context).rows.empty());
}

TEST_CASE("counters are read while groups are made, call and end, and contexts close") {
    std::atomic<bool> over{false};
    std::atomic<int> seen{0};
    const std::jthread reader([&] {
        while (!over) {
            try {
                for (RunningContext& each : RunningContext::of(::getpid())) {
                    try {
                        for (const CounterTable& table : each.read(std::chrono::seconds(10)).tables)
                            if (table.name == "group" && !table.rows.empty()) ++seen;
                    } catch (const Error&) {} // it has closed meanwhile
                }
            } catch (const Error&) {} // there is none now
        }
    });
    struct Over {
        std::atomic<bool>& over;
        ~Over() { over = true; }
    } const end{over};
    for (int round = 0; round < 20 || (seen == 0 && round < 1'000); ++round) {
        Party party(2, "shm");
        CHECK(complaints(party.run([&](const Group& all) -> std::string {
                  const Group twin = all.dup();
                  for (int i = 0; i < 20; ++i) twin.barrier();
                  return {};
              })) == "");
    }
    CHECK(seen > 0);
}

} // namespace shown_test
