// SPDX-License-Identifier: BSD-3-Clause
// Writer and Reader: layout, alignment, borrowed and owned bytes, and input that lies.
#include "plexus/archive.h"
#include "frame_of.h"
#include "support/catch.h"

#include <cereal/types/map.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <string>

namespace archive_test {

using namespace plexus::testing;
using plexus::detail::Piece;
using plexus::detail::Reader;
using plexus::detail::Writer;
using plexus::wire::Bytes;

namespace {

enum class Colour : std::uint16_t { red = 1, blue = 0x0203 };

struct Inner {
    std::string name;
    std::vector<double> values;
    bool operator==(const Inner&) const = default;
    template <class Archive>
    void serialize(Archive& archive) {
        archive(CEREAL_NVP(name), CEREAL_NVP(values));
    }
};
PLEXUS_NAME(Inner, "test.inner")
struct Outer {
    std::map<std::string, Inner> parts;
    std::optional<std::uint32_t> number;
    std::vector<std::vector<std::string>> nested;
    std::vector<bool> bits;
    bool flag = false;
    bool operator==(const Outer&) const = default;
    template <class Archive>
    void serialize(Archive& archive) {
        archive(parts, number, nested, bits, flag);
    }
};
PLEXUS_NAME(Outer, "test.outer")

Outer sample() {
    return {{{"a", {"first", {1.5, -2.5}}}, {"b", {"", {}}}},
            42u,
            {{"x", "y"}, {}, {"z"}},
            {true, false, true},
            true};
}

struct Point {
    std::int32_t x;
    std::int32_t y;
    bool operator==(const Point&) const = default;
};

} // namespace

TEST_CASE("scalars are little-endian and side by side, ranges are aligned") {
    CHECK(hex_of(written(std::uint8_t{1}, std::uint16_t{0x0203}, true, Colour::blue)) ==
          plain("01 0302 01 0302"));
    CHECK(hex_of(written(1.0, -1.0f)) == plain("000000000000f03f 000080bf"));
    CHECK(hex_of(written(std::uint8_t{9}, std::string("ab"), std::uint8_t{8})) ==
          plain("09 00000000000000 0200000000000000 6162 08"));
    CHECK(hex_of(written(std::vector<std::uint16_t>{1, 2}, std::vector<std::uint8_t>{})) ==
          plain("0200000000000000 0100 0200 00000000 0000000000000000"));
}

TEST_CASE("the reserved head counts for alignment") {
    Writer writer(20);
    writer.put(std::string_view("x"));
    CHECK(writer.total() == 33); // 20, then 4 of padding, the count, the letter
    const FrameOf frame(writer.bytes());
    Reader in = frame.reader(20);
    CHECK(in.get<std::string>() == "x");
    CHECK(in.ok());
}

TEST_CASE("what was put is got") {
    CHECK(read_back(std::string(1'000, 's')) == std::string(1'000, 's'));
    CHECK(read_back(std::vector<Point>{{1, -2}, {3, -4}}) == std::vector<Point>{{1, -2}, {3, -4}});
    CHECK(read_back(std::numeric_limits<std::int64_t>::min()) == std::numeric_limits<std::int64_t>::min());
    CHECK(read_back(Colour::blue) == Colour::blue);
    CHECK(read_back(sample()) == sample());
    CHECK(read_back(std::map<int, std::vector<std::string>>{{1, {"a"}}, {2, {}}}).at(1).at(0) == "a");
}

TEST_CASE("a view reads in place and its elements are aligned") {
    const FrameOf frame(written(std::uint8_t{1}, std::vector<double>{1, 2, 3}));
    Reader in = frame.reader();
    CHECK(in.get<std::uint8_t>() == 1);
    const auto view = in.get<std::span<const double>>();
    REQUIRE(view.size() == 3);
    CHECK(reinterpret_cast<std::uintptr_t>(view.data()) % alignof(double) == 0);
    CHECK(view[2] == 3);
    CHECK(in.ok());
}

TEST_CASE("large ranges are borrowed, small ones copied") {
    std::vector<std::uint8_t> large(10'000, 1);
    std::vector<std::uint8_t> small(Writer::kCopied, 2);
    Writer writer(0);
    writer.put(large);
    writer.put(small);
    Piece pieces[Writer::kPieces + 1];
    const std::uint32_t count = writer.finish(pieces);
    REQUIRE(count == 3);
    CHECK(pieces[0].size <= Writer::kHead);
    CHECK(pieces[1].data == large.data());
    CHECK(pieces[1].size == large.size());
    CHECK(pieces[2].data != small.data());

    std::size_t total = 0;
    for (std::uint32_t i = 0; i < count; ++i) total += pieces[i].size;
    CHECK(total == writer.total());
    large[0] = 77; // borrowed: the frame sees it
    small[0] = 78; // copied: the frame does not
    const Bytes bytes = writer.bytes();
    CHECK(bytes[8] == std::byte{77});
    CHECK(bytes.size() == writer.total());
    CHECK(bytes[bytes.size() - small.size()] == std::byte{2});
}

TEST_CASE("own() makes the frame independent of who lent") {
    std::vector<std::uint8_t> first(5'000, 1);
    std::vector<std::uint8_t> second(6'000, 2);
    Writer writer(8);
    std::memset(writer.head(), 0, 8);
    writer.put(first);
    writer.put(std::string("between"));
    writer.put(second);
    writer.put(std::string("behind"));
    const Bytes before = writer.bytes();
    writer.own();
    std::fill(first.begin(), first.end(), std::uint8_t{0xee});
    std::fill(second.begin(), second.end(), std::uint8_t{0xee});
    CHECK(writer.bytes() == before);
    CHECK(writer.total() == before.size());
    Piece pieces[Writer::kPieces + 1];
    CHECK(writer.finish(pieces) == 2);
    writer.put(std::uint32_t{0xaabbccdd}); // and goes on
    CHECK(writer.bytes().size() == before.size() + 4);
    CHECK(hex_of(plexus::wire::View(writer.bytes()).last(4)) == "ddccbbaa");
}

TEST_CASE("own() of a frame that fits its head changes nothing") {
    Writer writer(8);
    std::memset(writer.head(), 0, 8);
    writer.put(std::uint64_t{5});
    const Bytes before = writer.bytes();
    writer.own();
    CHECK(writer.bytes() == before);
}

TEST_CASE("any number of ranges, borrowed or not, makes one frame of a bounded number of pieces") {
    std::vector<std::vector<std::uint32_t>> ranges;
    for (std::uint32_t i = 0; i < 60; ++i) {
        ranges.emplace_back(i % 3 == 0 ? 5 : 200 + i);
        std::iota(ranges.back().begin(), ranges.back().end(), i * 1'000);
    }
    Writer writer(24);
    std::memset(writer.head(), 0, 24);
    Piece pieces[Writer::kPieces + 1];
    std::uint32_t most = 0;
    for (const auto& range : ranges) {
        writer.put(range);
        writer.put(std::uint8_t{1});
        most = std::max(most, writer.finish(pieces));
    }
    CHECK(most > 10);
    CHECK(most <= Writer::kPieces + 1);
    const FrameOf frame(writer.bytes());
    Reader in = frame.reader(24);
    for (const auto& range : ranges) {
        CHECK(in.get<std::vector<std::uint32_t>>() == range);
        CHECK(in.get<std::uint8_t>() == 1);
    }
    CHECK(in.ok());
    CHECK(in.left() == 0);
}

TEST_CASE("a count larger than what follows is refused without allocating for it") {
    for (const char* count :
         {"0300000000000000", "ffffffffffffffff", "0000000000000080", "0100000000000020"}) {
        CAPTURE(count);
        const FrameOf frame(bytes_of(std::string(count) + "0102030405060708 090a0b0c0d0e0f10"));
        Reader doubles = frame.reader();
        CHECK(doubles.get<std::vector<double>>().empty());
        CHECK_FALSE(doubles.ok());
        Reader views = frame.reader();
        CHECK(views.get<std::span<const std::uint64_t>>().empty());
        CHECK_FALSE(views.ok());
    }
    for (const char* count : {"1100000000000000", "ffffffffffffff7f"}) {
        const FrameOf frame(bytes_of(std::string(count) + "00000000000000000000000000000000"));
        Reader nested = frame.reader();
        CHECK(nested.get<std::vector<std::string>>().empty());
        CHECK_FALSE(nested.ok());
    }
}

TEST_CASE("after a read past the end everything is zero") {
    const FrameOf frame(bytes_of("010203"));
    Reader in = frame.reader();
    CHECK(in.get<std::uint32_t>() == 0);
    CHECK_FALSE(in.ok());
    CHECK(in.get<std::uint8_t>() == 0); // though there are three bytes
    CHECK(in.get<std::string>().empty());
    CHECK(in.view(1) == nullptr);
    CHECK(in.left() == 0);
}

TEST_CASE("a bool is 0 or 1") {
    const FrameOf frame(bytes_of("00 01 02"));
    Reader in = frame.reader();
    CHECK_FALSE(in.get<bool>());
    CHECK(in.get<bool>());
    CHECK(in.ok());
    CHECK_FALSE(in.get<bool>());
    CHECK_FALSE(in.ok());
}

TEST_CASE("an archived value that is cut off anywhere is refused") {
    const Bytes whole = written(sample());
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const FrameOf frame(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
        Reader in = frame.reader();
        const auto got = in.get<Outer>();
        CAPTURE(size);
        CHECK_FALSE(in.ok());
        CHECK_FALSE(got == sample());
    }
}

} // namespace archive_test
