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
#include <string>
#include <thread>

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
            if (!ending || error.status() != plexus::Status::message_lost) ++troubles;
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
        CHECK(troubles == 0);
    }

    Sink sink;
    std::atomic<bool> ending{false}; // alone is the message, as the next
    std::atomic<int> troubles{0};
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
    CHECK(side.troubles == 0);
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

TEST_CASE("a message that is larger than the receiver takes does not block its sender for good") {
    Options roomy = options("faults");
    Options narrow = options("faults");
    narrow.set["limits.max_message"] = "1 MiB";
    Sink sink;
    Context b(narrow);
    b.on(number_request,
         [](Sink& to, std::uint64_t number, const std::vector<std::uint8_t>&) { to.take(number); });
    const auto bound = b.bind(sink);
    Context a(roomy);
    std::atomic<int> troubles{0}; // the number is all that is read
    a.on_error([&](const plexus::Error& error) { troubles += error.status() == plexus::Status::too_large; });
    const auto far = GlobalPointer<Sink>::load(a, bound.pointer().save());
    far.send(number_request, 0, load_of(0, 10));
    far.send(number_request, 1, load_of(1, 3'000'000)); // refused over there, and its sender told
    far.send(number_request, 2, load_of(2, 10));
    CHECK(eventually(10s, [&] { return sink.count() == 2; }));
    CHECK(sink.expected == 3);
    CHECK(eventually(10s, [&] { return troubles == 1; }));
}
