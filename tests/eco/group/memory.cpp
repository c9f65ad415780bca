// SPDX-License-Identifier: BSD-3-Clause
// Groups whose members share memory: who does, which calls go through it, and what happens
// when members do not call the same there. What comes of the operations is in operations.cpp.
#include "eco/group/party.h"
#include "support/descriptors.h"
#include "support/eventually.h"

#include <barrier>
#include <filesystem>
#include <fstream>

namespace memory_test {

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::testing;

namespace {

std::string refused(Status status, const std::function<void()>& call) {
    try {
        call();
        return "nothing was thrown";
    } catch (const Error& error) {
        return error.status() == status ? "" : std::string("it threw ") + error.what();
    }
}

} // namespace

TEST_CASE("members share memory where the method between them is of one host, and are told where not") {
    const std::string methods = GENERATE(as<std::string>{}, "local", "shm", "shm, tcp", "tcp");
    CAPTURE(methods);
    const bool shared = methods != "tcp";
    Party party(3, methods);
    CHECK(complaints(party.run([&](const Group& all) -> std::string {
              const Group twin = all.dup();
              const Group part = all.split(all.rank() == 0 ? 1 : 2);
              for (const Group* group : {&all, &twin, &part}) {
                  const bool alone = group->size() == 1;
                  const auto barrier = [&] { group->with(Algorithm::memory()).barrier(); };
                  if (shared && !alone) {
                      barrier();
                  } else if (std::string bad = refused(Status::unsupported, barrier); !bad.empty()) {
                      return bad;
                  }
                  group->with(Algorithm::messages()).barrier();
              }
              return {};
          })) == "");
}

TEST_CASE("many more members than processors share memory, and every operation is right there") {
    if (kSanitized) SKIP_TEST("a thread for each of so many members is too slow under a sanitizer");
    if (!allow_descriptors(4096)) SKIP_TEST("this process may not have 4096 descriptors");
    constexpr Rank members = 65;
    Party party(members, "local");
    CHECK(complaints(party.run([&](const Group& all) -> std::string {
              const Group group = all.with(Algorithm::memory());
              const auto me = static_cast<int>(all.rank());
              const auto count = static_cast<int>(members);
              const Rank root = members - 1;
              std::vector<int> data(20'000, me == count - 1 ? 7 : 0);
              for (int turn = 0; turn < 3; ++turn) group.broadcast(std::span(data), root);
              if (data != std::vector<int>(20'000, 7)) return "broadcast";
              group.barrier();
              if (group.all_reduce(me, std::plus<>{}) != count * (count - 1) / 2) return "all_reduce";
              std::vector<int> sums(20'000, 1);
              group.all_reduce(std::span(sums), std::plus<>{});
              if (sums != std::vector<int>(20'000, count)) return "all_reduce of more than a slot";
              std::vector<int> ranks(members);
              group.all_gather(std::span(&me, 1), std::span(ranks));
              for (int rank = 0; rank < count; ++rank)
                  if (ranks[static_cast<std::size_t>(rank)] != rank) return "all_gather";
              // Element `at` of the part from one member to another.
              const auto element = [](int from, int to, int at) { return (from * 1'000 + to) * 1'000 + at; };
              const auto parts = [&](auto&& what) {
                  std::vector<int> out;
                  for (int member = 0; member < count; ++member)
                      for (int at = 0; at < 300; ++at) out.push_back(what(member, at));
                  return out;
              };
              const auto from_me = parts([&](int to, int at) { return element(me, to, at); });
              std::vector<int> taken(members * 300, -1);
              group.all_to_all(std::span(from_me), std::span(taken));
              if (taken != parts([&](int from, int at) { return element(from, me, at); }))
                  return "all_to_all";
              std::vector<int> part(300, -1);
              group.scatter(std::span(from_me), std::span(part), root);
              for (int at = 0; at < 300; ++at)
                  if (part[static_cast<std::size_t>(at)] != element(count - 1, me, at)) return "scatter";
              std::fill(taken.begin(), taken.end(), -1);
              group.gather(std::span<const int>(part), std::span(taken), root);
              if (all.rank() == root && taken != from_me) return "gather";
              std::vector<int> share(2, 0);
              group.reduce_scatter(std::span<const int>(std::vector<int>(members * 2, me)), std::span(share),
                                   std::plus<>{});
              if (share != std::vector<int>(2, count * (count - 1) / 2)) return "reduce_scatter";
              int before = -1;
              group.scan(std::span(&me, 1), std::span(&before, 1), std::plus<>{});
              if (before != me * (me + 1) / 2) return "scan";
              return {};
          })) == "");
}

TEST_CASE("calls with futures, and elements that are too large, do not go through shared memory and say so") {
    struct Huge {
        std::array<int, 10'000> numbers;
    };
    Party party(2, "shm");
    CHECK(complaints(party.run([](const Group& all) -> std::string {
              std::vector<int> data(10, 1);
              const Group group = all.with(Algorithm::memory());
              std::string bad = refused(Status::unsupported, [&] { within(group.async().barrier()); });
              std::vector<Huge> huge(1);
              huge[0].numbers[9'999] = static_cast<int>(all.rank());
              const Commuting greater{
                  [](const Huge& a, const Huge& b) { return a.numbers[9'999] > b.numbers[9'999] ? a : b; }};
              bad += refused(Status::unsupported, [&] { group.all_reduce(std::span(huge), greater); });
              all.all_reduce(std::span(huge), greater);
              if (huge[0].numbers[9'999] != 1) bad += "the greater is wrong";
              PersistentCollective sum = group.prepare().all_reduce(std::span(data), std::plus<>{});
              sum.run();
              bad += refused(Status::unsupported, [&] { within(sum.start()); });
              if (data.front() != 2) bad += "the sum is wrong";
              all.with(Algorithm::memory()).barrier();
              return bad;
          })) == "");
}

TEST_CASE("members of several hosts share memory on each where the method there is of one host") {
    const std::string methods = GENERATE(as<std::string>{}, "local", "shm", "shm, tcp", "tcp");
    CAPTURE(methods);
    const auto late = expect_warning("plexus.eco.arrive");
    Party party(4, methods);
    std::barrier<> ready(4); // whoever is still in an earlier call when the group breaks hears of it there
    const auto said = party.run_with(on_hosts("abba"), [&](const Group& all) -> std::string {
        std::string bad = refused(Status::unsupported, [&] { all.with(Algorithm::memory()).barrier(); });
        if (!bad.empty()) return bad;
        all.split(all.rank() % 3 == 0 ? 0 : 1).barrier(); // those of one host, and one's own way there
        if (all.all_reduce(1 << all.rank(), std::plus<>{}) != 15) return "the sum is wrong";
        std::vector<int> sums(5, 1);
        PersistentCollective sum = all.prepare().all_reduce(std::span(sums), std::plus<>{});
        sum.run();           // by memory first
        within(sum.start()); // by messages
        if (sums != std::vector<int>(5, 16)) return "the prepared sum is wrong";
        ready.arrive_and_wait();
        std::vector<int> data(all.rank() == 3 ? 9 : 8);
        try {
            for (;;) all.all_reduce(std::span(data), std::plus<>{});
        } catch (const Error& error) {
            const std::string_view why = error.what();
            const bool by_memory = why.find("through shared memory") != why.npos;
            const bool named = why.find("member 3 calls all_reduce of 9 ") != why.npos ||
                               why.find(", member 3 all_reduce of 9 ") != why.npos;
            return named && by_memory == (methods != "tcp") ? "" : std::string(why);
        }
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("a blocking call and one with a future are two different calls") {
    const std::string_view hosts = GENERATE("aa", "aba");
    const auto late = expect_warning("plexus.eco.arrive");
    Party party(static_cast<Rank>(hosts.size()), "shm");
    const auto said = party.run_with(on_hosts(hosts), [](const Group& all) -> std::string {
        const auto call = [&] { all.rank() == 0 ? all.barrier() : within(all.async().barrier()); };
        return refused(Status::bad_argument, call);
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("what one member got wrong some calls ago is named when it is found") {
    const auto late = expect_warning("plexus.eco.arrive");
    Party party(4, "shm");
    const auto said = party.run([](const Group& all) -> std::string {
        std::vector<int> data(8);
        try {
            all.broadcast(std::span(data), all.rank() == 2 ? 2 : 1); // both roots go on
            for (int call = 0; call < 3; ++call) all.barrier();
        } catch (const Error& error) {
            const std::string_view why = error.what();
            const bool named = why.find("member 2 ") != why.npos && why.find("with root 2") != why.npos &&
                               why.find("with root 1") != why.npos;
            return error.status() == Status::bad_argument && named ? "" : std::string(why);
        }
        return "nothing was thrown";
    });
    CHECK(complaints(said) == "");
}

TEST_CASE("some members may exchange in place and others not, whatever the size") {
    const Rank members = GENERATE(Rank{2}, Rank{3});
    const std::size_t each = GENERATE(std::size_t{5}, std::size_t{3'000}, std::size_t{40'000});
    CAPTURE(members, each);
    Party party(members, "shm");
    CHECK(complaints(party.run([&](const Group& all) -> std::string {
              const auto cell = [](std::size_t from, std::size_t to) { return from * 1000 + to; };
              std::vector<std::uint64_t> out(each * members);
              std::vector<std::uint64_t> due(out.size());
              for (int turn = 0; turn < 4; ++turn) {
                  for (std::size_t i = 0; i < out.size(); ++i) {
                      out[i] = cell(all.rank(), i / each) + static_cast<std::uint64_t>(turn);
                      due[i] = cell(i / each, all.rank()) + static_cast<std::uint64_t>(turn);
                  }
                  std::vector<std::uint64_t> in(out.size());
                  const bool in_place = all.rank() % 2 == 0;
                  in_place ? all.all_to_all(std::span(out)) : all.all_to_all(std::span(out), std::span(in));
                  if ((in_place ? out : in) != due) return "what came is wrong";
              }
              return {};
          })) == "");
}

TEST_CASE("parts may have any length in shared memory, and none") {
    const Rank members = GENERATE(Rank{2}, Rank{4});
    const std::uint64_t most = GENERATE(std::uint64_t{5}, std::uint64_t{700}, std::uint64_t{50'000});
    CAPTURE(members, most);
    Party party(members, "shm");
    CHECK(complaints(party.run([&](const Group& all) -> std::string {
              using Numbers = std::vector<std::uint64_t>;
              const Group group = all.with(Algorithm::memory());
              const Rank me = all.rank();
              for (Rank root = 0; root < members; ++root) {
                  Numbers counts;
                  Numbers displacements(members); // back to front, with gaps
                  for (Rank member = 0; member < members; ++member)
                      counts.push_back((member + root) % members == 0 ? 0 : most / (member + 1));
                  std::uint64_t total = 0;
                  for (Rank member = members; member-- > 0; total += counts[member] + 1)
                      displacements[member] = total;
                  const Layout layout{counts, displacements};
                  Numbers mine(counts[me]);
                  for (std::uint64_t i = 0; i < mine.size(); ++i) mine[i] = me * 1'000'003 + i;
                  const auto good = [&](const Numbers& whole, std::uint64_t factor) {
                      for (Rank member = 0; member < members; ++member)
                          for (std::uint64_t i = 0; i < counts[member]; ++i)
                              if (whole[displacements[member] + i] != (member * 1'000'003 + i) * factor)
                                  return false;
                      return true;
                  };
                  Numbers whole(me == root ? total : 0);
                  group.gather_v(std::span(mine), std::span(whole), me == root ? layout : Layout{}, root);
                  if (me == root && !good(whole, 1)) return "gather_v";
                  Numbers back(mine.size());
                  group.scatter_v(std::span(whole), me == root ? layout : Layout{}, std::span(back), root);
                  if (back != mine) return "scatter_v";
                  whole.assign(total, 0);
                  group.all_gather_v(std::span(mine), std::span(whole), layout);
                  if (!good(whole, 1)) return "all_gather_v";
                  for (std::uint64_t& each : whole) each *= me + 1;
                  group.reduce_scatter_v(std::span(whole), layout, std::span(back), std::plus<>{});
                  for (std::uint64_t i = 0; i < back.size(); ++i)
                      if (back[i] != mine[i] * (members * (members + 1) / 2)) return "reduce_scatter_v";
                  // Everyone sends all of its blocks times who it is, and gets its own block of each.
                  const Numbers alike(members, counts[me]);
                  Numbers in(members * counts[me]);
                  group.all_to_all_v(std::span(whole), layout, std::span(in), Layout{alike, {}});
                  for (std::uint64_t i = 0; i < in.size(); ++i)
                      if (in[i] != mine[i % counts[me]] * (i / counts[me] + 1)) return "all_to_all_v";
              }
              return {};
          })) == "");
}

TEST_CASE("a member that waits in shared memory serves its other groups and requests") {
    static constexpr Request<int(int&, int)> kAdd{"test.memory.add"};
    Party party(2, "shm");
    int number = 3;
    party.context(0).on(kAdd, [](int& here, int more) { return here += more; });
    const Bound<int> bound = party.context(0).bind(number);
    const auto saved = bound.pointer().save();
    CHECK(complaints(party.run([&](const Group& all) -> std::string {
              const Group other = all.dup();
              Future<void> done = other.async().barrier(); // goes on while this waits in `all`
              if (all.rank() == 1) {
                  const auto far = GlobalPointer<int>::load(party.context(1), saved);
                  for (int call = 0; call < 20; ++call) within(far.call(kAdd, 1)); // member 0 is in there
              }
              all.barrier();
              within(std::move(done));
              return {};
          })) == "");
    CHECK(number == 23);
}

TEST_CASE("common memory has no name, no open door, and ends with its group") {
    const auto mappings = [] {
        std::ifstream maps("/proc/self/maps");
        std::size_t found = 0;
        for (std::string line; std::getline(maps, line);) found += line.find("plexus-group") != line.npos;
        return found;
    };
    const auto doors = [] {
        std::size_t found = 0;
        for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
            std::error_code gone;
            const auto to = std::filesystem::read_symlink(each, gone).string();
            found += to.find("plexus-group") != to.npos;
        }
        return found;
    };
    // A timer of a group that has just ended holds it for a moment longer, and so may that of a former case.
    const auto none_is_left = [&] { return eventually(10s, [&] { return mappings() == 0; }); };
    REQUIRE(none_is_left());
    Party party(3, "shm");
    CHECK(complaints(party.run([&](const Group& all) -> std::string {
              all.with(Algorithm::memory()).barrier();
              std::string bad;
              if (mappings() != 1) bad += "a process maps it " + std::to_string(mappings()) + " times; ";
              if (doors() != 0) bad += "it can still be opened";
              all.with(Algorithm::memory()).barrier();
              return bad;
          })) == "");
    CHECK(none_is_left());
}

} // namespace memory_test
