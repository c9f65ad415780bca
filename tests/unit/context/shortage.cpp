// SPDX-License-Identifier: BSD-3-Clause
// A process that has no descriptors left, so that a method can make no more shared memory, or no memory for
// what arrives: whoever waits for an answer is told, and later messages go.
#include "contexts.h"

#include "context/core.h"
#include "support/limit.h"
#include "support/process.h"

#include <atomic>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <optional>
#include <sys/resource.h>
#include <unistd.h>

namespace shortage_test {

using namespace plexus;
using namespace plexus::testing;
using namespace std::chrono_literals;

namespace {

struct Heap {
    std::size_t bytes = 0;
};
constexpr Request<std::size_t(Heap&, std::span<const std::byte>)> pile{"shortage.pile"};
constexpr Request<std::vector<std::byte>(Heap&, std::span<const std::byte>)> fetch{"shortage.fetch"};
constexpr Request<bool(Heap&)> is_busy{"shortage.busy"};

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

/// The limit by which whoever wants another descriptor gets none.
rlim_t no_more_descriptors() {
    const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::close(next);
    return static_cast<rlim_t>(next);
}

/// A context in a process of its own, whose main thread does `steps`, one after each signal of the parent,
/// and says when it has done it.
class Poor {
  public:
    using Install = std::function<std::vector<std::function<void()>>(Context&, Bound<Heap>&)>;
    Poor(const Values& values, const Install& install)
      : process_([&values, &install](Channel& parent) {
          Context context(by("tcp", values));
          Heap heap;
          Bound<Heap> bound = context.bind(heap);
          const auto steps = install(context, bound);
          const auto saved = bound.pointer().save();
          parent.put(saved);
          for (const auto& step : steps) {
              if (!parent.take(60s)) return 1;
              step();
              parent.put(saved);
          }
          return parent.take(60s) ? 0 : 1;
      }) {}
    GlobalPointer<Heap> pointer(Context& near) {
        const auto saved = process_.channel().take(20s);
        if (!saved) throw std::runtime_error("the other process is not there");
        return GlobalPointer<Heap>::load(near, *saved);
    }
    /// The next step; false: it was not done in time.
    bool next() {
        return process_.channel().put(std::as_bytes(std::span("go"))) &&
               process_.channel().take(20s).has_value();
    }
    int end() {
        process_.channel().put(std::as_bytes(std::span("end")));
        return process_.code(20s);
    }

  private:
    Process process_;
};

std::function<void()> lower(std::optional<Limit>& limit, std::size_t left) {
    return [&limit, left] { limit.emplace(RLIMIT_AS, address_space() + left); };
}

} // namespace

TEST_CASE("a message that finds no memory on its way is reported, and later ones go") {
    const char* const cma = GENERATE("off", "auto");
    CAPTURE(cma);
    const Values values{{"method.shm.cma", cma}};
    Context far(by("shm", values));
    Context near(by("shm", values));
    far.on(pile, [](Heap& heap, std::span<const std::byte> more) { return heap.bytes += more.size(); });
    Heap heap;
    const Bound<Heap> bound = far.bind(heap);
    const auto pointer = handed(near, bound.pointer());
    const std::vector<std::byte> small(10);
    const std::vector<std::byte> large(100'000);
    CHECK(within(pointer.call(pile, std::span(small))) == 10);
    {
        const auto said = expect_warning("no shared memory for a message of 100");
        const Limit none(RLIMIT_NOFILE, no_more_descriptors());
        const Refusal refusal = refusal_of([&] { pointer.send(pile, std::span(large)); });
        CHECK(refusal.status == Status::message_lost);
        CHECK(said.count() == 1);
        CHECK(within(pointer.call(pile, std::span(small))) == 20);
    }
    CHECK(within(pointer.call(pile, std::span(large))) == 100'020);
}

TEST_CASE(
    "a large call that its receiver has no memory for is refused in words, and later ones are answered") {
    if (kSanitized) SKIP_TEST("a sanitizer needs all of the address space");
    static std::optional<Limit> limit;
    Poor poor({}, [](Context& context, Bound<Heap>&) {
        context.on(pile,
                   [](Heap& heap, std::span<const std::byte> more) { return heap.bytes += more.size(); });
        return std::vector<std::function<void()>>{lower(limit, 16 * kMebibyte), [] { limit.reset(); }};
    });
    Context near(by("tcp"));
    const auto pointer = poor.pointer(near);
    const std::vector<std::byte> small(10);
    const std::vector<std::byte> large(64 * kMebibyte);
    CHECK(within(pointer.call(pile, std::span(small))) == 10);
    REQUIRE(poor.next());
    const Refusal refusal = refusal_of(pointer.call(pile, std::span(large)));
    CHECK(refusal.status == Status::too_large);
    CHECK(refusal.says("has no memory for a message of 67108"));
    CHECK(within(pointer.call(pile, std::span(small))) == 20);
    REQUIRE(poor.next());
    CHECK(within(pointer.call(pile, std::span(large))) == large.size() + 20);
    CHECK(poor.end() == 0);
}

TEST_CASE("a call that its receiver has no memory to queue for a thread is refused in words") {
    if (kSanitized) SKIP_TEST("a sanitizer needs all of the address space");
    static std::optional<Limit> limit;
    static std::atomic<bool> go{false};
    static std::atomic<bool> busy{false};
    Poor poor({{"limits.handler_queue", "1 GiB"}, {"handlers.threads", "1"}},
              [](Context& context, Bound<Heap>&) {
                  context.on(pile, threaded, [](Heap& heap, std::span<const std::byte> more) {
                      busy = true;
                      eventually(60s, [] { return go.load(); });
                      return heap.bytes += more.size();
                  });
                  context.on(is_busy, [](Heap&) { return busy.load(); });
                  return std::vector<std::function<void()>>{lower(limit, 16 * kMebibyte), [] {
                                                                limit.reset();
                                                                go = true;
                                                            }};
              });
    Context near(by("tcp"));
    const auto pointer = poor.pointer(near);
    const std::vector<std::byte> load(8'000);
    std::vector<Future<std::size_t>> queued;
    queued.push_back(pointer.call(pile, std::span(load)));
    REQUIRE(eventually(kLimit, [&] { return within(pointer.call(is_busy)); })); // the thread is there
    REQUIRE(poor.next());
    std::optional<Refusal> refusal;
    for (int i = 0; i < 5'000 && !refusal; ++i) {
        auto next = pointer.call(pile, std::span(load));
        if (!within(pointer.call(is_busy))) break;
        if (next.wait_for(0s)) {
            refusal = refusal_of(std::move(next));
        } else {
            queued.push_back(std::move(next));
        }
    }
    REQUIRE(refusal);
    CHECK(refusal->status == Status::again);
    CHECK(refusal->says("there is no memory for a request of 80"));
    REQUIRE(poor.next());
    std::size_t most = 0;
    for (auto& each : queued) most = std::max(most, within(std::move(each)));
    CHECK(most == queued.size() * load.size()); // each was handled, once
    CHECK(poor.end() == 0);
}

TEST_CASE("a call that its receiver has no memory to keep until answers leave is refused in words") {
    if (kSanitized) SKIP_TEST("a sanitizer needs all of the address space");
    static std::optional<Limit> limit;
    Poor poor({{"limits.handler_queue", "32 MiB"}}, [](Context& context, Bound<Heap>&) {
        context.on(fetch,
                   [](Heap&, std::span<const std::byte>) { return std::vector<std::byte>(kMebibyte); });
        return std::vector<std::function<void()>>{
            [&context] {
                eventually(20s, [&] { return context.core()->dispatcher().parked() > 0; });
                limit.emplace(RLIMIT_AS, address_space() + 4 * kMebibyte);
            },
            // So many that there is no memory for all, and some time to take them.
            [&context] { eventually(20s, [&] { return context.core()->dispatcher().parked() > 400; }); },
            [] { limit.reset(); }};
    });
    Context near(by("tcp", {{"progress.thread", "false"}, {"limits.retain", "64 MiB"}}));
    const auto pointer = poor.pointer(near);
    const std::vector<std::byte> load(8'000);
    std::vector<Future<std::vector<std::byte>>> calls;
    calls.push_back(pointer.call(fetch, std::span(load).first(1)));
    CHECK(within(std::move(calls.back())).size() == kMebibyte);
    calls.clear();
    for (int i = 0; i < 200; ++i) calls.push_back(pointer.call(fetch, std::span(load).first(1)));
    REQUIRE(poor.next()); // answers wait for this side, which reads none, and calls for these
    for (int i = 0; i < 1'500; ++i) calls.push_back(pointer.call(fetch, std::span(load)));
    REQUIRE(poor.next());
    REQUIRE(poor.next());
    int good = 0;
    int without_memory = 0;
    for (auto& each : calls) {
        std::size_t size = 0;
        const Refusal refusal = refusal_of([&] { size = within(std::move(each)).size(); });
        good += size == kMebibyte ? 1 : 0;
        without_memory += refusal.says("there is no memory for a request that has to wait") ? 1 : 0;
    }
    CHECK(without_memory > 0);
    CHECK(good + without_memory == static_cast<int>(calls.size()));
    CHECK(poor.end() == 0);
}

} // namespace shortage_test
