// SPDX-License-Identifier: BSD-3-Clause
// A process that has no descriptors left, so that a method can make no more shared memory, or no memory for
// what arrives: whoever waits for an answer is told, and later messages go.
#include "contexts.h"

#include "support/limit.h"
#include "support/process.h"

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

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

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
        const Limit none(RLIMIT_NOFILE, next_descriptor());
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

} // namespace shortage_test
