// SPDX-License-Identifier: BSD-3-Clause
// Whole contexts over links that break, stall and refuse by plan: requests arrive in order
// and exactly once, calls are answered, nothing hangs. Each context has its progress thread.
#include "plexus/plexus.h"
#include "support/arguments.h"
#include "support/catch.h"
#include "support/eventually.h"

#include <atomic>
#include <filesystem>
#include <fmt/core.h>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace core_test {

using namespace plexus::testing;
using plexus::Bound;
using plexus::Context;
using plexus::GlobalPointer;
using plexus::Options;

namespace {

/// Counts what arrives; the numbers are written by handlers, one at a time.
struct Sink {
    std::uint64_t expected = 0;
    std::uint64_t out_of_order = 0;
    std::uint64_t damaged = 0;
    std::atomic<std::uint64_t> arrived{0}; // [arrived] released after the fields above were written
    GlobalPointer<Sink> other{};

    void take(std::uint64_t number) {
        if (number != expected) ++out_of_order;
        expected = number + 1;
        arrived.fetch_add(1, std::memory_order_release); // [arrived]
    }
    std::uint64_t count() const { return arrived.load(std::memory_order_acquire); } // pairs with [arrived]
};

constexpr plexus::Request<void(Sink&, std::uint64_t, std::vector<std::uint8_t>)> number_request{
    "faults.number"};
constexpr plexus::Request<std::uint64_t(Sink&, std::uint64_t)> double_request{"faults.double"};
constexpr plexus::Request<void(Sink&)> nudge_request{"faults.nudge"};
constexpr plexus::Request<void(Sink&, std::uint32_t, std::vector<std::uint8_t>)> bounce_request{
    "faults.bounce"};

Options options(const std::string& methods) {
    Options made;
    made.set["module_path"] = std::filesystem::path(arguments().objects.at("faults")).parent_path().string();
    made.set["methods"] = methods;
    made.set["progress.close_timeout"] = "500 ms"; // what the plan swallowed is not worth more
    return made;
}

/// One of two contexts of a test, with the same handlers on both sides.
struct Side {
    explicit Side(const std::string& methods)
      : context(options(methods))
      , bound(context.bind(sink)) {
        context.on_error([this](const plexus::Error& error) {
            if (!ending || error.status() != plexus::Status::message_lost) {
                std::lock_guard hold(first_mutex);
                if (++errors == 1) first_error = error.what();
            }
        });
        context.on(number_request, [](Sink& to, std::uint64_t number, const std::vector<std::uint8_t>& load) {
            for (const std::uint8_t byte : load)
                if (byte != static_cast<std::uint8_t>(number)) {
                    ++to.damaged;
                    break;
                }
            to.take(number);
        });
        context.on(nudge_request, [](Sink&) {});
        context.on(double_request, [](Sink& to, std::uint64_t number) {
            to.take(number);
            return number * 2;
        });
        context.on(bounce_request, [](Sink& to, std::uint32_t left, const std::vector<std::uint8_t>& load) {
            if (left > 0) to.other.send(bounce_request, left - 1, load);
            to.arrived.fetch_add(1, std::memory_order_release); // [arrived]
        });
    }

    GlobalPointer<Sink> reach(const Side& far) {
        return GlobalPointer<Sink>::load(context, far.bound.pointer().save());
    }

    /// From now on what was not confirmed may be called lost: a link that breaks while its peer
    /// ends leaves that open.
    void end() {
        ending = true;
        std::lock_guard hold(first_mutex);
        CHECK(first_error == "");
    }

    Sink sink;
    std::atomic<bool> ending{false}; // alone is the message, as the next
    std::atomic<int> errors{0};
    std::mutex first_mutex;
    std::string first_error; ///< what on_error heard first
    Context context;
    Bound<Sink> bound;
};

/// Up to three messages vanish before a cut, which comes with the next ones: something always
/// follows, both ways, as the kernel's own timer would make sure of on a real link.
class Nudger {
  public:
    Nudger(Side& a, Side& b)
      : a_(a)
      , b_(b)
      , to_b_(a.reach(b))
      , to_a_(b.reach(a))
      , thread_([this] {
          while (!stop_) {
              if (to_b_.try_send(nudge_request) != plexus::Status::ok ||
                  to_a_.try_send(nudge_request) != plexus::Status::ok)
                  ++failed_;
              std::this_thread::sleep_for(1ms);
          }
      }) {}
    ~Nudger() {
        stop_ = true;
        thread_.join();
        CHECK(failed_ == 0);
        a_.end();
        b_.end();
    }
    Nudger(const Nudger&) = delete;
    Nudger& operator=(const Nudger&) = delete;

  private:
    Side& a_;
    Side& b_;
    GlobalPointer<Sink> to_b_;
    GlobalPointer<Sink> to_a_;
    std::atomic<bool> stop_{false}; // alone is the message
    int failed_ = 0;                // read after the join
    std::thread thread_;
};

std::vector<std::uint8_t> load_of(std::uint64_t number, std::size_t size) {
    return std::vector<std::uint8_t>(size, static_cast<std::uint8_t>(number));
}

std::ptrdiff_t open_files() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                         std::filesystem::directory_iterator());
}

void send_numbers(const GlobalPointer<Sink>& to, std::uint64_t count, std::size_t size) {
    for (std::uint64_t i = 0; i < count; ++i) to.send(number_request, i, load_of(i, size));
}

void check_all(const Side& side, std::uint64_t count) {
    CHECK(eventually(30s, [&] { return side.sink.count() >= count; }));
    CHECK(side.sink.count() == count);
    CHECK(side.sink.expected == count);
    CHECK(side.sink.out_of_order == 0);
    CHECK(side.sink.damaged == 0);
    CHECK(side.errors == 0);
}

} // namespace

TEST_CASE("over links that are cut, requests arrive in order and exactly once") {
    const unsigned every = GENERATE(15u, 40u, 500u);
    const std::size_t size = GENERATE(std::size_t{8}, std::size_t{3'000}, std::size_t{200'000});
    CAPTURE(every, size);
    const std::uint64_t count = size > 100'000 ? 60 : 1'500;
    const std::string plan = fmt::format("faults?drop_link_every={}&seed=3", every);
    Side a(plan);
    Side b(plan);
    const Nudger nudger(a, b);
    const auto far = a.reach(b);
    send_numbers(far, count, size);
    check_all(b, count);
    CHECK(far.method() == "faults");
}

TEST_CASE("over links that are cut, both directions keep their order at the same time") {
    const unsigned every = GENERATE(15u, 100u);
    const char* seed = GENERATE("1", "2");
    CAPTURE(every, seed);
    const std::string plan = fmt::format("faults?drop_link_every={}&seed={}", every, seed);
    Side a(plan);
    Side b(plan);
    const std::ptrdiff_t before = open_files();
    const Nudger nudger(a, b);
    const auto to_b = a.reach(b);
    const auto to_a = b.reach(a);
    std::thread other([&] { send_numbers(to_a, 1'500, 64); });
    send_numbers(to_b, 1'500, 64);
    other.join();
    check_all(a, 1'500);
    check_all(b, 1'500);
    // Both sides often connect at once: what is too much is used at the next cut, and no link stays.
    CHECK(open_files() < before + 30);
}

TEST_CASE("over links that are cut, every call is answered and its handler ran once") {
    const unsigned every = GENERATE(15u, 60u);
    CAPTURE(every);
    const std::string plan = fmt::format("faults?drop_link_every={}&seed=5", every);
    Side a(plan);
    Side b(plan);
    const Nudger nudger(a, b);
    const auto far = a.reach(b);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < 400; ++i) wrong += far.call(double_request, i).get() != 2 * i;
    CHECK(wrong == 0);
    check_all(b, 400);
}

TEST_CASE("calls that wait together are all answered over links that are cut") {
    const std::string plan = "faults?drop_link_every=70&seed=9";
    Side a(plan);
    Side b(plan);
    const Nudger nudger(a, b);
    const auto far = a.reach(b);
    std::vector<plexus::Future<std::uint64_t>> futures;
    for (std::uint64_t i = 0; i < 1'000; ++i) futures.push_back(far.call(double_request, i));
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < 1'000; ++i) wrong += futures[i].get() != 2 * i;
    CHECK(wrong == 0);
    check_all(b, 1'000);
}

TEST_CASE("delayed messages come in order, and calls wait for them") {
    const std::string plan = "faults?delay=3 ms&withhold=2";
    Side a(plan);
    Side b(plan);
    const auto far = a.reach(b);
    const auto start = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < 20; ++i) CHECK(far.call(double_request, i).get() == 2 * i);
    CHECK(std::chrono::steady_clock::now() - start >= 20 * 2 * 3ms); // each way of each call
    check_all(b, 20);
}

TEST_CASE("a storm of refusals loses nothing") {
    const std::size_t size = GENERATE(std::size_t{16}, std::size_t{5'000}, std::size_t{300'000});
    CAPTURE(size);
    const std::uint64_t count = size > 100'000 ? 100 : 2'000;
    Side a("faults?again_every=2&seed=4");
    Side b("faults?again_every=2&seed=6");
    send_numbers(a.reach(b), count, size);
    check_all(b, count);
}

TEST_CASE("handlers that send to each other neither lose nor block") {
    const std::string plan = GENERATE("faults", "faults?again_every=3", "faults?drop_link_every=200", "tcp");
    const std::size_t size = GENERATE(std::size_t{4}, std::size_t{20'000});
    CAPTURE(plan, size);
    constexpr std::uint32_t kChains = 50;
    constexpr std::uint32_t kDepth = 40;
    Side a(plan);
    Side b(plan);
    a.sink.other = a.reach(b);
    b.sink.other = b.reach(a);
    const std::vector<std::uint8_t> load(size);
    const Nudger nudger(a, b);
    std::thread other([&] {
        for (std::uint32_t i = 0; i < kChains; ++i) b.sink.other.send(bounce_request, kDepth, load);
    });
    for (std::uint32_t i = 0; i < kChains; ++i) a.sink.other.send(bounce_request, kDepth, load);
    other.join();
    // Each chain is handled at its start, and once more for each step.
    constexpr std::uint64_t kAll = 2ull * kChains * (kDepth + 1);
    CHECK(eventually(30s, [&] { return a.sink.count() + b.sink.count() >= kAll; }));
    CHECK(a.sink.count() + b.sink.count() == kAll);
    a.sink.other = {};
    b.sink.other = {};
}

TEST_CASE("where a method cannot connect the next one carries everything") {
    const std::string methods = "faults?refuse_connect=1, tcp";
    Side a(methods);
    Side b(methods);
    const auto far = a.reach(b);
    send_numbers(far, 500, 100);
    check_all(b, 500);
    CHECK(far.method() == "tcp");
}

TEST_CASE(
    "a message that is larger than the receiver takes is refused to its sender, and the next one goes") {
    const std::string methods = GENERATE("faults", "tcp", "shm");
    CAPTURE(methods);
    Options roomy = options(methods);
    Options narrow = options(methods);
    narrow.set["limits.max_message"] = "1 MiB";
    Sink sink;
    Context b(narrow);
    b.on(number_request,
         [](Sink& to, std::uint64_t number, const std::vector<std::uint8_t>&) { to.take(number); });
    b.on(double_request, [](Sink&, std::uint64_t number) { return number * 2; });
    const auto bound = b.bind(sink);
    Context a(roomy);
    const auto far = GlobalPointer<Sink>::load(a, bound.pointer().save());
    far.send(number_request, 0, load_of(0, 10));
    try { // also if it is the first message of all: large ones wait until the peer has said what it takes
        far.send(number_request, 1, load_of(1, 3'000'000));
        FAIL("a message was taken that the receiver does not take");
    } catch (const plexus::Error& error) {
        CHECK(error.status() == plexus::Status::too_large);
        CHECK_THAT(error.what(), Catch::Contains("1048576"));
    }
    far.send(number_request, 2, load_of(2, 10));
    CHECK(far.call(double_request, 4).get() == 8);
    CHECK(sink.expected == 3);
    CHECK(sink.count() == 2);
}

TEST_CASE("a peer that cannot dial back keeps its answers until the caller is back") {
    // The links of the server swallow up to three answers, then are cut; only the client can make new ones.
    Side server("faults?refuse_connect=1&drop_link_every=15&seed=5");
    Side client("faults");
    const auto far = client.reach(server);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < 400 && wrong == 0; ++i) {
        auto answer = far.call(double_request, i);
        wrong += !answer.wait_for(15s * kPatience) || answer.get() != 2 * i;
    }
    CHECK(wrong == 0);
    check_all(server, 400);
    client.end();
    server.end();
}

TEST_CASE(
    "a flood over links that are cut all the time, of which one end makes all, arrives once and in order") {
    Side server("faults?refuse_connect=1&drop_link_every=25&seed=11");
    Side client("faults?drop_link_every=25&seed=12");
    {
        const auto to_server = client.reach(server);
        const auto to_client = server.reach(client);
        to_server.call(nudge_request).get(); // the first link is the client's
        std::thread other([&] { send_numbers(to_client, 3'000, 16); });
        send_numbers(to_server, 3'000, 16);
        other.join();
        check_all(server, 3'000);
        check_all(client, 3'000);
    }
    client.end();
    server.end();
}

TEST_CASE("a pointer may change its method while the links break: the order stays") {
    Side a("faults?drop_link_every=15&seed=2, tcp");
    Side b("faults?drop_link_every=15&seed=3, tcp");
    const Nudger nudger(a, b);
    auto far = a.reach(b);
    for (std::uint64_t i = 0; i < 600; ++i) {
        if (i % 5 == 0) far.use(i % 10 == 0 ? "faults" : "tcp");
        far.send(number_request, i, load_of(i, 40));
    }
    check_all(b, 600);
}

TEST_CASE("what falls back in mid-stream to a method that is in use arrives before what is sent later") {
    // The server's links are cut once and it refuses new ones: the rest must go by tcp, which another
    // pointer keeps open, and which the sender may use at once.
    for (int round = 0; round < 20; ++round) {
        Side b("faults?refuse_connect=1&drop_link_every=40&seed=7, tcp");
        Side a("faults?refuse_connect=2&drop_link_every=40&seed=8, tcp");
        auto second = a.reach(b);
        second.use("tcp");
        second.send(nudge_request);
        const auto far = a.reach(b);
        send_numbers(far, 300, 30);
        CHECK(eventually(30s, [&] { return b.sink.count() >= 300; }));
        REQUIRE(b.sink.count() == 300);
        REQUIRE(b.sink.out_of_order == 0);
        a.end();
        b.end();
    }
}

TEST_CASE("an answer of any size that is allowed arrives, also where its handler may not wait") {
    const std::string method = GENERATE("local", "shm", "tcp");
    CAPTURE(method);
    Sink sink;
    Context b(options(method));
    constexpr plexus::Request<std::vector<double>(Sink&)> huge{"faults.huge"};
    b.on(huge,
         [](Sink&) { return std::vector<double>(10'000'000, 0.5); }); // 80 MB, above limits.handler_queue
    const auto bound = b.bind(sink);
    Context a(options(method));
    const auto far = GlobalPointer<Sink>::load(method == "local" ? b : a, bound.pointer().save());
    auto answer = far.call(huge);
    REQUIRE(answer.wait_for(60s * kPatience));
    CHECK(answer.get().size() == 10'000'000);
}

} // namespace core_test
