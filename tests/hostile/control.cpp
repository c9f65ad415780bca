// SPDX-License-Identifier: BSD-3-Clause
// Link control that is made up: hellos, acknowledgements, questions about streams, goodbyes.
#include "hostile/scene.h"

namespace control_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::testing::hostile;

namespace {

wire::Bytes stream_frame(wire::Kind kind, std::uint32_t stream, std::uint64_t count) {
    wire::Bytes bytes(wire::StreamFrame::kBytes);
    wire::encode(kind, wire::StreamFrame{stream, count}, bytes.data());
    return bytes;
}

} // namespace

TEST_CASE("a link whose hello is missing, twice, of another version or nonsense is closed") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        const auto expect_closed = [&](auto&& deed) {
            End& end = member.dial();
            deed(end);
            return member.closed(end);
        };
        if (!expect_closed([&](End& end) { member.say(end, member.request(kEcho)); })) return 1;
        if (!expect_closed([&](End& end) {
                member.hello(end, 5);
                member.hello(end, 5);
            }))
            return 2;
        if (!expect_closed([&](End& end) { member.hello(end, 6, wire::kVersion + 1); })) return 3;
        if (!expect_closed([&](End& end) { member.hello(end, 0); })) return 4;
        if (!expect_closed([&](End& end) {
                wire::Bytes bytes(60, std::byte{0xff});
                bytes[0] = std::byte{static_cast<std::uint8_t>(wire::Kind::hello)};
                bytes[1] = std::byte{wire::kVersion};
                member.say(end, bytes);
            }))
            return 5;
        // A second one that is too large to be any.
        if (!expect_closed([&](End& end) {
                member.hello(end, 7);
                wire::Bytes bytes(kMiB, std::byte{0});
                bytes[0] = std::byte{static_cast<std::uint8_t>(wire::Kind::hello)};
                member.say(end, bytes);
            }))
            return 6;
        return 0;
    });
    CHECK(scene.play());
    scene.check_end();
}

TEST_CASE("acknowledgements of what was never sent, or of other streams, settle nothing") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        End& end = member.join();
        Bytes greeting;
        if (!member.next(wire::Kind::hello, &greeting)) return 2;
        const std::uint64_t memory = wire::decode_hello(wire::View(greeting))->memory;
        for (const std::uint32_t stream : {0u, 1u, 2u, 3u, 0xffffffffu})
            for (const std::uint64_t count :
                 {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
                member.say(end, stream_frame(wire::Kind::ack, stream, count));
                member.say(end, stream_frame(wire::Kind::replay_answer, stream, count));
                member.say(end, stream_frame(wire::Kind::ack_request, stream, count));
                for (const std::uint64_t named : {memory, memory + 1, std::uint64_t{0}}) {
                    wire::Bytes dropped(wire::DroppedFrame::kBytes);
                    wire::encode(wire::DroppedFrame{static_cast<wire::Dropped>(stream), named, count},
                                 dropped.data());
                    member.say(end, std::move(dropped));
                }
            }
        // Each answer is still there, once.
        for (int i = 0; i < 10; ++i)
            if (!member.heard(end)) return 1;
        return 0;
    });
    CHECK(scene.play());
    scene.check_end();
}

TEST_CASE("a stream that is begun a second time brings nothing") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        End& first = member.dial();
        member.hello(first, 1000);
        member.declare(first, kNote, note.info());
        member.declare(first, kEcho, echo.info());
        for (int i = 0; i < 10; ++i) member.say(first, member.request(kNote));
        if (!member.heard(first)) return 1;
        member.host().disconnect(first);
        // Until the victim has seen the end of that link, the stream is not over there: a third one asks.
        End& asker = member.join();
        member.say(asker, stream_frame(wire::Kind::replay_request, 1000, 0));
        Bytes answer;
        if (!member.next(wire::Kind::replay_answer, &answer)) return 2;
        if (wire::decode_stream(answer)->count < 10) return 3;
        End& again = member.dial();
        member.hello(again, 1000);
        member.declare(again, kNote, note.info());
        for (int i = 0; i < 10; ++i) member.say(again, member.request(kNote));
        return member.heard(asker) ? 0 : 4;
    });
    CHECK(scene.play());
    CHECK(scene.serves());
    CHECK(within(scene.door().call(notes)) == 10);
    scene.check_end();
}

TEST_CASE("a question about the stream of the very link that asks ends it") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        End& end = member.dial();
        member.hello(end, 77);
        member.say(end, stream_frame(wire::Kind::replay_request, 77, 0));
        return member.closed(end) ? 0 : 1;
    });
    CHECK(scene.play());
    scene.check_end();
}

TEST_CASE("questions without end are answered as fast as they are read, and take no memory") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        constexpr std::uint32_t kQuestions = kSanitized ? 6'000 : 60'000;
        for (std::uint32_t stream = 100; stream < 100 + kQuestions; ++stream) {
            End& end = member.link();
            member.say(end,
                       stream_frame(stream % 2 == 0 ? wire::Kind::replay_request : wire::Kind::ack_request,
                                    stream, 0));
            member.drop_frames();
        }
        // By a new link: the victim may be about to end one whose answers were read too slowly. Its stream
        // is a later one than those that were asked about: they are over.
        End& fresh = member.dial();
        member.hello(fresh, 100 + kQuestions);
        member.declare(fresh, kEcho, echo.info());
        return member.heard(fresh) ? 0 : 1;
    });
    CHECK(scene.play());
    if (!kSanitized) CHECK(scene.growth() < 32 * kMiB);
    scene.check_end();
}

TEST_CASE("questions whose answers are not read take no memory, and disturb nobody") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        End& end = member.join();
        if (!member.heard(end)) return 1;
        for (std::uint32_t stream = 100; stream < 200'000; ++stream)
            if (!member.push(end, stream_frame(wire::Kind::replay_request, stream, 0))) break;
        return 0; // what the system's buffers hold of the answers decides whether the link ends
    });
    CHECK(scene.play());
    if (!kSanitized) CHECK(scene.growth() < 32 * kMiB);
    scene.check_end();
}

TEST_CASE("goodbyes end what the member has, also many of them, and what comes behind them comes once") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        for (std::uint8_t round = 1; round <= 50; ++round) {
            ContextId id;
            id.bytes.fill(round);
            member.become(id);
            End& end = member.join();
            member.say(end, wire::encode_goodbye());
            member.say(end, wire::encode_goodbye());
            for (int i = 0; i < 10; ++i) member.say(end, member.request(kNote));
            member.host().poll();
        }
        ContextId id;
        id.bytes.fill(200);
        member.become(id);
        return member.heard(member.join()) ? 0 : 1;
    });
    CHECK(scene.play());
    CHECK(within(scene.door().call(notes)) <= 500);
    scene.check_end();
}

} // namespace control_test
