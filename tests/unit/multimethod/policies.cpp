// SPDX-License-Identifier: BSD-3-Clause
// Choosing among several methods that would all do: what explain says of them, and policy
// functions that choose by size, by load and by what was measured.
#include "ends.h"

#include <atomic>
#include <thread>

using namespace plexus;
using namespace plexus::testing;

namespace policies_test {

constexpr Request<void(Log&)> hold{"multimethod.hold"};

/// The first row that applies, or the last: small messages one way, large ones the other.
Policy by_size(std::size_t bytes) {
    return [bytes](const std::vector<RowFacts>& rows) {
        std::optional<std::size_t> chosen;
        for (std::size_t row = 0; row < rows.size(); ++row)
            if (rows[row].applies && (bytes >= 4096 || !chosen)) chosen = row;
        return chosen;
    };
}

/// The row with the least of something.
Policy by_least(std::uint64_t RowFacts::*what) {
    return [what](const std::vector<RowFacts>& rows) {
        std::optional<std::size_t> chosen;
        for (std::size_t row = 0; row < rows.size(); ++row)
            if (rows[row].applies && (!chosen || rows[row].*what < rows[*chosen].*what)) chosen = row;
        return chosen;
    };
}

RowFacts row_of(const std::vector<RowFacts>& rows, const std::string& method) {
    for (const RowFacts& row : rows)
        if (row.descriptor.method == method) return row;
    throw std::runtime_error("the table has no row of " + method);
}

} // namespace policies_test

using namespace policies_test;

TEST_CASE("explain gives a verdict on every method of two contexts that have several in common") {
    const FarEnd far_end = GENERATE(FarEnd::this_process, FarEnd::other_process);
    CAPTURE(static_cast<int>(far_end));
    Ends ends(far_end);
    auto far = ends.pointer();
    const Choice choice = far.choose();
    const std::string text = far.explain();
    INFO(text);
    REQUIRE(choice.trail.size() == far.table().size());
    for (const LaneReport& lane : ends.near().lanes()) {
        if (!ends.near().table().find(lane.method)) continue; // it reaches others only
        CHECK(text.find(lane.method + ": ") != std::string::npos);
        REQUIRE(far.table().find(lane.method));
    }
    for (const Verdict& verdict : choice.trail) CHECK((verdict.applies || !verdict.because.empty()));
    const std::vector<std::string> ways = ends.ways();
    REQUIRE(ways.size() > 1);
    CHECK(far.method() == ways.front());

    for (const std::string& way : ways) {
        CAPTURE(way);
        far.use(way);
        CHECK(within(far.call(wrong)) == 0);
        CHECK(far.method() == way);
        const RowFacts facts = row_of(far.enquire(), way);
        CHECK(facts.latency_ns > 0);
        CHECK(facts.bandwidth > 0);
    }
    for (const Verdict& verdict : choice.trail)
        if (!verdict.applies) CHECK(refusal_of([&] { far.use(verdict.method); }).says(verdict.because));
}

TEST_CASE("a policy function chooses by size, and the order of requests holds across its choices") {
    const FarEnd far_end = GENERATE(FarEnd::this_process, FarEnd::other_process);
    CAPTURE(static_cast<int>(far_end));
    Ends ends(far_end);
    const std::vector<std::string> ways = ends.ways();
    REQUIRE(ways.size() > 1);
    auto far = ends.pointer();
    const std::size_t sizes[] = {8, 1 << 20, 64, 4096, 4095};
    std::uint32_t number = 0;
    for (int round = 0; round < 8; ++round) {
        for (const std::size_t size : sizes) {
            far.use(by_size(size));
            for (int i = 0; i < 3; ++i, ++number)
                far.send(append, 0u, number, std::vector<std::byte>(size, mark_of(0, number)));
            CHECK(far.method() == (size < 4096 ? ways.front() : ways.back()));
        }
    }
    CHECK(within(far.call(seen))[0] == number);
    CHECK(within(far.call(wrong)) == 0);
}

TEST_CASE("a policy function sees the load of a method and goes round it") {
    Ends ends(FarEnd::this_process);
    std::atomic<bool> held{false};
    std::atomic<bool> released{false};
    ends.far().on(hold, [&](Log&) {
        held.store(true, std::memory_order_relaxed); // neither says more than itself
        eventually(kLimit, [&] { return released.load(std::memory_order_relaxed); });
    });
    const std::string way = [&] {
        const auto ways = ends.ways();
        REQUIRE(ways.size() > 1);
        return ways.at(GENERATE(std::size_t{0}, std::size_t{1}));
    }();
    CAPTURE(way);
    auto busy = ends.pointer();
    busy.use(way);
    busy.send(hold);
    CHECK(eventually(kLimit, [&] { return held.load(std::memory_order_relaxed); }));

    // Nobody takes anything now: what is sent stays on its way.
    constexpr std::uint32_t kMessages = 64;
    Status status = Status::ok;
    std::thread sender([&] {
        for (std::uint32_t number = 0; number < kMessages && status == Status::ok; ++number)
            status = busy.try_send(append, 0u, number, std::vector<std::byte>(200'000, mark_of(0, number)));
    });
    auto other = ends.pointer();
    CHECK(eventually(kLimit, [&] { return row_of(other.enquire(), way).queued > 0; }));
    other.use(by_least(&RowFacts::queued));
    CHECK(other.method() != way);
    CHECK(row_of(other.enquire(), other.method()).queued == 0);
    released.store(true, std::memory_order_relaxed);
    sender.join();
    CHECK(status == Status::ok);
    CHECK(eventually(kLimit, [&] { return within(other.call(seen))[0] == kMessages; }));
    CHECK(within(other.call(wrong)) == 0);
}

TEST_CASE("a policy function sees what was measured, also by other pointers") {
    const FarEnd far_end = GENERATE(FarEnd::this_process, FarEnd::other_process);
    CAPTURE(static_cast<int>(far_end));
    Ends ends(far_end);
    for (const std::string& way : ends.ways()) {
        CAPTURE(way);
        auto busy = ends.pointer();
        busy.use(way);
        for (std::uint32_t i = 0; i < 20; ++i) within(busy.call(seen));
        std::vector<RowFacts> shown;
        auto other = ends.pointer();
        // Measurements end a moment after the traffic.
        CHECK(eventually(kLimit, [&] {
            other.use([&](const std::vector<RowFacts>& rows) {
                shown = rows;
                return by_least(&RowFacts::latency_ns)(rows);
            });
            const std::string chosen = other.method();
            const RowFacts used = row_of(busy.enquire(), way);
            const RowFacts known = row_of(shown, way);
            for (const RowFacts& row : shown)
                if (row.applies && row.latency_ns < row_of(shown, chosen).latency_ns) return false;
            return known.latency_ns == used.latency_ns && known.bandwidth == used.bandwidth;
        }));
    }
}
