// SPDX-License-Identifier: BSD-3-Clause
// Closing a context takes no longer than progress.close_timeout and a little, whatever handlers do.
#include "contexts.h"
#include "key_file.h"
#include "support/process.h"

#include <csignal>
#include <optional>
#include <thread>

namespace closing_test {

using namespace plexus;
using namespace plexus::testing;

struct Far {};
struct Near {
    std::optional<GlobalPointer<Far>> far;
    std::atomic<int> inside{0}; ///< handlers that have begun
    std::atomic<bool> over{false};
    std::atomic<Status> end{Status::ok};
    std::atomic<bool> release{false};
};
constexpr Request<int(Far&)> ask{"closing.ask"};
constexpr Request<void(Far&, std::vector<std::byte>)> take{"closing.take"};
constexpr Request<void(Near&)> work{"closing.work"};
constexpr Request<int(Near&)> ping{"closing.ping"};

constexpr auto kTimeout = std::chrono::milliseconds(400);
/// The bound, for links that end in time of their own, and for a machine that is busy.
constexpr auto kLongest = kTimeout + std::chrono::seconds(1) + std::chrono::seconds(2);

/// A peer in a process of its own that answers until it is stopped.
class StoppedPeer {
  public:
    explicit StoppedPeer(const std::string& method)
      : process_([&](Channel& channel) {
          Context context(by(method, {{"job.key_file", key_.path()}}));
          Far far;
          context.on(ask, [](Far&) { return 1; });
          context.on(take, [](Far&, const std::vector<std::byte>&) {});
          const auto bound = context.bind(far);
          channel.put(bound.pointer().save());
          context.run();
          return 0;
      }) {
        const auto saved = process_.channel().take(std::chrono::seconds(20));
        if (!saved) throw std::runtime_error("the peer did not start");
        pointer_ = *saved;
    }
    const std::vector<std::byte>& pointer() const { return pointer_; }
    void stop() { process_.kill(SIGSTOP); }

    const std::string& key() const { return key_.path(); }

  private:
    KeyFile key_;
    Process process_;
    std::vector<std::byte> pointer_;
};

/// A context with one threaded handler that does `what`, which runs when this returns.
template <class What>
std::unique_ptr<Context> busy_context(Near& near, Bound<Near>& bound, const std::string& method,
                                      Context& caller, StoppedPeer* peer, What what) {
    Values values{{"progress.close_timeout", "400 ms"}};
    if (peer != nullptr) values.emplace("job.key_file", peer->key());
    auto context = std::make_unique<Context>(by(method, std::move(values)));
    if (peer != nullptr) {
        near.far = GlobalPointer<Far>::load(*context, peer->pointer());
        if (within(near.far->call(ask)) != 1) throw std::runtime_error("the peer gives no answer");
        peer->stop();
    }
    context->on(work, threaded, [what](Near& it) {
        ++it.inside;
        try {
            what(it);
        } catch (const Error& error) { it.end = error.status(); }
        it.over = true;
    });
    bound = context->bind(near);
    handed(caller, bound.pointer()).send(work);
    if (!eventually(kLimit, [&] { return near.inside > 0; })) throw std::runtime_error("no handler runs");
    return context;
}

std::chrono::nanoseconds time_to_close(std::unique_ptr<Context>& context) {
    const auto start = std::chrono::steady_clock::now();
    context.reset();
    return std::chrono::steady_clock::now() - start;
}

TEST_CASE("a handler that waits for an answer which never comes does not keep its context from closing") {
    const std::string method = GENERATE(from_range(and_fabrics({"shm", "tcp"})));
    CAPTURE(method);
    StoppedPeer peer(method);
    Near near;
    Context caller(by("local", {{"progress.close_timeout", "200 ms"}}));
    Bound<Near> bound; // ends after the context
    auto context = busy_context(near, bound, "local, " + method, caller, &peer,
                                [](Near& it) { it.far->call(ask).get(); });
    CHECK(time_to_close(context) < kLongest * kPatience);
    CHECK(eventually(kLimit, [&] { return near.over.load(); }));
    CHECK(near.end == Status::closed);
    near.far.reset();
}

TEST_CASE("a handler that sends to a peer which reads nothing does not keep its context from closing") {
    const std::string method = GENERATE(from_range(and_fabrics({"shm", "tcp"})));
    CAPTURE(method);
    StoppedPeer peer(method);
    Near near;
    Context caller(by("local", {{"progress.close_timeout", "200 ms"}}));
    Bound<Near> bound;
    auto context = busy_context(near, bound, "local, " + method, caller, &peer, [](Near& it) {
        const std::vector<std::byte> large(2'000'000); // one copy of it is over soon, also on a busy machine
        for (;;) it.far->send(take, large);
    });
    CHECK(time_to_close(context) < kLongest * kPatience);
    CHECK(eventually(kLimit, [&] { return near.over.load(); }));
    CHECK(near.end != Status::ok);
    near.far.reset();
}

TEST_CASE("a handler that never returns is left behind, and the log names its request") {
    const auto expected = expect_warning("closing.work");
    auto* const near = new Near; // the handler outlives this scope: what it uses must, too
    static auto& kept = *new std::vector<Near*>;
    kept.push_back(near);
    Context caller(by("local", {{"progress.close_timeout", "200 ms"}}));
    Bound<Near> bound;
    auto context = busy_context(*near, bound, "local", caller, nullptr, [](Near& it) {
        while (!it.release) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    CHECK(time_to_close(context) < kLongest * kPatience);
    CHECK(expected.count() == 1);
    CHECK_FALSE(near->over);
    near->release = true;
    CHECK(eventually(kLimit, [&] { return near->over.load(); }));
    bound = {}; // waits until the handler has let go of the object
}

TEST_CASE(
    "requests that were accepted and have not begun when their context closes are refused to their senders") {
    const std::string method = GENERATE("local", "shm", "tcp");
    const bool returns = GENERATE(true, false); // the handler before them, once its waits end
    CAPTURE(method, returns);
    const auto dropped = expect_warning("4 accepted requests were refused");
    const auto stuck = expect_warning("closing.work");
    Owed<int> owed;
    Far there;
    Context other(by("local"));
    other.on(ask, [&](Far&, Reply<int> reply) { owed.add(std::move(reply)); });
    const Bound<Far> bound_far = other.bind(there);
    auto* const near = new Near; // a handler that is left behind outlives this scope
    static auto& kept = *new std::vector<Near*>;
    kept.push_back(near);
    Complaints complaints;
    Context caller(by(method));
    complaints.listen_to(caller);
    Bound<Near> bound;
    auto context =
        std::make_unique<Context>(by(method == "local" ? "local" : "local, " + method,
                                     {{"progress.close_timeout", "800 ms"}, {"handlers.threads", "1"}}));
    context->on(work, threaded, [returns](Near& it) {
        ++it.inside;
        if (!returns) eventually(kLimit, [&] { return it.release.load(); });
        if (returns) refusal_of([&] { it.far->call(ask).get(); });
        it.over = true;
    });
    context->on(ping, [](Near&) { return 1; });
    near->far = handed(*context, bound_far.pointer());
    bound = context->bind(*near);
    const auto far = handed(caller, bound.pointer());
    for (int i = 0; i < 4; ++i) far.send(work);
    Future<void> waiting = far.call(work);
    REQUIRE(within(far.call(ping)) == 1); // behind them
    REQUIRE(eventually(kLimit, [&] { return near->inside == 1; }));
    time_to_close(context);
    for (int i = 0; i < 3; ++i) {
        const Refusal refusal = complaints.next();
        CAPTURE(i, refusal.why);
        CHECK(refusal.status == Status::closed);
        CHECK(refusal.says("closing.work"));
        CHECK(refusal.says("before its handler began"));
    }
    CHECK(refusal_of(std::move(waiting)).status == Status::closed);
    near->release = true;
    CHECK(eventually(kLimit, [&] { return near->over.load(); }));
    CHECK(near->inside == 1);
    bound = {};
    near->far.reset();
}

TEST_CASE("a handler that ends in time keeps its answer, and closing waits no longer than for that") {
    Near near;
    Context caller(by("local, tcp"));
    Bound<Near> bound;
    auto context = busy_context(near, bound, "local, tcp", caller, nullptr, [](Near& it) {
        while (!it.release) std::this_thread::yield();
    });
    auto answer = handed(caller, bound.pointer()).call(work); // a second one, beside the first
    REQUIRE(eventually(kLimit, [&] { return near.inside == 2; }));
    std::thread releaser([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        near.release = true;
    });
    time_to_close(context);
    releaser.join();
    CHECK(near.over);
    CHECK(refusal_of(std::move(answer)).status == Status::ok);
}

TEST_CASE("a handler that waits for an answer gets it while its context closes") {
    Owed<int> owed;
    Far there;
    Near near;
    Context other(by("local"));
    other.on(ask, [&](Far&, Reply<int> reply) { owed.add(std::move(reply)); });
    const Bound<Far> bound_far = other.bind(there);
    Bound<Near> bound;
    auto context = std::make_unique<Context>(by("local"));
    context->on(work, threaded, [](Near& it) {
        try {
            it.far->call(ask).get();
        } catch (const Error& error) { it.end = error.status(); }
        it.over = true;
    });
    near.far = handed(*context, bound_far.pointer());
    bound = context->bind(near);
    handed(other, bound.pointer()).send(work);
    Reply<int> reply = owed.take();
    std::atomic<bool> closing{false};
    context->at_close([&] { closing = true; });
    std::thread replier([&] {
        eventually(kLimit, [&] { return closing.load(); });
        std::this_thread::sleep_for(std::chrono::milliseconds(200)); // progress.close_timeout is 5 s
        reply.send(3);
    });
    time_to_close(context);
    replier.join();
    CHECK(near.over);
    CHECK(near.end == Status::ok);
    near.far.reset();
}

TEST_CASE(
    "actions of at_close() run once, the newest first, while the context still answers, and may throw") {
    const auto logged = expect_warning("an action of at_close() threw");
    std::vector<std::string> ran;
    Near near;
    Bound<Near> bound;
    {
        Context context(by("local"));
        bound = context.bind(near);
        context.on(work, [](Near& it) { ++it.inside; });
        context.at_close([&] { ran.emplace_back("oldest"); });
        context.at_close([] { throw 1; });
        context.at_close([&] {
            bound.pointer().call(work).get();
            ran.push_back("newest, after " + std::to_string(near.inside) + " call");
        });
    }
    CHECK(ran == std::vector<std::string>{"newest, after 1 call", "oldest"});
    CHECK(logged.count() == 1);
}

TEST_CASE("an action of at_close() that waits for an answer which never comes ends in time") {
    Near near;
    Context far(by("local", {{"progress.close_timeout", "200 ms"}}));
    far.on(work, threaded, [](Near& it) {
        while (!it.release) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    const Bound<Near> bound = far.bind(near);
    auto context = std::make_unique<Context>(by("local", {{"progress.close_timeout", "400 ms"}}));
    const GlobalPointer<Near> pointer = handed(*context, bound.pointer());
    Status first = Status::ok;
    Status second = Status::ok;
    context->at_close([&] { second = refusal_of([&] { pointer.call(work).get(); }).status; });
    context->at_close(
        [&] { first = refusal_of([&] { pointer.call(work).wait_for(std::chrono::hours(1)); }).status; });
    CHECK(time_to_close(context) < kLongest * kPatience);
    CHECK(first == Status::closed);
    CHECK(second == Status::closed);
    near.release = true;
}

TEST_CASE("a pointer that outlives its context says so, and asks no module, whether it was used or not") {
    const std::string method = GENERATE("local", "shm", "tcp");
    CAPTURE(method);
    Far object;
    Context far(by(method));
    far.on(ask, [](Far&) { return 1; });
    const Bound<Far> bound = far.bind(object);
    auto context = std::make_unique<Context>(by(method));
    const GlobalPointer<Far> used = handed(*context, bound.pointer());
    CHECK(used.call(ask).get() == 1);
    GlobalPointer<Far> fresh = used;
    fresh.use(method);
    context.reset();
    for (const GlobalPointer<Far>& pointer : {used, fresh}) {
        CHECK(pointer.try_send(take, std::vector<std::byte>(1)) == Status::closed);
        CHECK(refusal_of([&] { pointer.call(ask).get(); }).status == Status::closed);
        CHECK_FALSE(pointer.choose().row);
        CHECK(pointer.explain().find("not available") != std::string::npos);
        CHECK(pointer.enquire().size() == 1);
    }
    CHECK(refusal_of([&] { fresh.use(method); }).status == Status::no_method);
    CHECK(refusal_of([&] {
              fresh.prescribe(method);
              fresh.call(ask).get();
          }).status == Status::closed);
}

} // namespace closing_test
