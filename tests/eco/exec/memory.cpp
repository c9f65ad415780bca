// SPDX-License-Identifier: BSD-3-Clause
// Groups whose members share memory: who does, which calls go through it, and what happens
// when members do not call the same there. What comes of the operations is in operations.cpp.
#include "eco/exec/party.h"

#include <filesystem>
#include <fstream>

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
                  const auto barrier = [&] { group->by(How::memory()).barrier(); };
                  if (shared && !alone) {
                      barrier();
                  } else if (std::string bad = refused(Status::unsupported, barrier); !bad.empty()) {
                      return bad;
                  }
                  group->by(How::messages()).barrier();
              }
              return {};
          })) == "");
}

TEST_CASE("calls with futures, and operations without a way, do not go through shared memory and say so") {
    Party party(2, "shm");
    CHECK(complaints(party.run([](const Group& all) -> std::string {
              std::vector<int> data(10, 1);
              const Group how = all.by(How::memory());
              std::string bad = refused(Status::unsupported, [&] { within(how.async().barrier()); });
              bad += refused(Status::unsupported, [&] { how.scan(std::span(data), std::plus<>{}); });
              Prepared sum = how.prepare().all_reduce(std::span(data), std::plus<>{});
              sum.run();
              bad += refused(Status::unsupported, [&] { within(sum.start()); });
              if (data.front() != 2) bad += "the sum is wrong";
              all.by(How::memory()).barrier();
              return bad;
          })) == "");
}

TEST_CASE("a blocking call and one with a future are two different calls") {
    const auto late = expect_warning("plexus.eco.arrive");
    Party party(2, "shm");
    const auto said = party.run([](const Group& all) -> std::string {
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
    REQUIRE(mappings() == 0);
    Party party(3, "shm");
    CHECK(complaints(party.run([&](const Group& all) -> std::string {
              all.by(How::memory()).barrier();
              std::string bad;
              if (mappings() != 1) bad += "a process maps it " + std::to_string(mappings()) + " times; ";
              if (doors() != 0) bad += "it can still be opened";
              all.by(How::memory()).barrier();
              return bad;
          })) == "");
    CHECK(mappings() == 0);
}
