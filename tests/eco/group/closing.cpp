// SPDX-License-Identifier: BSD-3-Clause
// What a group's continuation waits for does not keep its context from closing.
#include "eco/group/party.h"

#include <array>

namespace closing_test {

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::testing;

TEST_CASE("a continuation that waits for another group does not keep its context from closing") {
    const auto lost = expect_warning("");
    const auto form = GENERATE(as<std::string>{}, "memory", "messages", "future", "meeting");
    CAPTURE(form);
    constexpr auto kLongest = std::chrono::milliseconds(400) + std::chrono::seconds(3);
    Party party(2, "shm", {{"progress.close_timeout", "400 ms"}});
    Context& closing = party.context(0);
    std::array<std::vector<Group>, 2> groups; // of each member: two, whichever the context ends first
    std::array<std::atomic<Status>, 2> ended{Status::ok, Status::ok};
    const auto wait = [&](const Group& other) {
        if (form == "memory") other.with(Algorithm::memory()).barrier();
        if (form == "messages") other.with(Algorithm::messages()).barrier();
        if (form == "future") other.async().barrier().get();
        if (form == "meeting") (void)Group::meet(closing, fresh_name(), 0, 2);
    };
    CHECK(complaints(party.run([&](const Group& all) -> std::string {
              auto& mine = groups[all.rank()];
              for (int i = 0; i < 2; ++i) mine.push_back(all.dup());
              if (all.rank() == 1) return {}; // it makes no call
              for (std::size_t i = 0; i < 2; ++i)
                  mine[i].async().barrier().then([&, i](const Future<void>&) {
                      ended[i] = refusal_of([&] { wait(mine[1 - i]); }).status;
                  });
              return {};
          })) == "");
    std::atomic<bool> closed{false};
    std::thread closes([&] {
        party.end(0);
        closed = true;
    });
    CHECK(eventually(kLongest * kPatience, [&] { return closed.load(); }));
    party.end(1); // ends what still waits
    closes.join();
    CHECK(ended[0] == Status::closed);
    CHECK(ended[1] == Status::closed);
}

} // namespace closing_test
