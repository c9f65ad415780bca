// SPDX-License-Identifier: BSD-3-Clause
// Names and fences between the contexts of a process, and contexts that join by a URL.
#include "contexts.h"

#include <thread>

namespace meeting_test {

using namespace plexus;
using namespace plexus::testing;

struct Inn {};
constexpr Request<int(Inn&)> knock{"meeting.knock"};

struct Owner {
    explicit Owner(Values more = {}, const std::string& methods = "shm, tcp")
      : context(by(methods, std::move(more))) {
        context.on(knock, [](Inn&) { return 3; });
        bound = context.bind(inn);
    }
    Inn inn;
    Context context;
    Bound<Inn> bound;
};

TEST_CASE("what one context publishes another finds") {
    Owner owner;
    Context user(by("shm, tcp"));
    owner.context.publish("meeting inn", owner.bound.pointer());
    const auto found = within(user.lookup<Inn>("meeting inn"));
    CHECK(found == owner.bound.pointer());
    CHECK(within(found.call(knock)) == 3);
}

TEST_CASE("a lookup waits until the name is published") {
    Owner owner;
    Context user(by("shm, tcp"));
    Future<GlobalPointer<Inn>> later = user.lookup<Inn>("meeting late");
    CHECK_FALSE(later.wait_for(std::chrono::milliseconds(20)));
    owner.context.publish("meeting late", owner.bound.pointer());
    CHECK(within(within(std::move(later)).call(knock)) == 3);
}

TEST_CASE("a name that nobody publishes is not found, in the configured time") {
    Context user(by("shm", {{"progress.lookup_timeout", "50 ms"}}));
    const Refusal refusal = refusal_of(user.lookup<Inn>("meeting nobody"));
    CHECK((refusal.status == Status::not_found || refusal.status == Status::timed_out));
    CHECK(refusal.says("meeting nobody"));
}

TEST_CASE("a name is taken once") {
    Owner owner;
    Owner rival;
    owner.context.publish("meeting taken", owner.bound.pointer());
    const Refusal refusal =
        refusal_of([&] { rival.context.publish("meeting taken", rival.bound.pointer()); });
    CHECK(refusal.status == Status::busy);
    CHECK(refusal.says("meeting taken"));
}

TEST_CASE("lookups and fences end at a deadline or when they are cancelled, and not twice") {
    const bool joined = GENERATE(false, true);
    CAPTURE(joined);
    Owner server(Values{{"listen", "plexus://127.0.0.1:0"}});
    Context user =
        joined ? Context::attach(server.context.url(), by("tcp", {{"name", "guest"}})) : Context(by("tcp"));
    const Refusal late = refusal_of(user.lookup<Inn>("meeting never", deadline(20ms)));
    CHECK(late.status == Status::deadline_exceeded);
    CHECK(late.says("meeting never"));
    Future<GlobalPointer<Inn>> waits = user.lookup<Inn>("meeting at last");
    CHECK(waits.cancel());
    CHECK(waits.ready());
    CHECK_FALSE(waits.cancel());
    Future<GlobalPointer<Inn>> second = user.lookup<Inn>("meeting at last");
    Owner owner;
    (joined ? server : owner).context.publish("meeting at last", (joined ? server : owner).bound.pointer());
    CHECK(within(std::move(second)).context() == (joined ? server : owner).context.id());
    CHECK(refusal_of(std::move(waits)).status == Status::cancelled);
    Future<GlobalPointer<Inn>> given_up = user.lookup<Inn>("meeting never", deadline(500ms));
    CHECK(given_up.cancel());
    CHECK(refusal_of(user.lookup<Inn>("meeting never", deadline(1s))).status == Status::deadline_exceeded);
    CHECK(refusal_of(std::move(given_up)).status == Status::cancelled); // its own deadline came later
    Context limited = Context::attach(server.context.url(), by("tcp", {{"limits.call_deadline", "20 ms"}}));
    CHECK(refusal_of(limited.lookup<Inn>("meeting never")).status == Status::deadline_exceeded);
}

TEST_CASE("a context alone passes its fence") {
    Context alone(by("tcp"));
    CHECK(alone.size() == 1);
    CHECK(alone.rank() == 0);
    for (int i = 0; i < 3; ++i) within(alone.fence());
}

TEST_CASE("a context joins a server by its URL and finds what is published there") {
    Owner server(Values{{"listen", "plexus://127.0.0.1:0"}});
    server.context.publish("meeting served", server.bound.pointer());
    REQUIRE_FALSE(server.context.url().empty());
    Context guest = Context::attach(server.context.url(), by("tcp"));
    const auto found = within(guest.lookup<Inn>("meeting served"));
    CHECK(within(found.call(knock)) == 3);
    CHECK(found.method() == "tcp");
    // Whoever joins can ask which way leads to the server itself.
    CHECK(within(guest.lookup<Inn>("plexus.server")).context() == server.context.id());
}

TEST_CASE("run() goes on until stop(), and run_for() until the time is over") {
    Context context(by("tcp"));
    CHECK_FALSE(context.run_for(std::chrono::milliseconds(5)));
    std::thread stopper([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        context.stop();
    });
    CHECK(context.run_for(kLimit));
    stopper.join();
}

} // namespace meeting_test
