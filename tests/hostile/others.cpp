// SPDX-License-Identifier: BSD-3-Clause
// What belongs to others: their calls, their leases, their identities; and the victim's own calls to a
// member that does not answer. Whoever waits is told.
#include "hostile/scene.h"

#include <algorithm>

namespace others_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::testing::hostile;

namespace {

bool has(const std::vector<int>& all, Status status) {
    return std::find(all.begin(), all.end(), static_cast<int>(status)) != all.end();
}

/// The victim is told to keep an object of the member's.
bool be_kept(Member& member) {
    return member.say(member.link(), member.request(kKeep, 1, member.own_pointer())) &&
           member.next(wire::Kind::reply);
}

/// Answers to calls that others may have under way: every id that the victim can have given so far.
void answer_everything(Member& member) {
    const wire::Bytes answer = arguments_of(666);
    for (std::uint64_t generation = 0; generation < 8; ++generation) {
        for (std::uint64_t slot = 0; slot < 32; ++slot) {
            const std::uint64_t call = generation << 32 | slot;
            for (const wire::Kind kind : {wire::Kind::reply, wire::Kind::data})
                member.say(member.link(), frame_of(kind, wire::ReplyHeader{0, call}, answer));
            const auto cancelled = static_cast<std::uint16_t>(Status::cancelled);
            member.say(member.link(),
                       frame_of(wire::Kind::reply, wire::ReplyHeader{cancelled, call}, answer));
            member.say(member.link(), frame_of(wire::LeaseHeader{true, 0, call, 1}, answer));
        }
    }
}

} // namespace

TEST_CASE("calls to others are not ended by answers that a member makes up") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        answer_everything(member);
        return member.heard(member.link()) ? 0 : 1;
    });
    Owed<int> owed;
    scene.here().on(echo, [&](Door&, int, Reply<int> reply) { owed.add(std::move(reply)); });
    Door door;
    const auto bound = scene.here().bind(door);
    REQUIRE(within(scene.door().call(keep, bound.pointer())));
    scene.door().send(call_other, 0u);
    Reply<int> reply = owed.take(); // the victim waits
    CHECK(scene.play());
    CHECK(within(scene.door().call(outcomes)).empty());
    reply.send(5);
    CHECK(scene.comes_to(outcomes, [](const std::vector<int>& all) { return all == std::vector<int>{0}; }));
    scene.check_end();
}

TEST_CASE("a call to a member that never answers ends at its deadline, or with the member") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        if (!be_kept(member)) return 1;
        member.say(member.link(), member.request(kCallOther, 0, arguments_of(std::uint32_t{300})));
        member.say(member.link(), member.request(kCallOther, 0, arguments_of(std::uint32_t{0})));
        return member.heard(member.link()) ? 0 : 2;
    });
    CHECK(scene.play());
    CHECK(scene.comes_to(outcomes, [](const auto& all) { return has(all, Status::deadline_exceeded); }));
    CHECK(within(scene.door().call(outcomes)).size() == 1);
    scene.kill_member();
    CHECK(scene.comes_to(outcomes, [](const auto& all) { return has(all, Status::peer_lost); }));
    scene.check_end();
}

TEST_CASE("whoever sends to a member that takes nothing gets as far as the limits, and an error in time") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        if (!be_kept(member)) return 1;
        return member.say(member.link(), member.request(kFloodOther, 0, arguments_of(std::uint32_t{500})))
                   ? 0
                   : 2;
    });
    CHECK(scene.play());
    CHECK(scene.comes_to(notes, [](std::uint64_t count) { return count == 1; }));
    if (!kSanitized) CHECK(scene.growth() < 64 * kMiB);
    scene.check_end();
}

TEST_CASE("whoever sends to a member that reads and never acknowledges gets as far as limits.retain") {
    Scene scene("tcp", [](Member& member) {
        if (!be_kept(member)) return 1;
        // limits.retain, 4 MiB, is 1,024 frames of 4 KiB, less what is kept besides their bytes.
        constexpr std::uint64_t kMost = 1'100;
        std::uint64_t came = 0;
        auto last = std::chrono::steady_clock::now();
        member.host().hooks.message = [&](End&, ByteView) {
            ++came;
            last = std::chrono::steady_clock::now();
        };
        member.say(member.link(), member.request(kFloodOther, 0, arguments_of(std::uint32_t{500})));
        if (!member.pump(std::chrono::seconds(30), [&] { return came > 500; })) return 2;
        const auto quiet = std::chrono::seconds(2) * kPatience;
        const bool ended = member.pump(std::chrono::seconds(30), [&] {
            return came >= kMost || std::chrono::steady_clock::now() - last > quiet;
        });
        return ended && came < kMost ? 0 : 3;
    });
    CHECK(scene.play());
    CHECK(scene.comes_to(notes, [](std::uint64_t count) { return count == 1; }));
    if (!kSanitized) CHECK(scene.growth() < 64 * kMiB);
    scene.check_end();
}

TEST_CASE("leases that were never given cannot be given back, called back or used") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        const auto refused = static_cast<std::uint16_t>(Status::dead_pointer);
        for (std::uint64_t number = 0; number < 500; ++number) {
            member.say(member.link(), frame_of(wire::Kind::lease_return, wire::ReplyHeader{0, number}));
            member.say(member.link(), frame_of(wire::Kind::lease_return, wire::ReplyHeader{0, number << 32}));
            member.say(member.link(), frame_of(wire::Kind::lease_recall, wire::ReplyHeader{0, number}));
            wire::LeaseHeader lease{number % 2 == 0, 0, number, static_cast<std::uint32_t>(number)};
            member.say(member.link(), frame_of(lease, wire::Bytes(number % 100)));
            wire::BulkHeader header = member.to_memory();
            header.key ^= 1 + number;
            header.call = number;
            member.say(member.link(), frame_of(wire::Kind::lease_request, header));
            Bytes answer;
            if (!member.next(wire::Kind::lease, &answer)) return 1;
            if (wire::decode_lease(answer)->status != refused) return 2;
        }
        return member.heard(member.link()) ? 0 : 3;
    });
    CHECK(scene.play());
    scene.check_end();
}

} // namespace others_test
