// SPDX-License-Identifier: BSD-3-Clause
// A process that has no descriptors left, so that a method can make no more shared memory.
#include "contexts.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace shortage_test {

using namespace plexus;
using namespace plexus::testing;

namespace {

struct Heap {
    std::size_t bytes = 0;
};
constexpr Request<std::size_t(Heap&, std::span<const std::byte>)> pile{"shortage.pile"};

/// Whoever wants another descriptor gets none.
class NoDescriptors {
  public:
    NoDescriptors() {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        ::close(next);
        const rlimit none{static_cast<rlim_t>(next), before_.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &none);
    }
    ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    NoDescriptors(const NoDescriptors&) = delete;
    NoDescriptors& operator=(const NoDescriptors&) = delete;

  private:
    rlimit before_{};
};

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
        const NoDescriptors none;
        const Refusal refusal = refusal_of([&] { pointer.send(pile, std::span(large)); });
        CHECK(refusal.status == Status::message_lost);
        CHECK(said.count() == 1);
        CHECK(within(pointer.call(pile, std::span(small))) == 20);
    }
    CHECK(within(pointer.call(pile, std::span(large))) == 100'020);
}

} // namespace shortage_test
