// SPDX-License-Identifier: BSD-3-Clause
// Contexts that close behind forwarders: the other end is told at once, and waits for nobody when it closes.
#include "sites.h"

#include <optional>

namespace forward_goodbyes_test {

using namespace plexus;
using namespace plexus::testing;
using Clock = std::chrono::steady_clock;

/// What whoever is not told waits for, and what is much less than that, in every build.
const Values kWaits{{"progress.close_timeout", "60 s"}, {"limits.reconnect", "60 s"}};
constexpr auto kSoon = std::chrono::seconds(20);

/// How long the context takes to end.
template <class T>
Clock::duration ending(std::optional<T>& context) {
    const auto start = Clock::now();
    context.reset();
    return Clock::now() - start;
}

/// Two contexts with a forwarder between them, or two.
struct Ends {
    explicit Ends(bool two) {
        outer.emplace(gate_options("outer", kWaits));
        if (two) {
            Options behind_outer = gate_options("inner", kWaits);
            behind_outer.set["methods"] = "forward, tcp";
            behind_outer.set["method.forward.via"] = outer->url();
            inner.emplace(std::move(behind_outer));
        }
        target.emplace(behind(two ? inner->url() : outer->url(), kWaits));
        source.emplace(by("tcp, forward", kWaits));
        source->on(twice, [](Ledger&, std::uint64_t number) { return 2 * number; });
        bound = source->bind(ledger);
        far = handed(*source, target->pointer());
        near = handed(target->context(), bound.pointer());
    }
    std::optional<Context> outer;
    std::optional<Context> inner;
    std::optional<Target> target;
    Ledger ledger;
    std::optional<Context> source;
    Bound<Ledger> bound;
    GlobalPointer<Ledger> far;
    GlobalPointer<Ledger> near;
};

TEST_CASE("the goodbye of a context that closes crosses its forwarders") {
    const bool two = GENERATE(false, true);
    CAPTURE(two);
    Ends ends(two);
    CHECK(within(ends.far.call(twice, 21)) == 42);
    CHECK(within(ends.near.call(twice, 4)) == 8);
    ends.far = {};
    ends.bound = {};
    CHECK(ending(ends.source) < kSoon);
    const auto start = Clock::now();
    const Refusal refusal = refusal_of(ends.near.call(twice, 5));
    INFO(refusal.why);
    CHECK(refusal.status == Status::peer_lost);
    CHECK(refusal.says("it has ended"));
    CHECK(Clock::now() - start < kSoon);
    ends.near = {};
    CHECK(ending(ends.target) < kSoon);
}

TEST_CASE("a context that forwarders reach closes, and whoever had called it is told at once") {
    const bool two = GENERATE(false, true);
    CAPTURE(two);
    Ends ends(two);
    CHECK(within(ends.far.call(twice, 21)) == 42);
    ends.near = {};
    CHECK(ending(ends.target) < kSoon);
    const auto start = Clock::now();
    const Refusal refusal = refusal_of(ends.far.call(twice, 5));
    INFO(refusal.why);
    CHECK(refusal.status == Status::peer_lost);
    CHECK(Clock::now() - start < kSoon);
    ends.far = {};
    ends.bound = {};
    CHECK(ending(ends.source) < kSoon);
}

} // namespace forward_goodbyes_test
