// SPDX-License-Identifier: BSD-3-Clause
// What goes wrong is named, told to all, and ends in bounded time.
#include "eco/group/party.h"

#include <barrier>

namespace failures_test {

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::testing;

namespace {

std::string status_of(const std::function<void()>& call) {
    try {
        call();
        return "nothing";
    } catch (const Error& error) { return std::string(to_string(error.status())) + ": " + error.what(); }
}

/// As status_of(), of a call whose operation may throw 7.
std::string ending_of(const std::function<void()>& call) {
    try {
        return status_of(call);
    } catch (int thrown) { return std::to_string(thrown); }
}

/// How many calls ended with what the operation threw there, which is `own`. All others were told of it.
int members_that_threw(const std::vector<std::string>& endings, const std::string& own = "7") {
    int threw = 0;
    for (const std::string& each : endings) {
        CAPTURE(each);
        threw += each == own ? 1 : 0;
        CHECK((each == own || each.starts_with(std::string(to_string(Status::bad_argument)) +
                                               ": the operation threw on member ")));
    }
    return threw;
}

} // namespace

TEST_CASE("members that call different things are named, and all are told") {
    const std::string methods = GENERATE(as<std::string>{}, "local", "tcp");
    const int kind = GENERATE(0, 1, 2, 3);
    const std::string_view hosts = GENERATE("aaaa", "baba", "bbaa", "abcd");
    CAPTURE(methods, kind, hosts);
    const auto late = expect_warning("plexus.eco.arrive"); // for a member that has left by then
    Party party(4, methods);
    std::barrier<> told(4); // nobody leaves the group before all have heard
    const auto said = party.run_with(on_hosts(hosts), [&](const Group& all) -> std::string {
        const bool odd = all.rank() == 2;
        std::vector<int> data(8, 1);
        std::vector<int> more(9, 1);
        const std::string heard = status_of([&] {
            for (;;) { // an eager sender hears of it with its next call
                if (kind == 0) odd ? all.barrier() : all.all_reduce(std::span(data), std::plus<>{});
                if (kind == 1) all.broadcast(std::span(data), odd ? 1 : 0);
                if (kind == 2) all.all_reduce(odd ? std::span(more) : std::span(data), std::plus<>{});
                if (kind == 3)
                    all.with(odd ? Pattern::ring : Pattern::binomial)
                        .all_reduce(std::span(data), std::plus<>{});
                if (kind == 1) all.barrier();
            }
        });
        told.arrive_and_wait();
        return heard;
    });
    for (const std::string& each : said) {
        CAPTURE(each);
        CHECK(each.find("member 2 ") != std::string::npos);
        CHECK(each.find(" calls ") != std::string::npos);
        CHECK(each.rfind(std::string(to_string(Status::bad_argument)), 0) == 0);
    }
}

TEST_CASE("a difference that members on several hosts find behind a call breaks the group for all") {
    const auto late = expect_warning("plexus.eco.arrive");
    Party party(4, "shm");
    const auto said = party.run_with(on_hosts("aabb"), [&](const Group& all) -> std::string {
        std::vector<int> data(4, static_cast<int>(all.rank()));
        std::vector<int> whole(16);
        return status_of([&] {
            all.broadcast(std::span(data), all.rank() < 2 ? 0 : 2); // both roots' hosts are through at once
            const auto end = std::chrono::steady_clock::now() + kLimit;
            while (std::chrono::steady_clock::now() < end) all.all_gather(std::span(data), std::span(whole));
        });
    });
    for (const std::string& each : said) {
        CAPTURE(each);
        CHECK(each.rfind(std::string(to_string(Status::bad_argument)), 0) == 0);
        CHECK(each.find("member 2 ") != std::string::npos);
        CHECK(each.find("with root 2") != std::string::npos);
    }
}

TEST_CASE("a broken group stays broken and says so; others go on") {
    const auto late = expect_warning("plexus.eco.arrive");
    Party party(3, "local");
    CHECK(complaints(party.run([](const Group& all) -> std::string {
              const Group other = all.dup();
              std::vector<int> data(4);
              for (int call = 0; call < 2; ++call) {
                  const std::string said = status_of([&] {
                      for (;;) all.broadcast(std::span(data).first(all.rank() == 0 ? 3 : 4));
                  });
                  if (said.find("the group is broken") == std::string::npos) return "said " + said;
              }
              if (other.all_reduce(1, std::plus<>{}) != 3) return "the other group is wrong";
              return {};
          })) == "");
}

TEST_CASE("a member that ends inside a collective is named to all others, and other groups go on") {
    const std::string methods = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    const bool async = GENERATE(false, true);
    const std::string_view hosts = GENERATE("aaaa", "baba", "bbaa", "aaab");
    CAPTURE(methods, async, hosts);
    const auto lost = expect_warning("");
    Party party(4, methods);
    std::barrier<> ready(4); // whoever is still in an earlier call when the group breaks hears of it there
    CHECK(complaints(party.run_with(on_hosts(hosts), [&](const Group& all) -> std::string {
              const Group rest = all.split(all.rank() == 3 ? Group::kNoColour : 0);
              ready.arrive_and_wait();
              if (all.rank() == 3) {
                  party.end(3);
                  return {};
              }
              const std::string said = status_of([&] {
                  if (async) {
                      Future<void> done = all.async().barrier();
                      if (!done.wait_for(kLimit * kPatience)) throw std::runtime_error("no end came");
                      done.get();
                  } else {
                      all.barrier();
                  }
              });
              if (said.rfind(std::string(to_string(Status::peer_lost)), 0) != 0) return "said " + said;
              if (said.find("member 3 ") == std::string::npos) return "said " + said;
              if (rest.all_reduce(1, std::plus<>{}) != 3) return "the other group is wrong";
              return {};
          })) == "");
}

TEST_CASE("a future hears that the only other member has ended while everybody sleeps") {
    const std::string methods = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(methods);
    const auto lost = expect_warning("");
    Party party(2, methods);
    std::barrier<> ready(2);
    CHECK(complaints(party.run([&](const Group& all) -> std::string {
              all.barrier();
              ready.arrive_and_wait();
              if (all.rank() == 1) {
                  std::this_thread::sleep_for(std::chrono::milliseconds(50)); // the other one sleeps by then
                  party.end(1);
                  return {};
              }
              Future<void> done = all.async().barrier();
              if (!done.wait_for(kLimit * kPatience)) return "no end came";
              const std::string said = status_of([&] { done.get(); });
              return said.rfind(std::string(to_string(Status::peer_lost)), 0) == 0 ? "" : "said " + said;
          })) == "");
}

TEST_CASE("a context may end right after its last group, whatever the group's timers are doing") {
    const auto lost = expect_warning("");
    GroupOptions restless;
    restless.watch = std::chrono::milliseconds(1);
    for (int round = 0; round < 60; ++round) {
        Future<void> open; // the timers of the group ask after the other member
        {
            Party party(2, "shm");
            std::barrier<> left(2);
            CHECK(complaints(party.run(
                      [&](const Group& all) -> std::string {
                          if (all.rank() == 0) open = all.async().barrier();
                          left.arrive_and_wait();
                          std::this_thread::sleep_for(std::chrono::microseconds(500 + 25 * round));
                          return {};
                      },
                      restless)) == "");
        }
        const std::string said = status_of([&] { open.get(); });
        CAPTURE(said);
        CHECK((said.starts_with("closed: the context of this member was closed during the call") ||
               said.starts_with("peer lost: member 1 has left the group"))); // who was the first to go
    }
}

TEST_CASE("each group is looked after as often as it wants, whatever others of the context want") {
    const auto lost = expect_warning("");
    Party party(2, "shm");
    std::barrier<> ready(2);
    GroupOptions often;
    often.watch = std::chrono::milliseconds(50);
    CHECK(complaints(party.run(
              [&](const Group& all) -> std::string {
                  GroupOptions seldom;
                  seldom.watch = std::chrono::hours(1);
                  const Group other =
                      Group::meet(party.context(all.rank()), "looked after seldom", all.rank(), 2, seldom);
                  ready.arrive_and_wait();
                  if (all.rank() == 1) {
                      std::this_thread::sleep_for(std::chrono::milliseconds(50)); // both calls wait by then
                      party.end(1);
                      return {};
                  }
                  Future<void> done = all.async().barrier();
                  Future<void> never = other.async().barrier();
                  if (!done.wait_for(kLimit * kPatience)) return "no end came";
                  const std::string said = status_of([&] { done.get(); });
                  return said.rfind(std::string(to_string(Status::peer_lost)), 0) == 0 ? "" : "said " + said;
              },
              often)) == "");
}

TEST_CASE("a call that would wait inside an inline handler is refused, and the group stays whole") {
    static constexpr Request<std::string(int&)> kTry{"test.failures.wait_inside"};
    const std::string methods = GENERATE(as<std::string>{}, "shm", "tcp");
    CAPTURE(methods);
    Party party(2, methods);
    CHECK(complaints(party.run([&](const Group& all) -> std::string {
              int object = 0;
              std::string bad;
              Context& here = party.context(all.rank());
              here.on(kTry, [&](int&) { return status_of([&] { all.barrier(); }); });
              const Bound<int> bound = here.bind(object);
              const std::string said = within(bound.pointer().call(kTry));
              if (said.rfind(std::string(to_string(Status::would_deadlock)), 0) != 0) bad = "said " + said;
              all.barrier();
              return bad;
          })) == "");
}

TEST_CASE("lengths that members know of each other must be the same on all of them") {
    const auto late = expect_warning("plexus.eco.arrive");
    const Algorithm algorithm = GENERATE(Algorithm::messages(), Algorithm::memory());
    Party party(3, "local");
    const auto said = party.run([&](const Group& all) -> std::string {
        // As many in all, but member 1 has them otherwise.
        const std::vector<std::uint64_t> counts =
            all.rank() == 1 ? std::vector<std::uint64_t>{2, 2, 5} : std::vector<std::uint64_t>{3, 2, 4};
        std::vector<int> whole(9);
        const std::vector<int> mine(counts[all.rank()]);
        return status_of([&] {
            for (;;) all.with(algorithm).all_gather_v(std::span(mine), std::span(whole), Layout{counts, {}});
        });
    });
    for (const std::string& each : said) {
        CAPTURE(each);
        CHECK(each.rfind(std::string(to_string(Status::bad_argument)), 0) == 0);
        CHECK(each.find("member 1 ") != std::string::npos);
    }
}

TEST_CASE("the two ends of a part must agree on its length, and all are told who does not") {
    static constexpr const char* kDue[] = {"member 2 sends 16 bytes, and member 1 expects 12",
                                           "member 1 sends 12 bytes, and member 2 expects 16",
                                           "member 1 sends 12 bytes, and member 2 expects 8"};
    const auto late = expect_warning("plexus.eco.arrive");
    const Algorithm algorithm = GENERATE(Algorithm::messages(), Algorithm::memory());
    const int form = GENERATE(0, 1, 2);
    CAPTURE(algorithm.uses_memory(), form);
    Party party(3, "local");
    const auto said = party.run([&](const Group& all) -> std::string {
        const Group group = all.with(algorithm);
        const Rank me = all.rank();
        std::vector<int> mine(me == 2 ? 4 : 3); // one more than the root has in mind
        std::vector<int> whole(9);
        std::vector<std::uint64_t> counts(3, 3);
        const Layout layout{counts, {}};
        return status_of([&] {
            for (;;) {
                if (form == 0) group.gather_v(std::span(mine), std::span(whole), layout, 1);
                if (form == 1) group.scatter_v(std::span(whole), layout, std::span(mine), 1);
                if (form != 2) continue;
                std::vector<std::uint64_t> in_counts{3, me == 2 ? 2u : 3u, 3}; // of what member 1 sends it
                std::vector<int> in(9);
                group.all_to_all_v(std::span(whole), layout, std::span(in), Layout{in_counts, {}});
            }
        });
    });
    for (const std::string& each : said) {
        CAPTURE(each);
        CHECK(each.rfind(std::string(to_string(Status::bad_argument)), 0) == 0);
        CHECK(each.find(kDue[form]) != std::string::npos);
    }
}

TEST_CASE("what members who are ahead may have sent is bounded, and the sentence says what to do") {
    const auto late = expect_warning("plexus.eco.arrive");
    GroupOptions options;
    options.ahead_bytes = std::size_t{1} << 20;
    Party party(2, "shm");
    std::barrier<> over(2);
    const auto said = party.run(
        [&](const Group& all) -> std::string {
            const Group group = all.with(Algorithm::messages());
            std::vector<char> data(100'000);
            if (all.rank() == 1) over.arrive_and_wait(); // it does not come to any of these calls before
            const std::string heard = status_of([&] {
                for (int call = 0; call < 1'000'000; ++call) group.broadcast(std::span(data));
            });
            if (all.rank() == 0) over.arrive_and_wait();
            return heard;
        },
        options);
    for (const std::string& each : said) {
        CAPTURE(each);
        CHECK(each.rfind(std::string(to_string(Status::too_large)), 0) == 0);
        CHECK(each.find("barrier") != std::string::npos);
    }
}

TEST_CASE("what was kept of members who were ahead counts no more when their calls have come") {
    GroupOptions options;
    options.ahead_bytes = std::size_t{1} << 20;
    Party party(2, "shm");
    std::barrier<> sent(2);
    CHECK(complaints(party.run(
              [&](const Group& all) -> std::string {
                  const Group group = all.with(Algorithm::messages());
                  std::vector<char> data(100'000);
                  for (int round = 0; round < 8; ++round) { // of half the bound each
                      if (all.rank() == 1) sent.arrive_and_wait();
                      for (int call = 0; call < 5; ++call) group.broadcast(std::span(data));
                      if (all.rank() == 0) sent.arrive_and_wait();
                      group.barrier();
                  }
                  return {};
              },
              options)) == "");
}

TEST_CASE("a message that goes on where its receiver expects the end is found out at its first piece") {
    const auto late = expect_warning("plexus.eco.arrive");
    Party party(2, "local");
    constexpr std::size_t piece = 128 * 1024; // of members on one host
    const auto said = party.run([&](const Group& all) -> std::string {
        const Group group = all.with(Algorithm::messages());
        std::vector<char> mine(all.rank() == 1 ? 2 * piece : 0);
        std::vector<char> whole(all.rank() == 0 ? piece : 0);
        const std::vector<std::uint64_t> counts{0, piece};
        return status_of([&] {
            for (;;) group.gather_v(std::span(mine), std::span(whole), Layout{counts, {}}, 0);
        });
    });
    for (const std::string& each : said) {
        CAPTURE(each);
        CHECK(each.rfind(std::string(to_string(Status::bad_argument)), 0) == 0);
        CHECK(each.find("sends 131072 bytes and more, and member 0 expects 131072") != std::string::npos);
    }
}

TEST_CASE("a member may be very many small calls behind") {
    constexpr int kCalls = kSanitized ? 20'000 : 200'000;
    Party party(2, "shm");
    std::barrier<> sent(2);
    CHECK(complaints(party.run([&](const Group& all) -> std::string {
              const Group group = all.with(Algorithm::messages());
              if (all.rank() == 1) sent.arrive_and_wait();
              for (std::uint64_t call = 0; call < kCalls; ++call) {
                  std::uint64_t data = all.rank() == 0 ? call : 0;
                  group.broadcast(std::span(&data, 1));
                  if (data != call) return "call " + std::to_string(call) + " gave " + std::to_string(data);
              }
              if (all.rank() == 0) sent.arrive_and_wait();
              return {};
          })) == "");
}

TEST_CASE("spans and counts that cannot be are refused before anything is sent") {
    Party party(3, "local");
    CHECK(
        complaints(party.run([](const Group& all) -> std::string {
            std::vector<double> three(3);
            std::vector<double> four(4);
            const std::vector<std::uint64_t> huge{UINT64_MAX, 2, 2};
            const std::vector<std::uint64_t> two{1, 1};
            const auto refused = [](const std::function<void()>& call) {
                return status_of(call).rfind(std::string(to_string(Status::bad_argument)), 0) == 0;
            };
            if (!refused([&] { all.broadcast(std::span(three), 3); })) return "a root that is not there";
            if (!refused([&] { all.all_reduce(std::span(three), std::span(four), std::plus<>{}); }))
                return "sizes";
            if (!refused([&] { all.all_to_all(std::span(four)); })) return "a span that can't be shared";
            if (!refused([&] { all.all_gather(std::span(three), std::span(four)); })) return "all_gather";
            if (!refused([&] { all.all_gather_v(std::span(three), Layout{huge, {}}); })) return "an overflow";
            if (!refused([&] { all.all_gather_v(std::span(three), Layout{two, {}}); }))
                return "too few counts";
            if (!refused([&] {
                    all.all_to_all_v(std::span(three), Layout{huge, {}}, std::span(three), Layout{huge, {}});
                }))
                return "an overflow in all_to_all_v";
            if (!refused([&] { all.with(Algorithm::eco()).barrier(); })) return "eco without a map";
            const std::vector<std::uint64_t> ones{1, 1, 1};
            const std::vector<std::uint64_t> far{0, 1, 3};
            if (!refused([&] { all.all_gather_v(std::span(three), Layout{ones, far}); }))
                return "a part behind the end";
            if (all.rank() == 0 && !refused([&] {
                    all.scatter_v(std::span(three), Layout{ones, {}}, std::span(four), 0);
                }))
                return "a part of another size than one's own";
            if (!refused([&] {
                    all.all_gather_v(std::span<const double>(), std::span(three), Layout{ones, {}});
                }))
                return "nothing to send taken for a part in place";
            if (all.rank() == 0) { // for members other than the root the call would be right
                const std::string said =
                    status_of([&] { all.reduce(std::span(three), std::span(four), Max{}); });
                if (said.find("has 4 elements and needs 3") == said.npos) return "reduce said " + said;
            }
            all.barrier();
            return {};
        })) == "");
}

TEST_CASE("who meets a member that could not finish its meeting is told, and does not wait") {
    const std::string name = fresh_name();
    const auto early = expect_warning("plexus.eco.arrive");
    Party party(2, "tcp", {{"progress.lookup_timeout", "300 ms"}});
    CHECK(status_of([&] { (void)Group::meet(party.context(1), name, 1, 2); }) !=
          "nothing"); // member 0 is late
    std::atomic<bool> over{false};
    std::thread answers([&] {
        while (!over.load()) (void)party.context(1).progress();
    });
    const std::string said = status_of([&] { (void)Group::meet(party.context(0), name, 0, 2); });
    over = true;
    answers.join();
    CAPTURE(said);
    CHECK(said.find("left") != std::string::npos);
}

TEST_CASE("an operation that throws breaks the group, and its exception comes out where it threw") {
    const auto lost = expect_warning("");
    const auto how = GENERATE(as<std::string>{}, "memory", "messages");
    const std::size_t elements = GENERATE(as<std::size_t>{}, 3, 3 * 6000);
    const bool waits = GENERATE(false, true); // the others' messages are there before member 1 calls
    CAPTURE(how, elements, waits);
    Party party(3, "shm");
    std::barrier<> told(3);
    const auto algorithm = how == "memory" ? Algorithm::memory() : Algorithm::messages();
    const auto said = party.run([&](const Group& all) -> std::string {
        std::vector<int> data(elements, 1);
        const auto operation = [](int, int) -> int { throw 7; };
        const std::string heard = ending_of([&] {
            if (waits && all.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(10));
            for (;;) all.with(algorithm).all_reduce(std::span(data), operation);
        });
        told.arrive_and_wait();
        return heard;
    });
    CHECK(members_that_threw(said) > 0);
}

TEST_CASE(
    "every operation that combines ends with what a member's function throws, also where a future waits") {
    const auto lost = expect_warning("");
    const auto name = GENERATE(as<std::string>{}, "reduce", "all_reduce", "reduce_scatter", "scan");
    const bool future = GENERATE(false, true);
    CAPTURE(name, future);
    Party party(3, "shm");
    std::barrier<> told(3);
    const auto said = party.run([&](const Group& all) -> std::string {
        std::vector<int> data(6, 1), to(6);
        const auto operation = [](int, int) -> int { throw 7; };
        const auto call = [&](const auto& group) {
            const std::span<const int> from(data);
            if (name == "reduce") return group.reduce(from, std::span(to), operation, 2);
            if (name == "all_reduce") return group.all_reduce(from, std::span(to), operation);
            if (name == "reduce_scatter")
                return group.reduce_scatter(from, std::span(to).first(2), operation);
            return group.scan(from, std::span(to), operation);
        };
        const std::string heard = ending_of([&] {
            for (;;) {
                future ? call(all.async()).get() : call(all.with(Algorithm::messages()));
                all.barrier(); // nobody is calls ahead
            }
        });
        told.arrive_and_wait();
        return heard;
    });
    CHECK((members_that_threw(said) > 0) == !future);
    // The contexts go on.
    CHECK(complaints(party.run([](const Group& all) -> std::string { return all.barrier(), ""; })) == "");
}

TEST_CASE("whatever an operation throws comes out where it threw, and all others hear bad_argument") {
    const auto lost = expect_warning("");
    const auto form = GENERATE(as<std::string>{}, "memory", "messages", "within hosts", "between hosts");
    const auto type = GENERATE(as<std::string>{}, "error", "memory");
    const bool prepared = GENERATE(false, true);
    CAPTURE(form, type, prepared);
    Party party(4, "shm");
    std::barrier<> told(4);
    const int most = form == "between hosts" ? 3 : 1; // the sum of two members of one host passes
    const auto operation = Commuting{[&](int one, int other) {
        if (one + other <= most) return one + other;
        if (type == "memory") throw std::bad_alloc();
        throw Error(Status::busy, "as the user says");
    }};
    const auto said = party.run_with(
        on_hosts(form.ends_with("hosts") ? "aabb" : "aaaa"), [&](const Group& all) -> std::string {
            std::vector<int> data(4, 1);
            const Group group = form == "messages" ? all.with(Algorithm::messages()) : all;
            std::string heard;
            try {
                PersistentCollective sum = group.prepare().all_reduce(std::span(data), operation);
                heard = status_of([&] {
                    for (;;) prepared ? sum.run() : group.all_reduce(std::span(data), operation);
                });
            } catch (const std::bad_alloc&) { heard = "its own"; }
            told.arrive_and_wait();
            return heard == "busy: as the user says" ? "its own" : heard;
        });
    CHECK(members_that_threw(said, "its own") > 0);
}

} // namespace failures_test
