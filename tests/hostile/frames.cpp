// SPDX-License-Identifier: BSD-3-Clause
// Frames that no context sends: of unknown kinds, cut short, with lengths that lie, with keys that were
// guessed. The victim closes the link or refuses the frame; no byte of its memory is read or written.
#include "hostile/scene.h"

#include <random>

namespace frames_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::testing::hostile;

TEST_CASE("frames of unknown kinds end the link, and nothing else") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        for (const int kind : {0, 7, 15, 23, 31, 32, 77, 255}) {
            End& end = member.join();
            wire::Bytes frame(64, std::byte{1});
            frame[0] = std::byte{static_cast<std::uint8_t>(kind)};
            member.say(end, frame);
            if (!member.closed(end)) return 100 + kind;
        }
        return 0;
    });
    CHECK(scene.play());
    scene.check_end();
}

TEST_CASE("frames of every kind that are cut short, or random behind their kind, harm nobody") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        std::mt19937 random(17);
        for (int round = 0; round < 3000; ++round) {
            End& end = member.link();
            wire::Bytes frame(round % 2 == 0 ? random() % 70 : random() % 3000);
            for (std::byte& each : frame) each = std::byte{static_cast<std::uint8_t>(random())};
            // A goodbye would end the member itself: see the case of goodbyes.
            const auto kind = static_cast<std::uint8_t>(random() % 24);
            if (kind == static_cast<std::uint8_t>(wire::Kind::goodbye)) continue;
            if (!frame.empty()) frame[0] = std::byte{kind};
            member.say(end, frame, random() % 65);
        }
        return member.heard(member.join()) ? 0 : 1;
    });
    CHECK(scene.play());
    scene.check_end();
}

TEST_CASE("heads whose length is no multiple of eight are read like others") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        const std::vector<std::string> load{std::string(300'000, 'x')};
        for (std::size_t head = 32; head <= 64; ++head) {
            End& end = member.link();
            if (!member.say(end, member.request(kTexts, 1000 + head, arguments_of(load)), head)) return 1;
            Bytes answer;
            if (!member.next(wire::Kind::reply, &answer)) return 2;
            const auto reply = wire::decode_reply(answer);
            if (!reply || reply->status != 0 || reply->call != 1000 + head) return 3;
        }
        // With a head that has not even the header.
        for (std::size_t head = 1; head < 32; ++head)
            if (!member.say(member.link(), member.request(kTexts, 7, arguments_of(load)), head) &&
                !member.closed(member.link()))
                return 4;
        return member.heard(member.link()) ? 0 : 5;
    });
    CHECK(scene.play());
    scene.check_end();
}

TEST_CASE("lengths inside of a message that lie are refused before anything of that size is allocated") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        for (const std::uint64_t count :
             {std::uint64_t{1} << 20, std::uint64_t{1} << 32, std::uint64_t{1} << 60, ~std::uint64_t{0}}) {
            End& end = member.link();
            wire::Bytes bytes; // a vector of strings: the count, then the first string's
            wire::Builder to(bytes);
            to.u64(count);
            to.u64(count);
            to.u64(0);
            if (!member.say(end, member.request(kTexts, count, bytes))) return 1;
            Bytes answer;
            if (!member.next(wire::Kind::reply, &answer)) return 2;
            if (wire::decode_reply(answer)->status != static_cast<std::uint16_t>(Status::bad_archive))
                return 3;
        }
        return 0;
    });
    CHECK(scene.play());
    if (!kSanitized) CHECK(scene.growth() < 32 * kMiB);
    scene.check_end();
}

TEST_CASE("a value that is as deep as a message is long is refused, and does not use up the stack") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        const wire::Bytes levels(8 * kMiB, std::byte{1}); // each says that there is one more
        if (!member.say(member.link(), member.request(kDeep, 5, levels))) return 1;
        Bytes answer;
        if (!member.next(wire::Kind::reply, &answer)) return 2;
        return wire::decode_reply(answer)->status == 0 ? 3 : 0;
    });
    CHECK(scene.play());
    scene.check_end();
}

TEST_CASE("objects and memory are not found by guessing") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        std::mt19937_64 random(23);
        End& end = member.link();
        std::uint64_t call = 1;
        const auto refused = [&](wire::Kind kind) {
            Bytes answer;
            if (!member.next(kind, &answer)) return false;
            const auto reply = wire::decode_reply(answer);
            return reply && reply->call == call && reply->status != 0;
        };
        for (int round = 0; round < 300; ++round, ++call) {
            wire::RequestHeader header = member.to_door(kEcho);
            header.flags = wire::kWantsReply;
            header.call = call;
            if (round % 3 == 0) header.key ^= std::uint64_t{1} << random() % 64;
            if (round % 3 == 1) header.generation += 1 + static_cast<std::uint32_t>(random() % 1000);
            if (round % 3 == 2) header.handle = static_cast<std::uint32_t>(random() % 100'000) + 100;
            wire::Bytes frame(header.bytes());
            wire::encode(header, frame.data());
            member.say(end, frame);
            if (!refused(wire::Kind::reply)) return 1;
        }
        for (int round = 0; round < 400; ++round, ++call) {
            wire::BulkHeader header = member.to_memory();
            header.call = call;
            if (round % 4 == 0) header.key ^= std::uint64_t{1} << random() % 64;
            if (round % 4 == 1) header.generation += 1 + static_cast<std::uint32_t>(random() % 1000);
            if (round % 4 == 2) header.offset = Address::kMemoryBytes - 63; // a byte past the end
            if (round % 4 == 3) header.offset = ~std::uint64_t{0} - 31;     // the sum wraps around
            const bool put = round % 8 < 4;
            const wire::Bytes load(put ? header.length : 0, std::byte{9});
            member.say(end, frame_of(put ? wire::Kind::put : wire::Kind::get, header, load));
            // One whose end is past the largest number is dropped without an answer.
            if (round % 4 != 3 && !refused(wire::Kind::data)) return 2;
        }
        return member.heard(end) ? 0 : 3;
    });
    CHECK(scene.play());
    scene.check_end(); // the victim looks at its memory
}

TEST_CASE("puts that bring fewer or more bytes than they say write nothing") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        std::uint64_t call = 1;
        for (const std::size_t brought :
             {std::size_t{0}, std::size_t{63}, std::size_t{65}, std::size_t{4096}, std::size_t{300'000}}) {
            wire::BulkHeader header = member.to_memory();
            header.call = ++call;
            member.say(member.link(), frame_of(wire::Kind::put, header, wire::Bytes(brought, std::byte{9})),
                       wire::BulkHeader::kBytes);
            Bytes answer;
            if (!member.next(wire::Kind::data, &answer)) return 1;
            if (wire::decode_reply(answer)->status == 0) return 2;
        }
        return 0;
    });
    CHECK(scene.play());
    scene.check_end();
}

TEST_CASE("a message above limits.max_message is refused with the reason, and the link stays") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        End& end = member.link();
        const std::vector<std::string> load{std::string(20 * kMiB, 'x')};
        for (std::uint64_t call = 1; call <= 3; ++call) {
            // Modules tell each other the largest message in the handshake: one refuses it here already.
            if (!member.say(end, member.request(kTexts, call, arguments_of(load)), 32)) continue;
            Bytes answer;
            if (!member.next(wire::Kind::reply, &answer)) return 1;
            if (wire::decode_reply(answer)->status != static_cast<std::uint16_t>(Status::too_large)) return 2;
        }
        return member.heard(end) ? 0 : 3;
    });
    CHECK(scene.play());
    scene.check_end();
}

} // namespace frames_test
