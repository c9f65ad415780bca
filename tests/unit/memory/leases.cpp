// SPDX-License-Identifier: BSD-3-Clause
// The frames that grant and return leases of memory, while the queue that they have to pass is full.
#include "unit/context/contexts.h"

#include "context/core.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

namespace leases_test {

using namespace plexus;
using namespace plexus::testing;

struct Door {};
constexpr Request<int(Door&, int)> echo{"leases.echo"};
constexpr Request<void(Door&, std::vector<std::byte>)> take{"leases.take"};
constexpr Request<void(Door&)> fill{"leases.fill"};

/// A context that polls only where the test says so.
struct End {
    explicit End(const std::string& method)
      : context(by("local, " + method, {{"progress.thread", "false"},
                                        {"limits.handler_queue", "64 KiB"},
                                        {"progress.close_timeout", "500 ms"}})) {
        context.on(echo, [](Door&, int x) { return x; });
        context.on(take, [this](Door&, const std::vector<std::byte>&) { ++taken; });
        context.on(fill, [this](Door&) {
            const std::vector<std::byte> load(1000);
            refused = refusal_of([&] {
                          for (;; ++sent) far->send(take, load);
                      }).status;
        });
        bound = context.bind(door);
    }
    /// Queues for the other end, as a handler does, until there is no room for more.
    void fill_queue() {
        bound.pointer().send(fill);
        while (refused == Status::ok) context.progress();
        CHECK(refused == Status::again);
    }
    std::optional<GlobalPointer<Door>> far;
    int sent = 0;
    int taken = 0;
    Status refused = Status::ok;
    Door door;
    Context context;
    Bound<Door> bound;
};

/// Makes progress at one end while the test's thread waits at the other.
class Pump {
  public:
    explicit Pump(Context& context)
      : context_(context)
      , thread_([this] { context_.run_until([this] { return over_.load(); }); }) {}
    ~Pump() {
        over_ = true;
        context_.stop(); // wakes it
        thread_.join();
    }
    Pump(const Pump&) = delete;
    Pump& operator=(const Pump&) = delete;

  private:
    Context& context_;
    std::atomic<bool> over_{false};
    std::thread thread_;
};

/// True if that method of this build moves memory by itself.
bool moves_memory(const std::string& method) {
    try {
        Context probe(by(method));
        const auto& all = probe.core()->endpoint().interfaces();
        return std::any_of(all.begin(), all.end(),
                           [](const auto& each) { return each->limits.remote_bytes != 0; });
    } catch (const Error&) { return false; } // not built here
}

TEST_CASE("a lease is granted and returned although the queues of both ends are full") {
    if (!moves_memory("ucx")) SKIP_TEST("no method of this build moves memory by itself");
    const auto full = GENERATE(as<std::string>{}, "user", "owner", "both");
    CAPTURE(full);
    End owner("ucx");
    End user("ucx");
    std::vector<std::uint64_t> memory(1 << 16, 7);
    BoundSpan<std::uint64_t> bound_memory = owner.context.bind(std::span(memory));
    std::vector<std::uint64_t> into(memory.size());
    user.far = handed(user.context, owner.bound.pointer());
    owner.far = handed(owner.context, user.bound.pointer());
    { // both links open
        const Pump pump(owner.context);
        CHECK(within(user.far->call(echo, 1)) == 1);
    }
    {
        const Pump pump(user.context);
        CHECK(within(owner.far->call(echo, 2)) == 2);
    }
    const GlobalSpan<std::uint64_t> span(bound_memory.span().target(), user.far->route(), 0, memory.size());
    Future<void> got = span.get(0, std::span(into)); // asks for the key
    if (full != "owner") user.fill_queue();
    if (full != "user") owner.fill_queue();
    {
        const Pump pump(owner.context);
        CHECK(refusal_of(std::move(got)).status == Status::ok);
    }
    CHECK(into == memory);
    {
        const Pump pump(user.context);
        CHECK(bound_memory.reset() == Status::ok); // the lease has been returned
        CHECK(eventually(kLimit, [&] {
            owner.context.progress();
            return owner.taken == user.sent;
        }));
    }
    {
        const Pump pump(owner.context);
        CHECK(eventually(kLimit, [&] {
            user.context.progress();
            return user.taken == owner.sent;
        }));
    }
    user.far.reset();
    owner.far.reset();
}

} // namespace leases_test
