// SPDX-License-Identifier: BSD-3-Clause
// Exceptions of the program's own code outside of handlers, and means that run out: reported, and
// the context goes on.
#include "contexts.h"

#include <atomic>
#include <pthread.h>
#include <thread>

namespace exceptions_test {

using namespace plexus;
using namespace plexus::testing;

struct Bench {};
constexpr Request<int(Bench&, int)> echo{"exceptions.echo"};
constexpr Request<int(Bench&, int)> echo_threaded{"exceptions.echo_threaded"};
constexpr Request<void(Bench&)> unknown{"exceptions.unknown"};

struct Two {
    explicit Two(const std::string& method, Values users = {})
      : owner(by(method))
      , user(by(method, std::move(users))) {
        owner.on(echo, [](Bench&, int x) { return x; });
        owner.on(echo_threaded, threaded, [](Bench&, int x) { return x; });
        bound = owner.bind(bench);
        far = handed(user, bound.pointer());
    }
    /// A call by another thread than the test's, which finds out whether anybody can still lead.
    int echoed_elsewhere(int x) {
        int answer = 0;
        std::thread([&] { answer = within(far.call(echo, x)); }).join();
        return answer;
    }
    Bench bench;
    Context owner;
    Context user;
    Bound<Bench> bound;
    GlobalPointer<Bench> far;
};

/// No thread can be started: none has so large a stack.
class NoThreads {
  public:
    NoThreads() {
        ::pthread_getattr_default_np(&before_);
        pthread_attr_t huge;
        ::pthread_attr_init(&huge);
        ::pthread_attr_setstacksize(&huge, std::size_t{1} << 47);
        ::pthread_setattr_default_np(&huge);
        ::pthread_attr_destroy(&huge);
    }
    ~NoThreads() {
        ::pthread_setattr_default_np(&before_);
        ::pthread_attr_destroy(&before_);
    }
    NoThreads(const NoThreads&) = delete;
    NoThreads& operator=(const NoThreads&) = delete;

  private:
    pthread_attr_t before_;
};

TEST_CASE("a continuation that throws is reported, and its context goes on") {
    const std::string method = GENERATE(as<std::string>{}, "local", "tcp");
    CAPTURE(method);
    Complaints complaints;
    Two two(method);
    complaints.listen_to(two.user);
    two.far.call(echo, 1).then([](Future<int>) { throw std::runtime_error("thrown by then()"); });
    const Refusal heard = complaints.next();
    CHECK(heard.status == Status::handler_threw);
    CHECK(heard.says("thrown by then()"));
    CHECK(two.echoed_elsewhere(2) == 2);
}

TEST_CASE("a continuation that takes the answer of a lost peer does not end the program") {
    Complaints complaints;
    Context user(by("tcp"));
    complaints.listen_to(user);
    GlobalPointer<Bench> far;
    {
        Two gone("tcp");
        far = handed(user, gone.bound.pointer());
        CHECK(within(far.call(echo, 1)) == 1);
    }
    far.call(echo, 2).then([](Future<int> answer) { answer.get(); }); // throws peer_lost
    const Refusal heard = complaints.next();
    CHECK(heard.status == Status::peer_lost);
}

TEST_CASE("an error handler that throws is logged, and its context goes on") {
    const auto said = expect_warning("thrown by on_error");
    const auto logged = expect_warning("a one-way request of context"); // at the owner
    Two two("tcp");
    two.user.on_error([](const Error&) { throw std::runtime_error("thrown by on_error"); });
    two.far.send(unknown);
    CHECK(eventually(kLimit, [&] { return said.count() > 0; }));
    CHECK(two.echoed_elsewhere(3) == 3);
}

TEST_CASE("a policy that throws ends the call, and leaves nothing of it behind") {
    Two two("tcp", {{"limits.calls", "1"}});
    auto far = two.far;
    far.use([](const std::vector<RowFacts>&) -> std::optional<std::size_t> {
        throw std::runtime_error("thrown by the policy");
    });
    for (int i = 0; i < 3; ++i) {
        const Refusal refusal = refusal_of(far.call(echo, i));
        CHECK(refusal.status == Status::handler_threw);
        CHECK(refusal.says("thrown by the policy"));
    }
    CHECK(within(two.far.call(echo, 4)) == 4);
}

TEST_CASE("without a thread for its handler a call is refused, and a later one is carried out") {
    Two two("tcp");
    CHECK(within(two.far.call(echo, 1)) == 1);
    {
        const NoThreads none;
        const Refusal refusal = refusal_of(two.far.call(echo_threaded, 2));
        CHECK(refusal.status == Status::again);
        CHECK(refusal.says("no thread"));
    }
    CHECK(within(two.far.call(echo_threaded, 3)) == 3);
    CHECK(two.echoed_elsewhere(4) == 4);
}

} // namespace exceptions_test
