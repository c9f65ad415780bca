// SPDX-License-Identifier: BSD-3-Clause
// More calls at a time than there is room for answers: they wait for room, and every one is answered.
// TESTED_CALLS sets their number; TESTED_METHODS names methods instead of those of the build.
#include "contexts.h"

#include "context/core.h"
#include "method/list.h"
#include "transport/channel.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>

namespace backpressure_test {

using namespace plexus;
using namespace plexus::testing;

struct Store {
    std::vector<int> order;
};
constexpr Request<std::vector<double>(Store&, std::uint32_t)> fetch{"backpressure.fetch"};
constexpr Request<void(Store&, int)> note{"backpressure.note"};
constexpr Request<std::vector<int>(Store&)> notes{"backpressure.notes"};

constexpr std::uint32_t kElements = 512; // 4 KiB

int calls() {
    const char* const wanted = std::getenv("TESTED_CALLS");
    return wanted == nullptr ? 4'000 : std::atoi(wanted);
}

std::vector<std::string> methods() {
    const char* const wanted = std::getenv("TESTED_METHODS");
    if (wanted == nullptr) return and_fabrics({"local", "shm", "tcp"});
    std::vector<std::string> names;
    for (const auto& item : method::parse_list(wanted).value()) names.push_back(method::to_text({item}));
    return names;
}

/// Resident memory of this process, in KiB.
std::size_t resident() {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
        if (line.rfind("VmRSS:", 0) == 0) return std::strtoul(line.c_str() + 6, nullptr, 10);
    return 0;
}

std::uint64_t queued(Context& from, const Context& to) {
    std::uint64_t most = 0;
    for (transport::Channel* each : from.core()->endpoint().peer(to.id())->all_channels())
        most = std::max(most, transport::query(*each, PLEXUS_QUERY_QUEUED_BYTES));
    return most;
}

TEST_CASE("calls whose answers find no room wait for it, and every one is answered") {
    const std::string method = GENERATE(from_range(methods()));
    CAPTURE(method);
    const int count = calls();
    const bool whole = count > 10'000;
    std::atomic<std::uint64_t> most{0};
    std::atomic<int> handled{0};
    Context owner(by(method, {{"limits.handler_queue", whole ? "64 MiB" : "1 MiB"}}));
    Context user(by(method, {{"limits.calls", "100000"}}));
    owner.on(fetch, [&](Store&, std::uint32_t size) {
        if (++handled % 64 == 0) most = std::max(most.load(), queued(owner, user));
        return std::vector<double>(size, 1.0);
    });
    Store store;
    const Bound<Store> bound = owner.bind(store);
    const auto far = handed(user, bound.pointer());
    CHECK(within(far.call(fetch, 1u)).size() == 1);
    std::vector<Future<std::vector<double>>> pending;
    pending.reserve(static_cast<std::size_t>(count));
    const std::size_t before = resident();
    for (int i = 0; i < count; ++i) pending.push_back(far.call(fetch, kElements));
    int good = 0;
    int refused = 0;
    for (auto& each : pending) {
        const Refusal refusal =
            refusal_of([&] { good += within(std::move(each)).size() == kElements ? 1 : 0; });
        refused += refusal.status == Status::ok ? 0 : 1;
    }
    if (whole)
        std::printf("%s: %d calls, %d answered, %d refused, at most %llu KiB queued, memory %zu -> %zu KiB\n",
                    method.c_str(), count, good, refused, static_cast<unsigned long long>(most / 1024),
                    before, resident());
    CHECK(good == count);
    CHECK(refused == 0);
    // The queue, its reserve, and what a kernel holds of a connection.
    CHECK(most <= std::uint64_t{whole ? 96u : 8u} << 20);
    CHECK(eventually(
        kLimit, [&] { return owner.core()->dispatcher().server().parked() == 0; })); // just behind the answer
}

TEST_CASE("what comes behind a call that waits for room is handled behind it") {
    const std::string method = GENERATE(from_range(and_fabrics({"local", "shm", "tcp"})));
    CAPTURE(method);
    Context owner(by(method, {{"limits.handler_queue", "256 KiB"}}));
    Context user(by(method));
    owner.on(fetch, [](Store& it, std::uint32_t size) {
        it.order.push_back(static_cast<int>(size));
        return std::vector<double>(20'000, 1.0);
    });
    owner.on(note, [](Store& it, int x) { it.order.push_back(x); });
    owner.on(notes, [](Store& it) { return it.order; });
    Store store;
    const Bound<Store> bound = owner.bind(store);
    const auto far = handed(user, bound.pointer());
    std::vector<Future<std::vector<double>>> pending;
    for (int i = 0; i < 100; i += 2) {
        pending.push_back(far.call(fetch, static_cast<std::uint32_t>(i)));
        far.send(note, i + 1);
    }
    std::vector<int> expected;
    for (int i = 0; i < 100; ++i) expected.push_back(i);
    CHECK(within(far.call(notes)) == expected);
    for (auto& each : pending) CHECK(within(std::move(each)).size() == 20'000);
}

TEST_CASE("two contexts that flood each other with calls both get their answers") {
    const std::string method = GENERATE(from_range(and_fabrics({"local", "shm", "tcp"})));
    CAPTURE(method);
    struct End {
        explicit End(const std::string& method)
          : context(by(method, {{"limits.handler_queue", "256 KiB"}})) {
            context.on(fetch, [](Store&, std::uint32_t size) { return std::vector<double>(size, 1.0); });
            bound = context.bind(store);
        }
        Store store;
        Context context;
        Bound<Store> bound;
    };
    End one(method);
    End other(method);
    std::vector<Future<std::vector<double>>> pending;
    const auto there = handed(one.context, other.bound.pointer());
    const auto back = handed(other.context, one.bound.pointer());
    for (int i = 0; i < 500; ++i) {
        pending.push_back(there.call(fetch, kElements));
        pending.push_back(back.call(fetch, kElements));
    }
    for (auto& each : pending) CHECK(within(std::move(each)).size() == kElements);
}

TEST_CASE("calls that wait for room do not begin when their caller has gone") {
    std::atomic<int> begun{0};
    Context owner(by("tcp", {{"limits.handler_queue", "64 KiB"}, {"limits.reconnect", "1 s"}}));
    auto user = std::make_optional<Context>(
        by("tcp", {{"progress.thread", "false"}, {"progress.close_timeout", "100 ms"}}));
    owner.on(fetch, [&](Store&, std::uint32_t size) {
        ++begun;
        return std::vector<double>(size, 1.0);
    });
    Store store;
    const Bound<Store> bound = owner.bind(store);
    auto far = handed(*user, bound.pointer());
    CHECK(within(far.call(fetch, 1u)).size() == 1);
    std::vector<Future<std::vector<double>>> pending;
    for (int i = 0; i < 200; ++i) pending.push_back(far.call(fetch, 1u << 19));
    CHECK(eventually(kLimit, [&] { return owner.core()->dispatcher().server().parked() > 150; }));
    far = {};
    user.reset();
    CHECK(eventually(kLimit, [&] { return owner.core()->dispatcher().server().parked() == 0; }));
    CHECK(begun < 200);
    for (auto& each : pending) CHECK(each.ready());
}

TEST_CASE("a call that waits for room hears of its deadline, and a cancelled one does not begin") {
    std::atomic<int> begun{0};
    Context owner(by("tcp", {{"limits.handler_queue", "64 KiB"}}));
    Context user(by("tcp", {{"progress.thread", "false"}}));
    owner.on(fetch, [&](Store&, std::uint32_t size) {
        ++begun;
        return std::vector<double>(size, 1.0);
    });
    Store store;
    const Bound<Store> bound = owner.bind(store);
    const auto far = handed(user, bound.pointer());
    CHECK(within(far.call(fetch, 1u)).size() == 1);
    // The user reads nothing, so the answers fill the connection, then the queue.
    std::vector<Future<std::vector<double>>> pending;
    for (int i = 0; i < 100; ++i) pending.push_back(far.call(fetch, 1u << 18));
    CHECK(eventually(kLimit, [&] { return owner.core()->dispatcher().server().parked() > 50; }));
    CHECK(begun < 50);
    const auto peer = owner.core()->endpoint().peer(user.id());
    auto& names = static_cast<request::PeerRequests&>(*peer->attachment);
    for (int i = 60; i < 100; ++i) CHECK(pending[static_cast<std::size_t>(i)].cancel());
    Future<std::vector<double>> late = far.with(deadline(1ms)).call(fetch, 1u);
    const auto told = [&] {
        user.progress(); // tells the owner; reads answers, too
        return names.waiting.remembered() >= 40 || owner.core()->dispatcher().server().parked() == 0;
    };
    CHECK(eventually(kLimit, told));
    CHECK(refusal_of(std::move(late)).status == Status::deadline_exceeded);
    pending.resize(60);
    for (auto& each : pending) CHECK(within(std::move(each)).size() == 1u << 18);
    CHECK(within(far.call(fetch, 2u)).size() == 2); // behind all of them
    CHECK(begun == 62);
}

TEST_CASE("calls and one-way requests that wait for room when their context closes are refused") {
    const auto logged = expect_warning("accepted requests were refused");
    std::atomic<std::size_t> begun{0};
    Complaints complaints;
    Context owner(by("tcp", {{"limits.handler_queue", "64 KiB"}}));
    Context user(by("tcp", {{"progress.thread", "false"}}));
    complaints.listen_to(user);
    owner.on(fetch, [&](Store&, std::uint32_t size) {
        ++begun;
        return std::vector<double>(size, 1.0);
    });
    owner.on(note, [](Store& it, int x) { it.order.push_back(x); });
    Store store;
    const Bound<Store> bound = owner.bind(store);
    const auto far = handed(user, bound.pointer());
    CHECK(within(far.call(fetch, 1u)).size() == 1);
    std::vector<Future<std::vector<double>>> pending;
    for (int i = 0; i < 100; ++i) pending.push_back(far.call(fetch, 1u << 18)); // the user reads nothing
    far.send(note, 1);
    request::Server& server = owner.core()->dispatcher().server();
    CHECK(eventually(kLimit,
                     [&] { return begun + server.parked() == 102; })); // all calls and the one-way request
    CHECK(server.parked() > 50);
    server.finish_handlers(owner.core()->scheduler(), std::chrono::steady_clock::now()); // as closing does
    CHECK(server.parked() == 0);
    int refused = 0;
    for (auto& each : pending) {
        const Status status = refusal_of(std::move(each)).status;
        CHECK((status == Status::ok || status == Status::closed));
        refused += status == Status::closed ? 1 : 0;
    }
    CHECK(refused > 40);
    CHECK(within(far.call(fetch, 2u)).size() == 2); // behind them
    const Refusal refusal = complaints.next();
    CHECK(refusal.status == Status::closed);
    CHECK(refusal.says("backpressure.note"));
    CHECK(store.order.empty());
}

} // namespace backpressure_test
