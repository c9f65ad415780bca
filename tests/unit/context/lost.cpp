// SPDX-License-Identifier: BSD-3-Clause
// Peers that are not there any more, are somebody else now, or hold another key: every call
// ends in bounded time with an error of its own.
#include "contexts.h"

#include "context/core.h"
#include "support/tmpdir.h"

#include <optional>
#include <sys/stat.h>
#include <thread>

namespace lost_test {

using namespace plexus;
using namespace plexus::testing;

struct Light {};
constexpr Request<int(Light&, int)> blink{"lost.blink"};
constexpr Request<int(Light&)> wait_long{"lost.wait_long"};

struct Owner {
    explicit Owner(const std::string& methods, Values more = {})
      : context(by(methods, std::move(more))) {
        context.on(blink, [](Light&, int x) { return x; });
        bound = context.bind(light);
    }
    Light light;
    Context context;
    Bound<Light> bound;
};

std::string key_file(const TmpDir& folder, const char* name, const std::string& text) {
    const std::string path = folder.file(name, text).string();
    ::chmod(path.c_str(), 0600);
    return path;
}

TEST_CASE("when a peer closes, later calls and sends say that it is lost") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    auto owner = std::make_optional<Owner>(method);
    Complaints complaints;
    Context user(by(method));
    complaints.listen_to(user);
    const auto far = handed(user, owner->bound.pointer());
    CHECK(within(far.call(blink, 1)) == 1);
    owner.reset();
    const Refusal refusal = refusal_of(far.call(blink, 2));
    CHECK(refusal.status == Status::peer_lost);
    CHECK(refusal.says("it has ended"));
    CHECK(eventually(kLimit, [&] { return far.try_send(blink, 3) == Status::peer_lost; }));
}

TEST_CASE("when a peer closes, calls that wait for it end") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    auto owner = std::make_optional<Owner>(method, Values{{"progress.close_timeout", "300 ms"}});
    owner->context.on(wait_long, threaded, [](Light&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        return 1;
    });
    Context user(by(method));
    const auto far = handed(user, owner->bound.pointer());
    CHECK(within(far.call(blink, 1)) == 1);
    std::vector<Future<int>> pending;
    for (int i = 0; i < 40; ++i) pending.push_back(far.call(wait_long)); // two at a time: four seconds
    const auto dropped = expect_warning("had not begun after three quarters of progress.close_timeout");
    std::thread closer([&] { const Context ending = std::move(owner->context); });
    std::size_t answered = 0;
    std::size_t lost = 0;
    for (Future<int>& each : pending) {
        const Refusal refusal = refusal_of(std::move(each));
        answered += refusal.status == Status::ok ? 1u : 0u;
        lost += refusal.status == Status::peer_lost || refusal.status == Status::closed ? 1u : 0u;
        UNSCOPED_INFO(to_string(refusal.status) << ": " << refusal.why);
    }
    closer.join();
    CHECK(lost > 0);
    CHECK(answered + lost == pending.size());
}

TEST_CASE("a context that was never there is lost, not waited for") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    std::vector<std::byte> saved;
    {
        const Owner gone(method);
        saved = gone.bound.pointer().save();
    }
    Context user(by(method));
    const auto far = GlobalPointer<Light>::load(user, saved);
    const Status status = refusal_of(far.call(blink, 1)).status;
    CHECK((status == Status::peer_lost || status == Status::no_method));
}

TEST_CASE("another context at the same address is not mistaken for the old one") {
    TmpDir folder;
    std::optional<Owner> owner;
    std::string port;
    for (int first = 47'100; !owner && first < 47'200; ++first) { // one that nobody has
        port = std::to_string(first);
        try {
            owner.emplace("tcp", Values{{"method.tcp.port", port}});
        } catch (const Error& error) { REQUIRE(error.status() == Status::busy); }
    }
    REQUIRE(owner);
    Complaints complaints;
    Context user(by("tcp"));
    complaints.listen_to(user);
    const auto old = handed(user, owner->bound.pointer());
    const std::vector<std::byte> saved = old.save();
    CHECK(within(old.call(blink, 1)) == 1);
    owner.reset();
    owner.emplace("tcp", Values{{"method.tcp.port", port}});

    const auto fresh = handed(user, owner->bound.pointer());
    CHECK(within(fresh.call(blink, 2)) == 2);
    CHECK(refusal_of(old.call(blink, 3)).status == Status::peer_lost);

    Context stranger(by("tcp")); // has not seen the old one end
    complaints.listen_to(stranger);
    CHECK(refusal_of(GlobalPointer<Light>::load(stranger, saved).call(blink, 4)).status == Status::peer_lost);
    CHECK(within(handed(stranger, owner->bound.pointer()).call(blink, 5)) == 5);
}

TEST_CASE("a port that is taken stops the start where tcp was asked for") {
    std::optional<Owner> owner;
    std::string port;
    for (int first = 47'200; !owner && first < 47'300; ++first) {
        port = std::to_string(first);
        try {
            owner.emplace("tcp", Values{{"method.tcp.port", port}});
        } catch (const Error& error) { REQUIRE(error.status() == Status::busy); }
    }
    REQUIRE(owner);
    const Refusal refusal = refusal_of([&] { Context(by("tcp", {{"method.tcp.port", port}})); });
    CHECK(refusal.status == Status::busy);
    CHECK(refusal.says(port));
}

TEST_CASE("a context with another key is refused in bounded time") {
    const std::string method = GENERATE(as<std::string>{}, "shm", "tcp");
    CAPTURE(method);
    TmpDir folder;
    const std::string ours = key_file(folder, "ours", std::string(64, 'a'));
    const std::string theirs = key_file(folder, "theirs", std::string(64, 'b'));
    Owner owner(method, {{"job.key_file", ours}});
    Context friendly(by(method, {{"job.key_file", ours}}));
    CHECK(within(handed(friendly, owner.bound.pointer()).call(blink, 1)) == 1);

    Context stranger(by(method, {{"job.key_file", theirs}}));
    const auto far = handed(stranger, owner.bound.pointer());
    const Refusal refusal = refusal_of(far.call(blink, 2));
    CHECK(refusal.status == Status::denied);
    CHECK(refusal.says("key"));
    CHECK(within(handed(friendly, owner.bound.pointer()).call(blink, 3)) == 3);
}

TEST_CASE("a program hears of peers that are lost or back, with their identity and name") {
    Owner owner("tcp");
    Complaints complaints;
    Context user(by("tcp", {{"name", "client seven"}}));
    complaints.listen_to(owner.context);
    std::vector<PeerEvent> events; // told here, on this thread
    owner.context.on_peer([&](const PeerEvent& event) { events.push_back(event); });
    CHECK(within(handed(user, owner.bound.pointer()).call(blink, 1)) == 1);
    auto& dispatcher = owner.context.core()->dispatcher();
    const auto peer = owner.context.core()->endpoint().peer(user.id());
    dispatcher.peer_event(*peer, Status::peer_lost, "its process was killed");
    dispatcher.peer_event(*peer, Status::peer_back, {});
    REQUIRE(events.size() == 2);
    CHECK(events[0].context == user.id());
    CHECK(events[0].name == "client seven");
    CHECK(events[0].status == Status::peer_lost);
    CHECK(events[0].why == "its process was killed");
    CHECK(events[1].status == Status::peer_back);
    const Refusal lost = complaints.next();
    CHECK(lost.status == Status::peer_lost);
    CHECK(lost.says(to_string(user.id())));
    CHECK(lost.says("client seven"));
    CHECK(lost.says("its process was killed"));
    const Refusal back = complaints.next();
    CHECK(back.status == Status::peer_back);
    CHECK(back.says("is back"));
}

TEST_CASE("errors about a peer that is lost name it as it calls itself") {
    Owner owner("tcp");
    auto user = std::make_unique<Owner>("tcp", Values{{"name", "client seven"}});
    CHECK(within(handed(user->context, owner.bound.pointer()).call(blink, 1)) == 1);
    const auto back = handed(owner.context, user->bound.pointer());
    CHECK(within(back.call(blink, 2)) == 2);
    const std::string short_id = to_string(user->context.id()).substr(0, 8);
    user.reset();
    Refusal refusal;
    CHECK(eventually(kLimit, [&] {
        refusal = refusal_of(back.call(blink, 3));
        return refusal.says("is lost");
    }));
    CHECK(refusal.says("context " + short_id + " (client seven) is lost"));
}

TEST_CASE("the calls that a channel carries fail together, and no others") {
    Owed<int> owed;
    Owner one("tcp");
    Owner two("tcp");
    for (Owner* each : {&one, &two})
        each->context.on(wait_long, [&](Light&, Reply<int> reply) { owed.add(std::move(reply)); });
    Context user(by("tcp"));
    auto& dispatcher = user.core()->dispatcher();
    const auto channel_to = [&](const Owner& owner) -> transport::Channel& {
        const auto peer = user.core()->endpoint().peer(owner.context.id());
        const std::vector<transport::Channel*> channels = peer->all_channels();
        REQUIRE(channels.size() == 1);
        return *channels.front(); // the peer keeps it
    };
    const auto to_one = handed(user, one.bound.pointer());
    Future<int> first = to_one.call(wait_long); // chooses the way, and waits for room
    Future<int> second = to_one.call(wait_long);
    Future<int> third = handed(user, two.bound.pointer()).call(wait_long);
    const Reply<int> kept[] = {owed.take(), owed.take(), owed.take()};
    transport::Channel& a = channel_to(one);
    transport::Channel& b = channel_to(two);
    CHECK(dispatcher.awaits(a));
    dispatcher.calls_lost(a, transport::WhichCalls::uncertain, Status::message_lost, "no link of it broke");
    CHECK(dispatcher.awaits(a));
    dispatcher.calls_uncertain(a);
    dispatcher.calls_lost(a, transport::WhichCalls::uncertain, Status::message_lost, "its link broke");
    for (Future<int>* each : {&first, &second}) {
        const Refusal refusal = refusal_of(std::move(*each));
        CHECK(refusal.status == Status::message_lost);
        CHECK(refusal.says("may or may not"));
        CHECK(refusal.says("its link broke"));
    }
    CHECK_FALSE(dispatcher.awaits(a));
    CHECK(dispatcher.awaits(b));
    CHECK_FALSE(third.ready());
    dispatcher.calls_moved(b, a);
    CHECK_FALSE(dispatcher.awaits(b));
    dispatcher.calls_lost(b, transport::WhichCalls::all, Status::message_lost, "nothing went by it");
    CHECK_FALSE(third.ready());
    dispatcher.calls_lost(a, transport::WhichCalls::all, Status::message_lost, "its link broke");
    CHECK(refusal_of(std::move(third)).status == Status::message_lost);
}

} // namespace lost_test
