// SPDX-License-Identifier: BSD-3-Clause
// How the scheduler treats a method's lane, how a foreign event loop sleeps on a context, and
// what a context that has nothing to do costs.
#include "contexts.h"

#include <atomic>
#include <ctime>
#include <poll.h>
#include <thread>

using namespace plexus;
using namespace plexus::testing;

namespace polling_test {

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

} // namespace polling_test

using namespace polling_test;

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
    for (int i = 0; i < 1000; ++i) context.progress();
    const std::uint64_t asked = lane_of(context, "tcp").polls - before;
    CHECK(asked >= 99);
    CHECK(asked <= 101);
}

TEST_CASE("a confined lane is polled under a guard only") {
    Owner owner("tcp", {{"progress.thread", "false"}});
    Context user(by("tcp", {{"progress.close_timeout", "200 ms"}})); // the owner will not confirm
    const auto far = handed(user, owner.bound.pointer());
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
    CHECK(refusal_of([&] { const Polling none(owner.context, "carrier_pigeon"); }).status ==
          Status::bad_argument);
}

TEST_CASE("a blocking lane wakes its context") {
    Owner owner("tcp", {{"method.tcp.blocking", "true"}});
    CHECK(lane_of(owner.context, "tcp").blocking);
    Context user(by("tcp", {{"progress.close_timeout", "200 ms"}})); // the owner will not confirm
    const auto far = handed(user, owner.bound.pointer());
    for (int i = 1; i <= 20; ++i) {
        far.send(letter, {});
        CHECK(within(far.call(count)) == i);
    }
}

TEST_CASE("one descriptor wakes a foreign event loop, whichever method a request comes by") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Owner owner("local, shm, tcp", {{"progress.thread", "false"}});
    Context user(by("local, shm, tcp", {{"progress.close_timeout", "200 ms"}})); // as above
    auto far = handed(user, owner.bound.pointer());
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
