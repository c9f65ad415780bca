// SPDX-License-Identifier: BSD-3-Clause
// Leases of memory that a method moves by itself: how many there are, when they end, and what a transfer does
// that gets none. Where nothing else is said neither context has a thread of its own: the test makes each
// step.
#include "ends.h"

#include "memory/region_leases.h"
#include "memory/transfers.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace lending_test {

using namespace plexus;
using namespace plexus::testing;
using namespace memory_ends;

/// Makes progress in a context on a thread of its own until the end of the scope.
class Progress {
  public:
    explicit Progress(Context& context)
      : context_(context)
      , thread_([this] { context_.run_until([this] { return over_.load(); }); }) {}
    ~Progress() {
        over_ = true;
        context_.stop(); // wakes it
        thread_.join();
    }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

  private:
    Context& context_;
    std::atomic<bool> over_{false};
    std::thread thread_;
};

/// An owner of memory and a user that has a link to it, and no lease.
struct Two {
    explicit Two(const std::string& method, const char* patience = "5 s")
      : owner(method, {{"progress.thread", "false"}, {"progress.close_timeout", patience}})
      , user(method, {{"progress.thread", "false"}, {"progress.close_timeout", "300 ms"}}) {
        std::fill(memory.begin(), memory.end(), 5);
        bound = owner.context.bind(std::span(memory));
        far = owner.reached_by(user);
        for (transport::Channel* each :
             user.context.core()->endpoint().peer(owner.context.id())->all_channels())
            if (!each->dead()) channel = each;
    }
    GlobalSpan<std::uint64_t> span() const { return {bound.span().target(), far.route(), 0, memory.size()}; }
    /// True while the user waits for the answer to a request for a lease.
    bool awaits() { return user.context.core()->transfers().awaits(*channel); }
    bool both_until(const std::function<bool()>& done) {
        return eventually(kLimit, [&] {
            owner.context.progress();
            user.context.progress();
            return done();
        });
    }
    Status end_of(Future<void> transfer) {
        CHECK(both_until([&] { return transfer.ready(); }));
        return refusal_of([&] { transfer.get(); }).status;
    }
    /// The user's raw frames up to here have come: it is not polled meanwhile.
    void owner_takes_all() {
        far.send(note);
        owner.take_notes(++notes);
    }
    void request_lease(const detail::Target& target) {
        send_raw(user.context, owner.context, head_of(wire::Kind::lease_request, header_for(target)));
    }
    void return_lease(std::uint64_t number) {
        send_raw(user.context, owner.context,
                 head_of(wire::Kind::lease_return, wire::ReplyHeader{0, number}));
    }

    std::vector<std::uint64_t> memory = std::vector<std::uint64_t>(1 << 16);
    End owner;
    End user;
    BoundSpan<std::uint64_t> bound;
    GlobalPointer<Door> far;
    transport::Channel* channel = nullptr;
    int notes = 0;
};

TEST_CASE("an object that is no memory is not lent") {
    const std::string method = method_with_keys("ucx");
    if (method.empty()) SKIP_TEST("no method of this build moves memory by itself");
    Two two(method, "200 ms");
    Door other;
    Bound<Door> door = two.owner.context.bind(other);
    send_raw(two.user.context, two.owner.context,
             head_of(wire::Kind::lease_request, header_for(door.pointer().target())));
    two.owner_takes_all();
    CHECK(door.reset() == Status::ok); // no lease holds it
}

TEST_CASE("a piece of memory is registered with a method once") {
    const std::string method = method_with_keys("ucx");
    if (method.empty()) SKIP_TEST("no method of this build moves memory by itself");
    Context context(by(method));
    auto& core = *context.core();
    memory::RegionLeases leases(core.dispatcher().server().objects());
    memory::Registrations registrations(leases, core.endpoint());
    std::vector<std::byte> bytes(1 << 16);
    transport::Interface& interface = *core.endpoint().interfaces().front();
    const auto first = registrations.with(interface, bytes.data(), bytes.size());
    const auto again = registrations.with(interface, bytes.data(), bytes.size());
    REQUIRE(first);
    REQUIRE(again);
    CHECK(*first == *again);
}

TEST_CASE("a lease that nobody waits for is returned") {
    const std::string method = method_with_keys("ucx");
    if (method.empty()) SKIP_TEST("no method of this build moves memory by itself");
    Two two(method);
    two.request_lease(two.bound.span().target()); // by hand: the user knows of no request
    two.owner_takes_all();
    const Progress answers(two.user.context);
    CHECK(two.bound.reset() == Status::ok);
}

TEST_CASE("memory that was refused once is not asked for again") {
    const std::string method = method_with_keys("ucx");
    if (method.empty()) SKIP_TEST("no method of this build moves memory by itself");
    Two two(method);
    const auto span = two.span();
    CHECK(two.bound.reset() == Status::ok);
    std::vector<std::uint64_t> into(two.memory.size());
    Future<void> first = span.get(0, std::span(into));
    CHECK(two.awaits());
    CHECK(two.end_of(std::move(first)) == Status::dead_pointer);
    Future<void> second = span.get(0, std::span(into));
    CHECK_FALSE(two.awaits());
    CHECK(two.end_of(std::move(second)) == Status::dead_pointer);
}

TEST_CASE("a long series of transfers returns its lease in between, and asks for another") {
    const std::string method = method_with_keys("ucx");
    if (method.empty()) SKIP_TEST("no method of this build moves memory by itself");
    Two two(method);
    constexpr std::size_t kSome = 8192; // enough for a transfer by key
    std::vector<std::uint64_t> into(kSome);
    std::vector<Future<void>> all;
    for (int i = 0; i < 300; ++i) all.push_back(two.span().get(0, std::span(into))); // more than one lease's
    for (Future<void>& each : all) REQUIRE(two.end_of(std::move(each)) == Status::ok);
    CHECK(std::count(into.begin(), into.end(), 5U) == static_cast<std::ptrdiff_t>(kSome));
    {
        const Progress answers(two.user.context);
        two.owner_takes_all(); // also what was returned
    }
    two.request_lease(two.bound.span().target()); // the third, by hand, of which the user knows nothing
    two.owner_takes_all();
    two.return_lease(2);
    two.owner_takes_all();
    CHECK(two.bound.reset() == Status::ok);
}

TEST_CASE("an answer to a request for memory counts only if its owner gives it") {
    const std::string method = method_with_keys("ucx");
    if (method.empty()) SKIP_TEST("no method of this build moves memory by itself");
    Two two(method);
    End other(method, {{"progress.thread", "false"}});
    const auto users_door = two.user.reached_by(other);
    std::vector<std::uint64_t> into(two.memory.size());
    Future<void> got = two.span().get(0, std::span(into));
    CHECK(two.awaits());
    wire::Bytes refusal(wire::LeaseHeader::kBytes);
    wire::encode(wire::LeaseHeader{false, static_cast<std::uint16_t>(Status::again), 0, 0}, refusal.data());
    send_raw(other.context, two.user.context, refusal);
    users_door.send(note); // behind it
    two.user.take_notes(1);
    CHECK(two.awaits());
    CHECK(two.end_of(std::move(got)) == Status::ok);
    CHECK(into == two.memory);
}

TEST_CASE("a transfer whose request for a lease may be lost goes by message") {
    const std::string method = method_with_keys("ucx");
    if (method.empty()) SKIP_TEST("no method of this build moves memory by itself");
    Two two(method);
    std::vector<std::uint64_t> into(two.memory.size());
    Future<void> got = two.span().get(0, std::span(into));
    CHECK(two.awaits());
    two.user.context.core()->transfers().calls_lost(*two.channel);
    CHECK_FALSE(two.awaits());
    CHECK(two.end_of(std::move(got)) == Status::ok);
    CHECK(into == two.memory);
}

TEST_CASE("a transfer that its method cannot make by the key goes by message") {
    const std::string method = method_with_keys("ucx");
    if (method.empty()) SKIP_TEST("no method of this build moves memory by itself");
    const bool puts = GENERATE(false, true);
    CAPTURE(puts);
    Two two(method);
    BoundSpan<std::uint64_t> lent = two.owner.context.allocate<std::uint64_t>(1 << 16); // its lease may stay
    const GlobalSpan<std::uint64_t> span(lent.span().target(), two.far.route(), 0, 1 << 16);
    std::fill(lent.local().begin(), lent.local().end(), 6);
    std::vector<std::uint64_t> own(1 << 16);
    CHECK(two.end_of(span.get(0, std::span(own))) == Status::ok);
    // As a module says where the link has just broken, or the key is of no use any more.
    plexus_ops& ops = two.channel->interface().ops;
    ops.get = [](auto...) { return std::int32_t{PLEXUS_LINK_LOST}; };
    ops.put = [](auto...) { return std::int32_t{PLEXUS_LINK_LOST}; };
    std::fill(own.begin(), own.end(), 7);
    const Progress serves(two.owner.context); // a large message waits until it has arrived
    if (puts)
        CHECK(two.end_of(span.put(0, std::span<const std::uint64_t>(own))) == Status::ok);
    else
        CHECK(two.end_of(span.get(0, std::span(own))) == Status::ok);
    CHECK(std::equal(own.begin(), own.end(), lent.local().begin()));
    CHECK(own.front() == (puts ? 7 : 6));
    const Progress answers(two.user.context);
    CHECK(lent.reset() == Status::ok);
}

TEST_CASE("a large transfer by a key moves each of its pieces where it belongs") {
    const std::string method = method_with_keys("ucx");
    if (method.empty()) SKIP_TEST("no method of this build moves memory by itself");
    Two two(method);
    std::vector<std::uint64_t> large(400'000); // 3.2 MB: a piece has a MiB
    std::iota(large.begin(), large.end(), std::uint64_t{1});
    BoundSpan<std::uint64_t> lent = two.owner.context.bind(std::span(large));
    const GlobalSpan<std::uint64_t> span(lent.span().target(), two.far.route(), 0, large.size());
    std::vector<std::uint64_t> own(large.size() - 7);
    CHECK(two.end_of(span.get(7, std::span(own))) == Status::ok);
    CHECK(std::equal(own.begin(), own.end(), large.begin() + 7));
    std::reverse(own.begin(), own.end());
    CHECK(two.end_of(span.put(7, std::span<const std::uint64_t>(own))) == Status::ok);
    CHECK(std::equal(own.begin(), own.end(), large.begin() + 7));
    CHECK(large[6] == 7);
    const Progress answers(two.user.context);
    CHECK(lent.reset() == Status::ok);
}

TEST_CASE("a transfer that is too large for either end is refused, and its caller is told") {
    const bool puts = GENERATE(false, true);
    CAPTURE(puts);
    const Values small{{"limits.max_message", "64 KiB"}};
    End owner("tcp", puts ? Values{} : small); // it cannot send what it is asked for
    End user("tcp", puts ? small : Values{});
    std::vector<std::byte> memory(1 << 20);
    const BoundSpan<std::byte> bound = owner.context.bind(std::span(memory));
    const auto far = handed(user.context, owner.bound.pointer());
    std::vector<std::byte> own(memory.size(), std::byte{7});
    const GlobalSpan<std::byte> span(bound.span().target(), far.route(), 0, memory.size());
    const Refusal refusal =
        refusal_of(puts ? span.put(0, std::span<const std::byte>(own)) : span.get(0, std::span(own)));
    CHECK(refusal.status == Status::too_large);
    CHECK(refusal.says(puts ? "max_message" : "could not be sent"));
    CHECK(within(far.call(echo, 3)) == 3);
}

} // namespace lending_test
