// SPDX-License-Identifier: BSD-3-Clause
// How the scheduler treats a method's lane, how a foreign event loop sleeps on a context, and
// what a context that has nothing to do costs.
#include "contexts.h"
#include "key_file.h"
#include "support/process.h"

#include <atomic>
#include <csignal>
#include <ctime>
#include <optional>
#include <poll.h>
#include <thread>

namespace polling_test {

using namespace plexus;
using namespace plexus::testing;

struct Post {
    std::atomic<int> letters{0}; // all that the waiting thread reads
};
constexpr Request<void(Post&, std::vector<std::byte>)> letter{"polling.letter"};
constexpr Request<int(Post&)> count{"polling.count"};

struct Owner {
    explicit Owner(const std::string& methods, Values more = {})
      : context(by(methods, std::move(more))) {
        context.on(letter, [](Post& it, const std::vector<std::byte>&) { ++it.letters; });
        context.on(count, [](Post& it) { return it.letters.load(); });
        bound = context.bind(post);
    }
    Post post;
    Context context;
    Bound<Post> bound;
};

LaneReport lane_of(const Context& context, std::string_view method) {
    for (LaneReport& lane : context.lanes())
        if (lane.method == method) return lane;
    throw std::runtime_error("there is no such lane");
}

std::chrono::nanoseconds processor_time() {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

/// Sleeps in poll(2) as a foreign loop does, until `done()`; false if nothing woke it in time.
template <class Done>
bool sleep_until(Context& context, Done&& done) {
    while (!done()) {
        if (!context.arm()) {
            context.progress();
            continue;
        }
        pollfd wait{context.fd(), POLLIN, 0};
        if (::poll(&wait, 1, 5000 * kPatience) != 1) return done();
        context.progress();
    }
    return true;
}

/// Closes `user` while `owner` sleeps in a foreign loop: what was sent is confirmed, by a timer, long
/// before progress.close_timeout of `user` (20 s) is over.
void close_beside(std::optional<Context>& user, Context& owner) {
    const auto start = std::chrono::steady_clock::now();
    std::atomic<bool> closed{false};
    std::thread closer([&] {
        user.reset();
        closed = true;
        owner.stop(); // wakes the loop
    });
    CHECK(sleep_until(owner, [&] { return closed.load(); }));
    closer.join();
    CHECK(std::chrono::steady_clock::now() - start < 10s);
}

struct Relay {
    GlobalPointer<Post> far;
    std::optional<Status> end;
};
constexpr Request<void(Relay&)> pass_on{"polling.pass_on"};

TEST_CASE("skip_poll is auto, or the number that was set") {
    Context context(by("shm, tcp", {{"method.tcp.skip_poll", "20"}}));
    CHECK(lane_of(context, "shm").automatic);
    CHECK_FALSE(lane_of(context, "tcp").automatic);
    context.progress();
    CHECK(lane_of(context, "tcp").skip_poll == 20);
    context.skip_poll("tcp", 7);
    CHECK(eventually(kLimit, [&] {
        context.progress();
        return lane_of(context, "tcp").skip_poll == 7;
    }));
    context.skip_poll("tcp", std::nullopt);
    CHECK(lane_of(context, "tcp").automatic);
    CHECK(refusal_of([&] { context.skip_poll("carrier_pigeon", 1); }).status == Status::bad_argument);
}

TEST_CASE("a lane with skip_poll k is asked in every k-th turn") {
    Context context(by("tcp", {{"progress.thread", "false"}, {"method.tcp.skip_poll", "10"}}));
    for (int i = 0; i < 20; ++i) context.progress();
    const std::uint64_t before = lane_of(context, "tcp").polls;
    std::uint64_t interrupted = 0; // after a long turn every lane is asked
    for (int i = 0; i < 1000; ++i) {
        const auto start = std::chrono::steady_clock::now();
        context.progress();
        if (std::chrono::steady_clock::now() - start > 100us) ++interrupted;
    }
    const std::uint64_t asked = lane_of(context, "tcp").polls - before;
    CHECK(asked >= 99);
    CHECK(asked <= 101 + 2 * interrupted);
}

TEST_CASE("a confined lane is polled under a guard only") {
    Owner owner("tcp", {{"progress.thread", "false"}});
    std::optional<Context> user(by("tcp", {{"progress.close_timeout", "20 s"}}));
    const auto far = handed(*user, owner.bound.pointer());
    const auto turn_until = [&](int letters) {
        return eventually(std::chrono::milliseconds(100), [&] {
            owner.context.progress();
            return owner.post.letters.load() >= letters;
        });
    };
    std::thread first([&] { far.send(letter, {}); });
    CHECK(eventually(kLimit, [&] { return turn_until(1); }));
    first.join();

    owner.context.confine("tcp");
    CHECK(lane_of(owner.context, "tcp").confined);
    far.send(letter, {});
    CHECK_FALSE(turn_until(2));
    {
        const Polling outer(owner.context, "tcp");
        { const Polling inner(owner.context, "tcp"); }
        CHECK(eventually(kLimit, [&] { return turn_until(2); }));
    }
    far.send(letter, {});
    CHECK_FALSE(turn_until(3));
    owner.context.confine("tcp", false);
    CHECK(eventually(kLimit, [&] { return turn_until(3); }));
    close_beside(user, owner.context);
    CHECK(refusal_of([&] { const Polling none(owner.context, "carrier_pigeon"); }).status ==
          Status::bad_argument);
}

TEST_CASE("a context whose lane is confined hears, while it closes, that what it sent has arrived") {
    const Owner owner("tcp");
    std::optional<Context> user(by("tcp", {{"progress.close_timeout", "20 s"}}));
    {
        const auto far = handed(*user, owner.bound.pointer());
        CHECK(within(far.call(count)) == 0);
        user->confine("tcp");
        far.send(letter, {});
    }
    const auto start = std::chrono::steady_clock::now();
    user.reset();
    CHECK(std::chrono::steady_clock::now() - start < 10s);
    CHECK(owner.post.letters == 1);
}

TEST_CASE("a blocking lane wakes its context") {
    Owner owner("tcp", {{"method.tcp.blocking", "true"}});
    CHECK(lane_of(owner.context, "tcp").blocking);
    Context user(by("tcp"));
    const auto far = handed(user, owner.bound.pointer());
    for (int i = 1; i <= 20; ++i) {
        far.send(letter, {});
        CHECK(within(far.call(count)) == i);
    }
}

TEST_CASE("the timers of a method run for a blocking lane and in a foreign loop: a silent peer is given up") {
    const bool foreign_loop = GENERATE(false, true); // instead of the progress thread
    const std::string blocking = GENERATE(as<std::string>{}, "false", "true");
    CAPTURE(foreign_loop, blocking);
    const auto expected = expect_warning("may not have been delivered");
    const KeyFile key;
    Process peer([&](Channel& channel) {
        const Owner owner("tcp", {{"job.key_file", key.path()}});
        channel.put(owner.bound.pointer().save());
        channel.take(20s);
        return 0;
    });
    const auto saved = peer.channel().take(20s);
    REQUIRE(saved.has_value());
    peer.kill(SIGSTOP); // its kernel still accepts connections, nobody answers the handshake
    Context context(by("local, tcp", {{"method.tcp.blocking", blocking},
                                      {"method.tcp.connect_timeout", "200 ms"},
                                      {"job.key_file", key.path()},
                                      {"progress.thread", foreign_loop ? "false" : "true"}}));
    const auto far = GlobalPointer<Post>::load(context, *saved);
    if (!foreign_loop) {
        CHECK(refusal_of(far.call(count)).status == Status::peer_lost);
        return;
    }
    Relay relay{far, std::nullopt};
    context.on(pass_on, [](Relay& it) { // a handler does not wait, so the loop's timers do all
        it.far.call(count).then([&it](Future<int> answer) { it.end = refusal_of(std::move(answer)).status; });
    });
    const auto bound = context.bind(relay);
    handed(context, bound.pointer()).send(pass_on);
    CHECK(sleep_until(context, [&] { return relay.end.has_value(); }));
    CHECK(relay.end == Status::peer_lost);
}

TEST_CASE("one descriptor wakes a foreign event loop, whichever method a request comes by") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Owner owner("local, shm, tcp", {{"progress.thread", "false"}});
    std::optional<Context> user(by("local, shm, tcp", {{"progress.close_timeout", "20 s"}}));
    auto far = handed(*user, owner.bound.pointer());
    far.use(method);
    std::atomic<int> failed{0};
    std::thread sender([&] {
        for (int i = 0; i < 10; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10)); // the loop sleeps by then
            if (far.try_send(letter, std::vector<std::byte>(i == 5 ? 300'000 : 10)) != Status::ok) ++failed;
        }
    });
    CHECK(sleep_until(owner.context, [&] { return owner.post.letters.load() == 10; }));
    sender.join();
    CHECK(failed == 0);
    close_beside(user, owner.context);
}

TEST_CASE("contexts that have nothing to do use no processor") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp", "local, shm, tcp");
    CAPTURE(method);
    Owner owner(method);
    Context user(by(method));
    const auto far = handed(user, owner.bound.pointer());
    CHECK(within(far.call(count)) == 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(300)); // both settle
    const auto before = processor_time();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    const auto used = std::chrono::duration_cast<std::chrono::microseconds>(processor_time() - before);
    CHECK(used.count() < 5000 * kPatience);
    CHECK(within(far.call(count)) == 0); // and wake up again
}

TEST_CASE("a context that slept answers at once") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Owner owner(method);
    Context user(by(method));
    const auto far = handed(user, owner.bound.pointer());
    for (int i = 0; i < 10; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        CHECK(within(far.call(count)) == 0);
    }
}

} // namespace polling_test
