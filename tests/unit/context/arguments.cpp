// SPDX-License-Identifier: BSD-3-Clause
// What goes in at one end comes out at the other, over every method: each kind of argument
// and result, from nothing to some megabytes.
#include "contexts.h"

#include <cereal/types/map.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <numeric>
#include <optional>
#include <span>

namespace arguments_test {

using namespace plexus;
using namespace plexus::testing;

enum class Colour : std::uint8_t { red, green = 7 };

struct Reading {
    std::string station;
    double value = 0;
    std::vector<std::string> notes;
    bool operator==(const Reading&) const = default;

    template <class Archive>
    void serialize(Archive& archive) {
        archive(station, value, notes);
    }
};
PLEXUS_NAME(Reading, "arguments.reading")
using Book = std::map<std::string, std::vector<Reading>>;

struct Bench {
    std::vector<std::uint32_t> kept;
};

constexpr Request<double(Bench&, std::int8_t, std::uint64_t, float, bool, Colour)> scalars{
    "arguments.scalars"};
constexpr Request<std::string(Bench&, std::string, std::string_view)> join{"arguments.join"};
constexpr Request<std::vector<std::uint32_t>(Bench&, std::vector<std::uint32_t>)> turn{"arguments.turn"};
constexpr Request<void(Bench&, std::span<const std::uint32_t>)> keep{"arguments.keep"};
constexpr Request<std::vector<std::uint32_t>(Bench&)> kept{"arguments.kept"};
constexpr Request<Book(Bench&, Book, Reading)> note{"arguments.note"};
constexpr Request<void(Bench&)> nothing{"arguments.nothing"};

/// An owner and a user with one method between them.
struct Two {
    explicit Two(const std::string& method)
      : owner(by(method))
      , user(by(method)) {
        owner.on(scalars, [](Bench&, std::int8_t a, std::uint64_t b, float c, bool d, Colour e) {
            return a + static_cast<double>(b) + static_cast<double>(c) + (d ? 0.25 : 0) +
                   static_cast<double>(e);
        });
        owner.on(join,
                 [](Bench&, const std::string& a, std::string_view b) { return a + "/" + std::string(b); });
        owner.on(turn, [](Bench&, std::vector<std::uint32_t> all) {
            return std::vector<std::uint32_t>(all.rbegin(), all.rend());
        });
        owner.on(keep, [](Bench& it, std::span<const std::uint32_t> all) {
            it.kept.assign(all.begin(), all.end());
        });
        owner.on(kept, [](Bench& it) { return it.kept; });
        owner.on(note, [](Bench&, Book book, Reading reading) {
            book[reading.station].push_back(std::move(reading));
            return book;
        });
        owner.on(nothing, [](Bench&) {});
        bound = owner.bind(bench);
        far = handed(user, bound.pointer());
    }

    Bench bench;
    Context owner;
    Context user;
    Bound<Bench> bound;
    GlobalPointer<Bench> far;
};

std::vector<std::uint32_t> numbers(std::size_t count) {
    std::vector<std::uint32_t> all(count);
    std::iota(all.begin(), all.end(), 17u);
    return all;
}

TEST_CASE("scalars, enums and strings arrive as they were sent") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method);
    REQUIRE(two.far.method() == method);
    CHECK(within(two.far.call(scalars, -3, 1ull << 40, 0.5f, true, Colour::green)) ==
          -3.0 + 1099511627776.0 + 0.5 + 0.25 + 7);
    CHECK(within(two.far.call(scalars, 0, 0, 0, false, Colour::red)) == 0);
    CHECK(within(two.far.call(join, "", "")) == "/");
    CHECK(within(two.far.call(join, std::string(3, '\0'), "r")) == std::string(3, '\0') + "/r");
    CHECK(within(two.far.call(join, std::string(5000, 'l'), std::string(70'000, 'r'))) ==
          std::string(5000, 'l') + "/" + std::string(70'000, 'r'));
    within(two.far.call(nothing));
}

TEST_CASE("ranges of any length arrive whole, there and back") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method);
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{1}, std::size_t{5}, std::size_t{64}, std::size_t{65}, std::size_t{1000},
          std::size_t{16} << 10, std::size_t{2} << 20}) {
        CAPTURE(count);
        const std::vector<std::uint32_t> sent = numbers(count);
        const std::vector<std::uint32_t> back = within(two.far.call(turn, sent));
        CHECK(std::vector<std::uint32_t>(back.rbegin(), back.rend()) == sent);
        two.far.send(keep, sent);
        CHECK(within(two.far.call(kept)) == sent);
    }
}

TEST_CASE("the arguments of a send may be reused as soon as it returns") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method);
    for (const std::size_t count : {std::size_t{4}, std::size_t{16} << 10, std::size_t{2} << 20}) {
        CAPTURE(count);
        std::vector<std::uint32_t> sent = numbers(count);
        two.far.send(keep, sent);
        std::fill(sent.begin(), sent.end(), 0u);
        CHECK(within(two.far.call(kept)) == numbers(count));
    }
}

TEST_CASE("structs and maps travel by cereal") {
    const std::string method = GENERATE(as<std::string>{}, "local", "shm", "tcp");
    CAPTURE(method);
    Two two(method);
    const Reading first{"north", 1.5, {"windy", ""}};
    const Reading second{"south", -2, {}};
    Book book = within(two.far.call(note, Book{}, first));
    book = within(two.far.call(note, book, second));
    book = within(two.far.call(note, book, first));
    CHECK(book == Book{{"north", {first, first}}, {"south", {second}}});

    Book large;
    for (int i = 0; i < 2000; ++i)
        large["station " + std::to_string(i)].push_back(
            {std::to_string(i), i * 0.5, {std::string(100, 'n')}});
    Book wanted = large;
    wanted["north"].push_back(first);
    CHECK(within(two.far.call(note, large, first)) == wanted);
}

} // namespace arguments_test
