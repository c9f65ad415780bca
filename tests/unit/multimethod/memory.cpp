// SPDX-License-Identifier: BSD-3-Clause
// Bulk memory through every method that there is: moved by the method itself or by messages,
// and unbound while others use it.
#include "ends.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>

using namespace plexus;
using namespace plexus::testing;

namespace memory_test {

struct Store {
    GlobalSpan<std::uint64_t> lent;
    std::uint64_t seen = 0;
};
constexpr Request<GlobalSpan<std::uint64_t>(Store&)> borrow{"memory.borrow"};
constexpr Request<void(Store&, std::uint64_t)> look{"memory.look"};
constexpr Request<std::uint64_t(Store&)> sight{"memory.sight"};
constexpr std::size_t kElements = std::size_t{1} << 18; // 2 MiB

/// Memory of the far context, and a span of it at the near one.
struct Lent {
    explicit Lent(Ends& ends, bool allocated)
      : own(allocated ? 0 : kElements)
      , memory(allocated ? ends.far().allocate<std::uint64_t>(kElements) : ends.far().bind(std::span(own))) {
        std::iota(memory.local().begin(), memory.local().end(), std::uint64_t{1});
        ends.far().on(borrow, [](Store& it) { return it.lent; });
        ends.far().on(look, [this](Store& it, std::uint64_t at) { it.seen = memory.local()[at]; });
        ends.far().on(sight, [](Store& it) { return it.seen; });
        store.lent = memory.span();
        bound = ends.far().bind(store);
        pointer = GlobalPointer<Store>::load(ends.near(), bound.pointer().save());
        far = within(pointer.call(borrow));
    }
    ~Lent() { store.lent = {}; }
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;

    std::vector<std::uint64_t> own;
    BoundSpan<std::uint64_t> memory;
    Store store;
    Bound<Store> bound;
    GlobalPointer<Store> pointer;
    GlobalSpan<std::uint64_t> far;
};

} // namespace memory_test

using namespace memory_test;

TEST_CASE("every method reads and writes memory, whoever allocated it") {
    Ends ends(FarEnd::this_process);
    const bool allocated = GENERATE(false, true);
    CAPTURE(allocated);
    Lent lent(ends, allocated);
    for (const std::string& way : ends.ways()) {
        CAPTURE(way);
        lent.far.use(way);
        lent.pointer.use(way); // so that its call comes after put_then's request
        for (const std::size_t count :
             {std::size_t{1}, std::size_t{5'000}, std::size_t{100'001}, kElements}) {
            CAPTURE(count);
            std::vector<std::uint64_t> out(count);
            std::iota(out.begin(), out.end(), count);
            within(lent.far.put(kElements - count, out));
            CHECK(std::equal(out.begin(), out.end(),
                             lent.memory.local().end() - static_cast<std::ptrdiff_t>(count)));
            std::vector<std::uint64_t> in(count);
            within(lent.far.get(kElements - count, in));
            CHECK(in == out);
        }
        const std::uint64_t word = way.size() * 1'000 + (allocated ? 1 : 0);
        const std::vector<std::uint64_t> all(kElements, word);
        within(lent.far.put_then(0, all, lent.pointer, look, kElements - 1));
        CHECK(within(lent.pointer.call(sight)) == word);
    }
}

TEST_CASE("a stream of transfers does not keep memory from being unbound") {
    const bool allocated = GENERATE(false, true);
    CAPTURE(allocated);
    for (const std::string& way : Ends(FarEnd::this_process).ways()) {
        CAPTURE(way);
        Ends ends(FarEnd::this_process);
        Lent lent(ends, allocated);
        lent.far.use(way);
        std::atomic<std::uint64_t> done{0};
        std::atomic<bool> refused{false};
        std::thread writer([&] {
            const std::vector<std::uint64_t> late(kElements, 9);
            while (!refused) {
                std::vector<Future<void>> under_way;
                for (int i = 0; i < 4; ++i) under_way.push_back(lent.far.put(0, late));
                for (Future<void>& each : under_way) {
                    try {
                        each.get();
                        ++done;
                    } catch (const Error& error) { refused = error.status() == Status::dead_pointer; }
                }
            }
        });
        const auto until = [&](auto holds) {
            return eventually(kLimit, [&] {
                ends.far().progress();
                return holds();
            });
        };
        CHECK(until([&] { return done > 8; }));
        lent.memory.reset();
        // Its owner's again: nothing is written there any more.
        std::fill(lent.own.begin(), lent.own.end(), std::uint64_t{7});
        CHECK(until([&] { return refused.load(); }));
        writer.join();
        CHECK(std::count(lent.own.begin(), lent.own.end(), std::uint64_t{7}) ==
              static_cast<std::ptrdiff_t>(lent.own.size()));
    }
}

TEST_CASE("a process that is killed while it writes to memory does not keep that from being unbound") {
    const bool allocated = GENERATE(false, true);
    CAPTURE(allocated);
    const char* const exempt = std::getenv("TESTED_WITHOUT_KILLS");
    for (const std::string& way : Ends(FarEnd::other_process).ways()) {
        CAPTURE(way);
        if (exempt != nullptr && way == exempt) continue;
        Ends ends(FarEnd::other_process);
        std::vector<std::uint64_t> own(allocated ? 0 : kElements);
        BoundSpan<std::uint64_t> memory =
            allocated ? ends.near().allocate<std::uint64_t>(kElements) : ends.near().bind(std::span(own));
        ends.pointer().send(write_for_ever, memory.span(), way);
        // It is asked, as the memory may not be looked at while it is written.
        CHECK(eventually(kLimit, [&] { return within(ends.pointer().call(times_written)) > 0; }));
        ends.kill_process();
        memory.reset();
        // Its owner's again, and so is the next.
        std::fill(own.begin(), own.end(), std::uint64_t{7});
        CHECK(std::count(own.begin(), own.end(), std::uint64_t{7}) ==
              static_cast<std::ptrdiff_t>(own.size()));
        CHECK_NOTHROW(ends.near().bind(std::span(own)).reset());
    }
}

TEST_CASE("transfers go on while their pointer moves from method to method") {
    Ends ends(FarEnd::this_process);
    Lent lent(ends, true);
    const std::vector<std::string> ways = ends.ways();
    std::vector<Future<void>> under_way;
    std::vector<std::vector<std::uint64_t>> into(24, std::vector<std::uint64_t>(kElements));
    for (std::size_t i = 0; i < into.size(); ++i) {
        lent.far.use(ways[i % ways.size()]);
        under_way.push_back(lent.far.get(0, into[i]));
    }
    for (Future<void>& each : under_way) within(std::move(each));
    for (const auto& each : into) CHECK(std::equal(each.begin(), each.end(), lent.memory.local().begin()));
}
