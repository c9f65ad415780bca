// SPDX-License-Identifier: BSD-3-Clause
// A member that claims to be the third. All members hold one key, so it is believed: what the case pins down
// is that calls with a deadline end, that the victim goes on, and that the third is served again when the
// member has gone.
#include "hostile/scene.h"

namespace identity_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::testing::hostile;

TEST_CASE("a member that claims to be another context ends its calls at their deadline at the latest") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        member.become(member.victim().third);
        End& end = member.join();
        member.pump(std::chrono::milliseconds(200), [&] { return end.is_lost(); });
        return 0;
    });
    Owed<int> owed;
    scene.here().on(echo, [&](Door&, int, Reply<int> reply) { owed.add(std::move(reply)); });
    Door door;
    const auto bound = scene.here().bind(door);
    REQUIRE(within(scene.door().call(keep, bound.pointer())));
    constexpr std::uint32_t kDeadline = 2000;
    for (int call = 0; call < 2; ++call) scene.door().send(call_other, kDeadline);
    std::vector<Reply<int>> replies;
    for (int call = 0; call < 2; ++call) replies.push_back(owed.take()); // the victim waits
    scene.begin();
    CHECK(eventually(kLimit, [&] { return scene.poll_deed(); }));
    // By then the third may have been cut off, and its calls may end with an error: it asks again.
    const auto ends_well = [](auto&& call) {
        try {
            return call();
        } catch (const Error&) { return false; }
    };
    const GlobalPointer<Door> asked = scene.door().with(deadline(std::chrono::seconds(1)));
    CHECK(eventually(2 * kLimit,
                     [&] { return ends_well([&] { return within(asked.call(outcomes)).size() == 2; }); }));
    replies.clear();
    scene.kill_member();
    CHECK(
        eventually(2 * kLimit, [&] { return ends_well([&] { return within(asked.call(echo, 7)) == 7; }); }));
    scene.check_end();
}

} // namespace identity_test
