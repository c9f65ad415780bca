// SPDX-License-Identifier: BSD-3-Clause
// What Context::lanes() counts of each method: messages and bytes on both sides, fallbacks, also of peers
// that are no more.
#include "contexts.h"

namespace counts_test {

using namespace plexus;
using namespace plexus::testing;

struct Box {};
constexpr Request<void(Box&, std::vector<char>)> put_in{"counts.put_in"};
constexpr Request<int(Box&)> count{"counts.count"};

struct Owner {
    explicit Owner(const std::string& methods)
      : context(by(methods)) {
        context.on(put_in, [this](Box&, const std::vector<char>&) { ++boxes; });
        context.on(count, [this](Box&) { return boxes; });
        bound = context.bind(box);
    }
    Box box;
    int boxes = 0;
    Context context;
    Bound<Box> bound;
};

LaneTraffic traffic_of(const Context& context, std::string_view method) {
    for (const LaneReport& lane : context.lanes())
        if (lane.method == method) return lane.traffic;
    return {};
}

TEST_CASE("messages and bytes are counted where they leave and where they come") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    const std::size_t size = GENERATE(std::size_t{8}, std::size_t{1} << 20); // small, and without a copy
    Owner owner(method);
    Context user(by(method));
    constexpr int kTimes = 20;
    {
        const auto far = handed(user, owner.bound.pointer());
        for (int i = 0; i < kTimes; ++i) far.send(put_in, std::vector<char>(size));
        CHECK(within(far.call(count)) == kTimes);
    }
    const LaneTraffic out = traffic_of(user, method);
    const LaneTraffic in = traffic_of(owner.context, method);
    CHECK(out.messages_sent == in.messages_received);
    CHECK(out.bytes_sent == in.bytes_received);
    CHECK(out.messages_sent >= kTimes + 1);
    CHECK(out.messages_sent <= kTimes + 5); // what these refer to goes ahead once
    CHECK(out.bytes_sent >= kTimes * size);
    CHECK(out.bytes_sent <= kTimes * (size + 100) + 2000);
    CHECK(in.messages_sent >= 1);
    CHECK(in.messages_sent == out.messages_received);
    CHECK(out.repairs + out.fallbacks + out.refusals == 0);
}

TEST_CASE("what went to a peer that has ended stays counted") {
    Context user(by("shm"));
    LaneTraffic before;
    {
        Owner owner("shm");
        const auto far = handed(user, owner.bound.pointer());
        far.send(put_in, std::vector<char>(1000));
        CHECK(within(far.call(count)) == 1);
        before = traffic_of(user, "shm");
    }
    CHECK(eventually(kLimit, [&] { return traffic_of(user, "shm").links == 0; }));
    Owner next("shm");
    CHECK(within(handed(user, next.bound.pointer()).call(count)) == 0);
    const LaneTraffic after = traffic_of(user, "shm");
    CHECK(after.messages_sent > before.messages_sent);
    CHECK(after.bytes_sent > before.bytes_sent);
    CHECK(after.messages_received > before.messages_received);
}

TEST_CASE("a method that is taken because another is not in this context counts no fallback") {
    const Owner owner("shm, tcp");
    Context user(by("tcp, local"));
    CHECK(within(handed(user, owner.bound.pointer()).call(count)) == 0);
    CHECK(traffic_of(user, "tcp").fallbacks == 0);
    CHECK(traffic_of(user, "local").fallbacks == 0);
}

} // namespace counts_test
