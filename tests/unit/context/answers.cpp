// SPDX-License-Identifier: BSD-3-Clause
// Answers that cannot be sent as they are: whoever waits gets the reason instead.
#include "contexts.h"

#include <atomic>
#include <malloc.h>

namespace answers_test {

using namespace plexus;
using namespace plexus::testing;

struct Store {};
constexpr Request<std::vector<double>(Store&, std::uint32_t)> fetch{"answers.fetch"};
constexpr Request<int(Store&, int)> echo{"answers.echo"};
constexpr Request<std::size_t(Store&, std::span<const std::byte>)> weigh{"answers.weigh"};
constexpr Request<void(Store&)> nudge{"answers.nudge"};

constexpr std::uint32_t kElements = 1u << 19; // 4 MiB

TEST_CASE("an answer that finds no room ends its call, with the result or with the reason") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    const bool on_pool = GENERATE(false, true);
    CAPTURE(method, on_pool);
    Context owner(by(method, {{"limits.handler_queue", "1 MiB"}}));
    Context user(by(method));
    const auto make = [](Store&, std::uint32_t size) { return std::vector<double>(size, 1.0); };
    on_pool ? owner.on(fetch, threaded, make) : owner.on(fetch, make);
    owner.on(echo, [](Store&, int x) { return x; });
    Store store;
    const Bound<Store> bound = owner.bind(store);
    const auto far = handed(user, bound.pointer());
    std::vector<Future<std::vector<double>>> pending;
    for (int i = 0; i < 6; ++i) pending.push_back(far.call(fetch, kElements));
    for (auto& each : pending) {
        std::size_t size = 0;
        const Refusal refusal = refusal_of([&] { size = within(std::move(each)).size(); });
        CAPTURE(refusal.why);
        CHECK(size == (refusal.status == Status::ok ? kElements : 0));
        if (refusal.status == Status::ok) continue;
        CHECK(refusal.status == Status::again);
        CHECK(refusal.says("limits.handler_queue"));
        CHECK(refusal.says("4194"));
    }
    CHECK(within(far.call(echo, 7)) == 7);
}

TEST_CASE("a get that finds no room for its bytes ends, with them or with the reason") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm?cma=off", "tcp");
    CAPTURE(method);
    Context owner(by(method, {{"limits.handler_queue", "1 MiB"}}));
    Context user(by(method));
    std::vector<double> numbers(kElements, 2.0);
    Store store;
    owner.on(echo, [](Store&, int x) { return x; });
    const BoundSpan<double> bound = owner.bind(std::span(numbers));
    const Bound<Store> door = owner.bind(store);
    const auto far =
        GlobalSpan<double>(bound.span().target(), handed(user, door.pointer()).route(), 0, numbers.size());
    std::vector<std::vector<double>> into(6, std::vector<double>(kElements));
    std::vector<Future<void>> pending;
    for (auto& each : into) pending.push_back(far.get(0, std::span(each)));
    for (std::size_t i = 0; i < pending.size(); ++i) {
        const Refusal refusal = refusal_of(std::move(pending[i]));
        CAPTURE(i, refusal.why);
        if (refusal.status == Status::ok) CHECK(into[i].back() == 2.0);
        if (refusal.status != Status::ok) CHECK(refusal.says("limits.handler_queue"));
    }
    CHECK(within(handed(user, door.pointer()).call(echo, 8)) == 8);
}

TEST_CASE("a threaded request that finds the queue full is refused, and its sender hears so") {
    const auto logged = expect_warning("a one-way request of context");
    std::atomic<bool> go{false};
    std::atomic<int> begun{0};
    Complaints complaints;
    Context owner(by("tcp", {{"limits.handler_queue", "4 KiB"}, {"handlers.threads", "1"}}));
    Context user(by("tcp"));
    complaints.listen_to(user);
    owner.on(weigh, threaded, [&](Store&, std::span<const std::byte> load) {
        ++begun;
        eventually(kLimit, [&] { return go.load(); });
        return load.size();
    });
    Store store;
    const Bound<Store> bound = owner.bind(store);
    const auto far = handed(user, bound.pointer());
    const std::vector<std::byte> load(3000);
    Future<std::size_t> first = far.call(weigh, std::span(load));
    CHECK(eventually(kLimit, [&] { return begun == 1; }));
    const Refusal refusal = refusal_of(far.call(weigh, std::span(load)));
    CHECK(refusal.status == Status::again);
    CHECK(refusal.says("limits.handler_queue"));
    far.send(weigh, std::span(load));
    CHECK(complaints.next().status == Status::again);
    go = true;
    CHECK(within(std::move(first)) == load.size());
    // The first request leaves the queue just behind its answer.
    CHECK(eventually(kLimit,
                     [&] { return refusal_of(far.call(weigh, std::span(load))).status == Status::ok; }));
}

TEST_CASE("small requests that wait for a thread take no more memory than limits.handler_queue") {
    constexpr int kSent = 60'000;
    constexpr std::size_t kQueue = std::size_t{4} << 20;
    const auto logged = expect_warning("a one-way request of context");
    std::atomic<bool> go{false};
    std::atomic<int> begun{0};
    std::atomic<int> refused{0};
    Context owner(by("tcp", {{"limits.handler_queue", "4 MiB"}, {"handlers.threads", "1"}}));
    Context user(by("tcp"));
    std::atomic<bool> told_of_dropped{false}; // reports that found no room themselves
    user.on_error([&](const Error& error) {
        refused += error.status() == Status::again ? 1 : 0;
        if (error.status() == Status::message_lost) told_of_dropped = true;
    });
    owner.on(echo, [](Store&, int x) { return x; });
    owner.on(nudge, threaded, [&](Store&) {
        ++begun;
        eventually(kLimit, [&] { return go.load(); });
    });
    Store store;
    const Bound<Store> bound = owner.bind(store);
    const auto far = handed(user, bound.pointer());
    CHECK(within(far.call(echo, 1)) == 1);
    const std::size_t before = ::mallinfo2().uordblks;
    for (int i = 0; i < kSent; ++i) far.send(nudge);
    // Behind them: the answer may find no room while refusals of these requests leave.
    CHECK(eventually(kLimit, [&] { return refusal_of(far.call(echo, 2)).status == Status::ok; }));
    const std::size_t after = ::mallinfo2().uordblks;
    CHECK(eventually(kLimit, [&] { return refused > kSent / 2; }));
    // Both ends are in this process; sanitizers have a heap of their own, whose size this is not.
    if (!kSanitized) CHECK(after < before + 2 * kQueue);
    go = true;
    CHECK(eventually(kLimit, [&] { return begun + refused == kSent || told_of_dropped; }));
    CHECK(begun > 0);
}

} // namespace answers_test
