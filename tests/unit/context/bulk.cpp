// SPDX-License-Identifier: BSD-3-Clause
// Memory of another context, read and written one-sided: every size, the edges, and requests
// that run once a put has landed.
#include "contexts.h"

#include <numeric>
#include <span>

namespace bulk_test {

using namespace plexus;
using namespace plexus::testing;

struct Board {
    std::span<const double> memory;
    GlobalSpan<double> lent;
    double sum = 0;
};
constexpr Request<GlobalSpan<double>(Board&)> borrow{"bulk.borrow"};
constexpr Request<void(Board&, std::uint64_t, std::uint64_t)> add_up{"bulk.add_up"};
constexpr Request<double(Board&)> sum{"bulk.sum"};
constexpr Request<void(Board&)> fail{"bulk.fail"};

struct Two {
    Two(const std::string& method, std::size_t size, Values owners = {})
      : memory(size)
      , owner(by(method, std::move(owners)))
      , user(by(method)) {
        std::iota(memory.begin(), memory.end(), 1.0);
        owner.on(borrow, [](Board& it) { return it.lent; });
        owner.on(add_up, [](Board& it, std::uint64_t first, std::uint64_t count) {
            const auto part = it.memory.subspan(first, count);
            it.sum = std::accumulate(part.begin(), part.end(), 0.0);
        });
        owner.on(sum, [](Board& it) { return it.sum; });
        lent = owner.bind(std::span(memory));
        board.memory = memory;
        board.lent = lent.span();
        bound = owner.bind(board);
        far_board = handed(user, bound.pointer());
        far = within(far_board.call(borrow));
    }
    ~Two() { board.lent = {}; }

    std::vector<double> memory;
    Board board;
    Context owner;
    Context user;
    BoundSpan<double> lent;
    Bound<Board> bound;
    GlobalPointer<Board> far_board;
    GlobalSpan<double> far;
};

constexpr std::size_t kMega = std::size_t{1} << 20;

TEST_CASE("get reads and put writes what was asked for, and nothing beside it") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method, 100'000);
    REQUIRE(two.far.size() == 100'000);
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{600},
                                    std::size_t{8192}, std::size_t{90'000}}) {
        CAPTURE(count);
        std::vector<double> got(count + 2, -1.0);
        within(two.far.get(1000, std::span(got).subspan(1, count)));
        CHECK(got.front() == -1.0);
        CHECK(got.back() == -1.0);
        CHECK(std::equal(got.begin() + 1, got.end() - 1, two.memory.begin() + 1000));

        const std::vector<double> before = two.memory;
        const std::vector<double> put(count, -5.0);
        within(two.far.put(500, put));
        std::vector<double> wanted = before;
        std::fill_n(wanted.begin() + 500, count, -5.0);
        CHECK(two.memory == wanted);
        within(two.far.put(500, std::span(before).subspan(500, count)));
        CHECK(two.memory == before);
    }
}

TEST_CASE("sixteen megabytes go there and back unchanged") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method, 2 * kMega);
    std::vector<double> sent(2 * kMega);
    std::iota(sent.begin(), sent.end(), -3e6);
    within(two.far.put(0, sent));
    CHECK(two.memory == sent);
    std::vector<double> got(2 * kMega);
    within(two.far.get(0, got));
    CHECK(got == sent);
}

TEST_CASE("gets of more bytes than limits.handler_queue succeed, also several at a time") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "shm?cma=off", "tcp");
    CAPTURE(method);
    constexpr std::size_t kElements = kMega; // 8 MiB
    Two two(method, kElements, {{"limits.handler_queue", "1 MiB"}});
    std::vector<std::vector<double>> got(3, std::vector<double>(kElements, -1.0));
    std::vector<Future<void>> pending;
    for (auto& each : got) pending.push_back(two.far.get(0, std::span(each)));
    for (auto& each : pending) CHECK_NOTHROW(within(std::move(each)));
    for (const auto& each : got) CHECK(each == two.memory);
}

TEST_CASE("a request behind a put sees the elements in place") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method, kMega);
    double value = 1;
    for (const std::size_t count :
         {std::size_t{1}, std::size_t{1000}, std::size_t{50'000}, kMega - 10, std::size_t{3}}) {
        CAPTURE(count);
        value += 1;
        const std::vector<double> part(count, value);
        within(two.far.put_then(10, part, two.far_board, add_up, 10u, count));
        CHECK(within(two.far_board.call(sum)) == value * static_cast<double>(count));
    }
}

TEST_CASE("transfers past the end are refused before anything moves") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method, 100);
    const std::vector<double> before = two.memory;
    std::vector<double> some(11, 0.0);
    CHECK(refusal_of([&] { return two.far.get(90, some); }).status == Status::bad_argument);
    CHECK(refusal_of([&] { return two.far.put(101, std::span(some).first(1)); }).status ==
          Status::bad_argument);
    CHECK(refusal_of([&] { return two.far.put(UINT64_MAX, some); }).status == Status::bad_argument);
    CHECK(refusal_of([&] { return two.far.subspan(95, 6); }).status == Status::bad_argument);
    const auto tail = two.far.subspan(95, 5);
    CHECK(refusal_of([&] { return tail.get(0, std::span(some).first(6)); }).status == Status::bad_argument);
    within(tail.get(0, std::span(some).first(5)));
    CHECK(std::equal(some.begin(), some.begin() + 5, before.begin() + 95));
    CHECK(two.memory == before);
}

TEST_CASE("the owner refuses a range that a made-up span claims") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method, 100);
    const std::vector<double> before = two.memory;
    const GlobalSpan<double> claimed(two.far.target(), two.far.route(), 0, 1'000'000);
    for (const std::size_t count : {std::size_t{1}, std::size_t{20'000}}) {
        CAPTURE(count);
        std::vector<double> some(count, 4.0);
        CHECK(refusal_of(claimed.get(100, some)).status == Status::bad_argument);
        CHECK(refusal_of(claimed.put(100, some)).status == Status::bad_argument);
    }
    detail::Target forged = two.far.target();
    forged.key ^= 1;
    const GlobalSpan<double> stolen(forged, two.far.route(), 0, 100);
    std::vector<double> loot(100);
    CHECK(refusal_of(stolen.get(0, loot)).status == Status::dead_pointer);
    CHECK(refusal_of(stolen.put(0, loot)).status == Status::dead_pointer);
    CHECK(two.memory == before);
}

TEST_CASE("memory that was unbound cannot be reached any more") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method, 50'000);
    std::vector<double> some(50'000);
    within(two.far.get(0, some));
    two.lent.reset();
    CHECK(refusal_of(two.far.get(0, some)).status == Status::dead_pointer);
    CHECK(refusal_of(two.far.put(0, some)).status == Status::dead_pointer);
    CHECK(refusal_of(two.far.put(0, std::span(some).first(1))).status == Status::dead_pointer);
}

TEST_CASE("put_then wants the object and the memory in one context") {
    Two two("shm", 10);
    Context third(by("shm"));
    Board elsewhere;
    const Bound<Board> bound = third.bind(elsewhere);
    const std::vector<double> some(1);
    CHECK(refusal_of([&] {
              return two.far.put_then(0, some, handed(two.user, bound.pointer()), fail);
          }).status == Status::bad_argument);
}

} // namespace bulk_test
