// SPDX-License-Identifier: BSD-3-Clause
// Too much of what is allowed: tables, pointers, names, identities, links, requests. The victim's memory
// stays within its limits, and the third is served.
#include "hostile/scene.h"

#include "wire/table.h"

namespace floods_test {

using namespace plexus;
using namespace plexus::testing;
using namespace plexus::testing::hostile;

namespace {

ContextId context_of(std::uint64_t number) {
    ContextId id;
    std::memcpy(id.bytes.data(), &number, sizeof number);
    id.bytes[15] = 1;
    return id;
}

wire::Bytes table_of(std::uint64_t number) {
    DescriptorTable table;
    std::vector<std::byte> bytes(wire::kLongestDescriptor);
    std::memcpy(bytes.data(), &number, sizeof number);
    table.push_back({"tcp", std::move(bytes), {}});
    return wire::encode_table(table);
}

wire::Bytes pointer_to(const ContextId& context, std::uint64_t table_hash) {
    wire::Bytes bytes;
    wire::Builder to(bytes);
    to.raw(context.bytes.data(), context.bytes.size());
    to.u64(1);
    to.u32(1);
    to.u32(1);
    to.u64(table_hash);
    return bytes;
}

/// In sanitizer builds as much as ends in time there.
constexpr std::uint64_t many(std::uint64_t count) { return kSanitized ? count / 8 : count; }

} // namespace

TEST_CASE("tables of contexts without end are forgotten as they come") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        for (std::uint64_t number = 1; number <= many(60'000); ++number) {
            const wire::Bytes table = table_of(number);
            if (!member.say(member.link(), wire::encode(wire::TableFrame{context_of(number), table})))
                return 1;
        }
        return member.heard(member.link()) ? 0 : 2;
    });
    CHECK(scene.play());
    if (!kSanitized) CHECK(scene.growth() < 24 * kMiB);
    scene.check_end();
}

TEST_CASE("pointers to contexts that nobody has introduced are refused, and nothing is kept of them") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        for (std::uint64_t number = 1; number <= many(60'000); ++number)
            if (!member.say(member.link(), member.request(kKeep, 0, pointer_to(context_of(number), number))))
                return 1;
        if (!member.say(member.link(), member.request(kKeep, 9, pointer_to(context_of(1), 1)))) return 2;
        Bytes answer;
        if (!member.next(wire::Kind::reply, &answer)) return 3;
        return wire::decode_reply(answer)->status == static_cast<std::uint16_t>(Status::bad_archive) ? 0 : 4;
    });
    CHECK(scene.play());
    if (!kSanitized) CHECK(scene.growth() < 24 * kMiB);
    scene.check_end();
}

TEST_CASE("pointers with a table of their own each leave no ways behind") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        ContextId self;
        std::memcpy(self.bytes.data(), member.host().id().bytes, self.bytes.size());
        for (std::uint64_t number = 1; number <= many(20'000); ++number) {
            const wire::Bytes table = table_of(number);
            member.say(member.link(), wire::encode(wire::TableFrame{self, table}));
            if (!member.say(member.link(),
                            member.request(kKeep, 0, pointer_to(self, wire::table_hash(table)))))
                return 1;
        }
        return member.heard(member.link()) ? 0 : 2;
    });
    CHECK(scene.play());
    if (!kSanitized) CHECK(scene.growth() < 24 * kMiB);
    scene.check_end();
}

TEST_CASE("names of requests are as many as there are numbers, however often they are declared") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        for (int round = 0; round < 2; ++round) {
            for (std::uint32_t number = 20; number < 0xffff; ++number) {
                const std::string name(255, static_cast<char>('a' + round));
                if (!member.say(member.link(), wire::encode(wire::Declare{static_cast<std::uint16_t>(number),
                                                                          number, name, name})))
                    return 1;
            }
        }
        return member.heard(member.link()) ? 0 : 2;
    });
    CHECK(scene.play());
    if (!kSanitized) CHECK(scene.growth() < 32 * kMiB);
    scene.check_end();
}

TEST_CASE("identities that are taken on one after the other are forgotten with their links") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method,
                [](Member& member) {
                    const int rounds = kSanitized ? 10 : 200;
                    for (int round = 1; round <= 2 * rounds; ++round) {
                        // The victim looks for idle peers every five seconds.
                        if (round == rounds) member.pump(std::chrono::seconds(12), [] { return false; });
                        member.become(context_of(static_cast<std::uint64_t>(round)));
                        End& end = member.join();
                        const std::string name(255, 'n');
                        for (std::uint16_t number = 20; number < 500; ++number)
                            member.say(end, wire::encode(wire::Declare{number, 1, name, name}));
                        if (!member.heard(end)) return 1;
                    }
                    return 0;
                },
                {{"limits.forget_peer", "100 ms"}, {"limits.reconnect", "100 ms"}});
    CHECK(scene.play());
    if (!kSanitized) CHECK(scene.growth() < 48 * kMiB); // 31 MiB for each half

    scene.check_end();
}

TEST_CASE("links without a word, and links that are many, keep nobody out") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        for (int i = 0; i < 200; ++i) {
            End& end = member.dial();
            if (i % 2 == 0) member.hello(end, 1000u + static_cast<std::uint32_t>(i));
        }
        return member.heard(member.join()) ? 0 : 1;
    });
    CHECK(scene.play());
    Context fresh(by(method, {{"job.key_file", scene.key_file()}}));
    CHECK(within(GlobalPointer<Door>::load(fresh, scene.door().save()).call(echo, 3)) == 3);
    scene.check_end();
}

TEST_CASE("links that are opened and closed again and again take nothing with them") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        for (std::uint32_t i = 0; i < 500; ++i) {
            End& end = member.dial();
            if (i % 2 == 0) member.hello(end, 1000u + i);
            member.host().disconnect(end);
            member.host().poll();
        }
        return member.heard(member.join()) ? 0 : 1;
    });
    CHECK(scene.play());
    if (!kSanitized) CHECK(scene.growth() < 32 * kMiB);
    scene.check_end();
}

TEST_CASE("one-way requests without a pause do not starve the third") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method, [](Member& member) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
        while (std::chrono::steady_clock::now() < end)
            for (int i = 0; i < 1000; ++i)
                if (!member.say(member.link(), member.request(kNote))) return 1;
        return member.heard(member.link()) ? 0 : 2;
    });
    CHECK(scene.play());
    CHECK(within(scene.door().call(notes)) > 0);
    scene.check_end();
}

TEST_CASE("threaded requests without a pause fill their queue and no more, and who finds it full is told") {
    const std::string method = each_method();
    CAPTURE(method);
    Scene scene(method,
                [](Member& member) {
                    for (int round = 0; round < static_cast<int>(many(100)); ++round) {
                        for (int i = 0; i < 3'000; ++i) // more than the queue holds
                            if (!member.say(member.link(), member.request(kSlowEcho, 0, arguments_of(1))))
                                return 1;
                        member.pump(std::chrono::milliseconds(10), [] { return false; });
                    }
                    return 0; // its own answers find no room: it acknowledges none of the reports
                },
                {{"limits.handler_queue", "64 KiB"}});
    scene.begin();
    int refused = 0;
    std::string otherwise; // how a call ended that was neither answered nor refused for want of room
    while (!scene.poll_deed()) {
        std::vector<Future<int>> calls; // fewer than the queue holds
        for (int i = 0; i < 100; ++i) calls.push_back(scene.door().call(slow_echo, 4));
        for (Future<int>& call : calls) {
            REQUIRE(call.wait_for(std::chrono::seconds(60) * kPatience));
            try {
                if (call.get() != 4) otherwise = "a wrong answer";
            } catch (const Error& error) {
                if (error.status() == Status::again)
                    ++refused;
                else
                    otherwise = error.what();
            }
        }
    }
    CHECK(refused > 0);
    CHECK(otherwise.empty());
    if (!kSanitized) CHECK(scene.growth() < 64 * kMiB);
    scene.check_end();
}

} // namespace floods_test
