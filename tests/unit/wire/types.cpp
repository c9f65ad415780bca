// SPDX-License-Identifier: BSD-3-Clause
// The identity of types, and plain structs, listed fields and shared objects as bytes.
#include "frame_of.h"
#include "plexus/request.h"
#include "support/catch.h"

#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

namespace types_test {

using namespace plexus::testing;
using plexus::detail::Element;
using plexus::detail::kDense;
using plexus::detail::Piece;
using plexus::detail::Reader;
using plexus::detail::Signature;
using plexus::detail::wire_type;
using plexus::detail::Writer;
using plexus::wire::Bytes;

namespace {

struct Object;

template <class R, class... P>
std::string types_of(const plexus::Request<R(Object&, P...)>& request) {
    return std::string(request.signature());
}
template <class T>
std::string type_of() {
    const std::string_view text = Signature<void, T>::text();
    return std::string(text.substr(5, text.size() - 6)); // "void(…)"
}

struct Point {
    std::int32_t x, y;
    bool operator==(const Point&) const = default;
};
struct Turned {
    std::int32_t y, x;
};
struct PointListed {
    std::int32_t x, y;
};
PLEXUS_FIELDS(PointListed, x, y)
struct TurnedListed {
    std::int32_t y, x;
};
PLEXUS_FIELDS(TurnedListed, y, x)
struct PointNamed {
    std::int32_t x, y;
};
PLEXUS_NAME(PointNamed, "test.point/2")
struct Longer {
    std::int32_t x, y, z;
};
struct Sample {
    char tag;
    double value;
    bool set;
    std::uint16_t port;
    bool operator==(const Sample&) const = default;
};
struct Samples {
    Sample of[2];
    std::array<Sample, 2> more;
    char name[5];
    bool operator==(const Samples&) const = default;
};
struct Switches {
    bool on[3];
    std::uint8_t number;
    bool last;
};
enum class Flag : bool { off, on };
struct Flagged {
    Flag flag;
};
struct Partly {
    std::int32_t sent = 1;
    std::int32_t kept = 2;
    std::string text;
};
PLEXUS_FIELDS(Partly, text, sent)
struct PartlyPlain {
    std::int32_t sent = 1;
    std::int32_t kept = 2;
};
PLEXUS_FIELDS(PartlyPlain, sent)
struct Many {
    char a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D;
    bool E;
    double F;
    bool operator==(const Many&) const = default;
};
struct List {
    std::int32_t value = 0;
    std::unique_ptr<List> next;
};
PLEXUS_FIELDS(List, value, next)
struct alignas(16) Wide {
    std::uint64_t low, high;
    bool operator==(const Wide&) const = default;
};
struct Sharing {
    std::shared_ptr<std::string> a, b;
    std::shared_ptr<std::uint64_t> number;
};
PLEXUS_FIELDS(Sharing, a, b, number)
struct Filled {
    std::vector<std::string> texts{"a"};
    std::vector<bool> bits{true};
    std::map<int, std::string> map{{9, "z"}};
    std::set<int> set{9};
    std::forward_list<int> list{9};
};
PLEXUS_FIELDS(Filled, texts, bits, map, set, list)
struct Child {
    std::weak_ptr<Child> brother;
    template <class Archive>
    void serialize(Archive& archive) {
        archive(brother);
    }
};
struct Parent {
    std::shared_ptr<Child> child;
    template <class Archive>
    void serialize(Archive& archive) {
        archive(child);
    }
};
PLEXUS_NAME(Parent, "test.parent")
struct Cycle {
    std::shared_ptr<Cycle> next;
};
PLEXUS_FIELDS(Cycle, next)

} // namespace

TEST_CASE("a signature is the text of result and parameters, without the object, and its hash") {
    static constexpr plexus::Request<double(Object&, int, const std::vector<double>&, std::string_view)>
        request{"types.signature"};
    CHECK(types_of(request) == "f64(i32,seq<f64>,string)");
    CHECK(request.info().signature == 0x4aa7ff90f6d931e8ull);
    CHECK(plexus::detail::mix(plexus::detail::kHashSeed, "a") == 0xaf63dc4c8601ec8cull); // FNV-1a's own test
    static constexpr plexus::Request<void(Object&)> nothing{"types.nothing"};
    CHECK(types_of(nothing) == "void()");
}

TEST_CASE("types of one structure are one type, whatever their names") {
    CHECK(type_of<long>() == type_of<long long>());
    CHECK(type_of<std::span<const double>>() == "seq<f64>");
    CHECK(type_of<std::vector<double>>() == "seq<f64>");
    CHECK(type_of<std::list<double>>() == "seq<f64>");
    CHECK(type_of<std::deque<double>>() == "seq<f64>");
    CHECK(type_of<std::map<int, char>>() == type_of<std::unordered_map<int, char>>());
    CHECK(type_of<std::pair<int, bool>>() == type_of<std::tuple<int, bool>>());
    CHECK(type_of<std::string>() == type_of<std::string_view>());
    CHECK(type_of<std::vector<Point>>() == "seq<struct(8,4){i32*2}>");
    CHECK(type_of<Samples>() == "struct(104,8){struct(24,8){char,f64,bool,u16}*2,"
                                "array<struct(24,8){char,f64,bool,u16},2>,char*5}");
    CHECK(type_of<Many>() == "struct(40,8){char*30,bool,f64}");
    CHECK(type_of<List>() == "record{value:i32,next:unique_ptr<^2>}");
    struct Local {
        float a, b;
    };
    CHECK(type_of<Local>() == "struct(8,4){f32*2}");
}

TEST_CASE("types that differ in anything that is on the wire are different types") {
    const std::vector<std::uint64_t> hashes{wire_type<bool>(),
                                            wire_type<char>(),
                                            wire_type<signed char>(),
                                            wire_type<unsigned char>(),
                                            wire_type<char16_t>(),
                                            wire_type<std::int16_t>(),
                                            wire_type<std::int32_t>(),
                                            wire_type<std::uint32_t>(),
                                            wire_type<float>(),
                                            wire_type<double>(),
                                            wire_type<std::int64_t>(),
                                            wire_type<std::string>(),
                                            wire_type<std::vector<char>>(),
                                            wire_type<std::vector<int>>(),
                                            wire_type<std::vector<std::vector<int>>>(),
                                            wire_type<std::array<int, 2>>(),
                                            wire_type<std::array<int, 3>>(),
                                            wire_type<std::set<int>>(),
                                            wire_type<std::multiset<int>>(),
                                            wire_type<std::map<int, int>>(),
                                            wire_type<std::multimap<int, int>>(),
                                            wire_type<std::tuple<int>>(),
                                            wire_type<std::tuple<int, int>>(),
                                            wire_type<std::optional<int>>(),
                                            wire_type<std::unique_ptr<int>>(),
                                            wire_type<std::shared_ptr<int>>(),
                                            wire_type<Point>(),
                                            wire_type<PointListed>(),
                                            wire_type<TurnedListed>(),
                                            wire_type<PointNamed>(),
                                            wire_type<Longer>(),
                                            wire_type<Sample>(),
                                            wire_type<Wide>(),
                                            wire_type<std::chrono::seconds>(),
                                            wire_type<std::chrono::milliseconds>(),
                                            wire_type<std::chrono::sys_seconds>(),
                                            wire_type<void>()};
    for (std::size_t a = 0; a < hashes.size(); ++a)
        for (std::size_t b = 0; b < a; ++b) {
            CAPTURE(a, b);
            CHECK(hashes[a] != hashes[b]);
        }
    // Without names of fields or of the type, their order can't be seen.
    CHECK(wire_type<Point>() == wire_type<Turned>());
    CHECK(type_of<PointListed>() == "struct(8,4){x:i32,y:i32}");
    CHECK(type_of<PointNamed>() == "test.point/2:struct(8,4){i32*2}");
}

TEST_CASE("padding is zero on the wire, whatever was in memory") {
    const Bytes clean = written(Sample{'a', 1.5, true, 2});
    CHECK(hex_of(clean) == plain("61 00000000000000 000000000000f83f 01 00 0200 00000000"));
    alignas(Sample) std::byte memory[sizeof(Sample)];
    std::memset(memory, 0xee, sizeof memory);
    auto* const sample = new (memory) Sample;
    sample->tag = 'a';
    sample->value = 1.5;
    sample->set = true;
    sample->port = 2;
    CHECK(written(*sample) == clean);
    std::vector<Sample> many(3);
    std::memset(static_cast<void*>(many.data()), 0xee, many.size() * sizeof(Sample));
    for (Sample& each : many) {
        each.tag = 'a';
        each.value = 1.5;
        each.set = true;
        each.port = 2;
    }
    const std::string one = hex_of(clean);
    CHECK(hex_of(written(many)) == "0300000000000000" + one + one + one);
    CHECK(hex_of(written(std::span<const Sample>(many))) == "0300000000000000" + one + one + one);
    CHECK(hex_of(written(std::vector<std::vector<Sample>>{many})) == "0100000000000000"
                                                                     "0300000000000000" +
                                                                         one + one + one);
    Samples nested;
    std::memset(static_cast<void*>(&nested), 0xee, sizeof nested);
    nested = {{*sample, *sample}, {*sample, *sample}, "name"};
    CHECK(hex_of(written(nested)) == one + one + one + one + plain("6e616d6500 000000"));
}

TEST_CASE("structs are what they were, alone, in ranges and views, and as many fields as there may be") {
    const Samples samples{
        {{'a', 1, true, 2}, {'b', 3, false, 4}}, {{{'c', 5, true, 6}, {'d', 7, false, 8}}}, "name"};
    CHECK(read_back(samples) == samples);
    CHECK(read_back(std::vector<Samples>(7, samples)) == std::vector<Samples>(7, samples));
    CHECK(read_back(std::map<int, Samples>{{1, samples}}).at(1) == samples);
    const Many many{'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o',  'p',
                    'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z', 'A', 'B', 'C', 'D', true, 1.5};
    CHECK(read_back(many) == many);
    CHECK(read_back(std::vector<Wide>{{1, 2}, {3, 4}}) == std::vector<Wide>{{1, 2}, {3, 4}});
    const FrameOf frame(written(std::vector<Sample>{{'a', 1, true, 2}, {'b', 3, false, 4}}));
    Reader in = frame.reader();
    const auto view = in.get<std::span<const Sample>>();
    REQUIRE(view.size() == 2);
    CHECK(view[1] == Sample{'b', 3, false, 4});
    CHECK(in.ok());
}

TEST_CASE("structs without padding are borrowed, others are copied") {
    static_assert(kDense<Point> && !kDense<Sample> && !kDense<Samples>);
    const std::vector<Point> points(100, Point{1, 2});
    const std::vector<Sample> samples(100, Sample{'a', 1, true, 2});
    Writer writer(0);
    writer.put(points);
    writer.put(samples);
    Piece pieces[Writer::kPieces + 1];
    REQUIRE(writer.finish(pieces) == 3);
    CHECK(pieces[1].data == points.data());
    CHECK(pieces[2].size == 8 + 100 * sizeof(Sample)); // 8: its count
    CHECK(writer.total() == 16 + 100 * (sizeof(Point) + sizeof(Sample)));
}

TEST_CASE("fields that are not listed do not travel") {
    Partly partly{5, 6, "text"};
    const FrameOf frame(written(partly));
    Reader in = frame.reader();
    const auto got = in.get<Partly>();
    CHECK(in.ok());
    CHECK((got.sent == 5 && got.kept == 2 && got.text == "text"));
    CHECK(hex_of(written(PartlyPlain{5, 6})) == "0500000000000000");
    CHECK(type_of<PartlyPlain>() == "struct(8,4){sent:i32}");
}

TEST_CASE("the bytes of library types are these") {
    const std::string three = "0300000000000000";
    CHECK(hex_of(written(std::optional<std::uint8_t>{5})) == "0005");
    CHECK(hex_of(written(std::optional<std::uint8_t>{})) == "01");
    CHECK(hex_of(written(std::make_unique<std::uint8_t>(std::uint8_t{5}))) == "0105");
    CHECK(hex_of(written(std::unique_ptr<std::uint8_t>{})) == "00");
    CHECK(hex_of(written(std::make_shared<std::string>("a"))) == plain("01000080 0100000000000000 61"));
    CHECK(hex_of(written(std::map<std::uint8_t, bool>{{1, true}, {2, false}, {3, true}})) ==
          three + "010102000301");
    CHECK(hex_of(written(std::tuple<std::uint8_t, std::string>{7, "a"})) == plain("07 0100000000000000 61"));
    // Every sequence that is an argument begins at a multiple of eight, whatever holds it.
    const std::uint8_t odd = 9;
    const Bytes vector = written(odd, std::vector<std::uint16_t>{1, 2, 3});
    CHECK(hex_of(vector) == "0900000000000000" + three + "010002000300");
    CHECK(written(odd, std::list<std::uint16_t>{1, 2, 3}) == vector);
    CHECK(written(odd, std::forward_list<std::uint16_t>{1, 2, 3}) == vector);
    const FrameOf frame(vector);
    Reader in = frame.reader();
    CHECK(in.get<std::uint8_t>() == odd);
    CHECK(in.get<std::deque<std::uint16_t>>() == std::deque<std::uint16_t>{1, 2, 3});
}

TEST_CASE("what a container held before it was read is gone") {
    const FrameOf frame(written(Filled{{"b", "c"}, {false, false}, {{1, "b"}}, {1}, {1, 2}}));
    Reader in = frame.reader();
    const auto got = in.get<Filled>();
    CHECK(in.ok());
    CHECK(got.texts == std::vector<std::string>{"b", "c"});
    CHECK(got.bits == std::vector<bool>{false, false});
    CHECK(got.map == std::map<int, std::string>{{1, "b"}});
    CHECK(got.set == std::set<int>{1});
    CHECK(got.list == std::forward_list<int>{1, 2});
}

TEST_CASE("a bool that is neither 0 nor 1 is refused wherever it is") {
    CHECK(reads<Switches>("01 00 01 ff 01"));
    CHECK_FALSE(reads<Switches>("02 00 01 ff 01"));
    CHECK_FALSE(reads<Switches>("01 02 01 ff 01"));
    CHECK_FALSE(reads<Switches>("01 00 01 ff 02"));
    CHECK(reads<Flag>("01"));
    CHECK_FALSE(reads<Flag>("03"));
    CHECK_FALSE(reads<Flagged>("03"));
    CHECK(reads<std::span<const bool>>("0200000000000000 00 01"));
    CHECK_FALSE(reads<std::span<const bool>>("0200000000000000 00 02"));
    CHECK(reads<std::span<const Switches>>("0100000000000000 01 00 01 ff 01"));
    CHECK_FALSE(reads<std::span<const Switches>>("0200000000000000 01 00 01 ff 01 01 00 01 ff ff"));
    CHECK_FALSE(reads<std::vector<Switches>>("0100000000000000 01 00 80 ff 01"));
    CHECK_FALSE(
        reads<std::vector<std::vector<Switches>>>("0100000000000000 0100000000000000 01 00 80 ff 01"));
    CHECK_FALSE(reads<std::vector<bool>>("0200000000000000 00 02"));
    CHECK_FALSE(reads<std::optional<std::uint8_t>>("02 01"));
}

TEST_CASE("an object that several pointers share is one object again, and of its own type") {
    Sharing sharing;
    sharing.a = sharing.b = std::make_shared<std::string>("both");
    sharing.number = std::make_shared<std::uint64_t>(7u);
    const Bytes bytes = written(sharing);
    const FrameOf frame(bytes);
    Reader in = frame.reader();
    const auto got = in.get<Sharing>();
    REQUIRE(in.ok());
    CHECK(got.a == got.b);
    CHECK(*got.a == "both");
    CHECK(*got.number == 7);
    // A child knows its parent without owning it; an object that owns itself would never end.
    Parent parent{std::make_shared<Child>()};
    parent.child->brother = parent.child;
    const FrameOf family(written(parent));
    Reader reader = family.reader();
    const auto read = reader.get<Parent>();
    REQUIRE(reader.ok());
    CHECK(read.child->brother.lock() == read.child);
    CHECK(reads<Cycle>("01000080 00000000"));
    CHECK_FALSE(reads<Cycle>("01000080 01000000"));
    CHECK_FALSE(reads<Cycle>("01000080 01000080 00000000"));
    // The third pointer claims to own the string.
    CHECK_FALSE(reads<Sharing>("01000080 0400000000000000 626f7468 01000000 01000000"));
    CHECK_FALSE(reads<Sharing>("01000080 0400000000000000 626f7468 09000000 00000000"));
    CHECK(reads<Sharing>("01000080 0400000000000000 626f7468 01000000 00000000"));
}

TEST_CASE("objects of types that share a name are told apart in a process") {
    const auto here = [] {
        struct Same {};
        return plexus::detail::object_type<Same>();
    }();
    const auto there = [] {
        struct Same {};
        return plexus::detail::object_type<Same>();
    }();
    CHECK(here != there);
    CHECK(plexus::detail::object_type<Object>() == plexus::detail::object_type<Object>());
    CHECK(plexus::detail::object_type<plexus::detail::Writer>() !=
          plexus::detail::object_type<plexus::detail::Reader>());
}

} // namespace types_test
