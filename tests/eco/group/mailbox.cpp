// SPDX-License-Identifier: BSD-3-Clause
// Messages for groups that a context has not joined yet, or has left: what is kept of them, and what a group
// that begins behind them knows.
#include "group/mailbox.h"
#include "eco/group/party.h"
#include "group/group_state.h"

namespace mailbox_test {

using namespace plexus;
using namespace plexus::eco::detail;
using namespace plexus::testing;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

/// One context, and what other members of its groups would send it.
struct Box {
    /// Pieces of a late call, of a MiB each.
    void arrive(std::uint64_t group, std::size_t pieces) {
        const std::vector<std::byte> piece(kMiB);
        for (std::size_t i = 0; i < pieces; ++i)
            within(mailbox->pointer().call(kArrive, group, 1'000u, 0u, 0u, 0u, Bytes(piece)));
    }
    std::shared_ptr<GroupState> join(std::uint64_t group) {
        return GroupState::make(mailbox, group, 0, {{mailbox->pointer(), {"here"}}}, {}, {});
    }
    /// How a barrier of a group with one member ends.
    static Refusal barrier(GroupState& group) {
        return refusal_of([&] {
            const CollectiveArgs args;
            group.run(group.prepare(args, eco::Algorithm::messages(), true), args);
            return 0;
        });
    }

    Context context{by("local", {{"limits.max_message", "2 MiB"}})};
    std::shared_ptr<Mailbox> mailbox = Mailbox::of(context);
};

} // namespace

TEST_CASE("what comes for a group before it begins is bounded, and the group begins broken beyond that") {
    Box box;
    box.arrive(7, 63);
    const auto whole = box.join(7);
    CHECK(Box::barrier(*whole).status == Status::ok);
    box.arrive(8, 65);
    const auto broken = box.join(8);
    const Refusal said = Box::barrier(*broken);
    CHECK(said.status == Status::too_large);
    CHECK(said.says("before it had joined"));
    box.arrive(9, 63); // what was kept of that group is kept no more
    CHECK(Box::barrier(*box.join(9)).status == Status::ok);
}

TEST_CASE("nothing is kept for a group that was left") {
    Box box;
    box.join(7).reset();
    box.arrive(7, 60);
    box.arrive(8, 10);
    CHECK(Box::barrier(*box.join(8)).status == Status::ok);
}

TEST_CASE("a group that was broken before this member joined is broken for it as well") {
    Box box;
    const auto reason = static_cast<std::int32_t>(Status::peer_lost);
    CHECK(within(box.mailbox->pointer().call(kBroken, std::uint64_t{7}, reason, std::string("by the test"))));
    const auto group = box.join(7);
    const Refusal said = Box::barrier(*group);
    CHECK(said.status == Status::peer_lost);
    CHECK(said.says("by the test"));
    CHECK(Box::barrier(*box.join(8)).status == Status::ok);
}

} // namespace mailbox_test
