// SPDX-License-Identifier: BSD-3-Clause
// Every kind of type that a request can take, with its identity and a sample in hexadecimal.
//   kinds          prints a line "name|identity|hash|bytes" for each
//   kinds FILE     reads the lines of another program: the identities are the same, and every
//                  sample decodes to the value that was written, whoever wrote it
// Built with several compilers and standard libraries by compare.sh; needs writer.cpp only.
#include "plexus/error.h"
#include "plexus/request.h"

#include <bitset>
#include <cereal/types/bitset.hpp>
#include <cereal/types/chrono.hpp>
#include <cereal/types/complex.hpp>
#include <cereal/types/memory.hpp>
#include <cereal/types/queue.hpp>
#include <cereal/types/stack.hpp>
#include <cereal/types/variant.hpp>
#include <cinttypes>
#include <complex>
#include <cstdio>
#include <deque>
#include <forward_list>
#include <fstream>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <stack>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <valarray>
#include <variant>
#include <vector>

namespace plexus {
// The library's own is not linked: it was built by one compiler.
const std::error_category& error_category() noexcept { return std::generic_category(); }
} // namespace plexus

namespace {

using plexus::detail::Reader;
using plexus::detail::Writer;

enum class Colour : std::uint16_t { red = 1, blue = 0x0203 };
enum Old { first, second };
enum class Marked : std::int8_t { low = -5 };
PLEXUS_NAME(Marked, "test.marked")

struct Empty {
    bool operator==(const Empty&) const = default;
};
struct Point {
    std::int32_t x, y;
    bool operator==(const Point&) const = default;
};
struct Padded {
    char tag;
    double value;
    bool set;
    std::uint16_t port;
    bool operator==(const Padded&) const = default;
};
struct Nested {
    Padded inner[2];
    std::array<Point, 3> points;
    Colour colour;
    char name[20];
    long count;
    unsigned long long large;
    bool operator==(const Nested&) const = default;
};
template <class T>
struct Pair {
    T first;
    T second;
    bool operator==(const Pair&) const = default;
};
struct Ordered {
    std::int32_t y, x;
    bool operator==(const Ordered&) const = default;
};
PLEXUS_FIELDS(Ordered, y, x)
struct Unit {
    std::int32_t value;
    bool operator==(const Unit&) const = default;
};
PLEXUS_NAME(Unit, "test.unit/2")

class Version {
  public:
    Version() = default;
    Version(int major, std::string text)
      : major_(major)
      , text_(std::move(text)) {}
    bool operator==(const Version&) const = default;

  private:
    int major_ = 0;
    std::string text_;
    friend PLEXUS_FIELDS(Version, major_, text_)
};
template <class T>
struct Grid {
    std::vector<T> cells;
    std::map<std::string, T> named;
    bool operator==(const Grid&) const = default;
    friend PLEXUS_FIELDS(Grid, cells, named)
};
struct Tree {
    int value = 0;
    std::vector<Tree> branches;
    std::unique_ptr<Tree> next;
    bool operator==(const Tree& other) const {
        return value == other.value && branches == other.branches && !next == !other.next &&
               (!next || *next == *other.next);
    }
};
PLEXUS_FIELDS(Tree, value, branches, next)
struct Legacy {
    std::string name;
    std::vector<bool> bits;
    std::uint32_t added = 7;
    bool operator==(const Legacy&) const = default;
    template <class Archive>
    void serialize(Archive& archive, std::uint32_t version) {
        archive(CEREAL_NVP(name), bits);
        if (version >= 3) archive& added;
    }
};
PLEXUS_NAME(Legacy, "test.legacy")

struct Program {
    std::ifstream other;
    int wrong = 0;

    template <class T, class Same = std::equal_to<>>
    void sample(const char* name, const T& value, Same same = {}) {
        using Text = plexus::detail::Signature<void, T>;
        Writer writer(0);
        writer.put(value);
        const std::vector<std::byte> bytes = writer.bytes();
        if (!other.is_open()) {
            std::printf("%s|%.*s|%016" PRIx64 "|", name, static_cast<int>(Text::text().size()),
                        Text::text().data(), Text::hash());
            for (const std::byte each : bytes) std::printf("%02x", std::to_integer<unsigned>(each));
            std::printf("\n");
            return;
        }
        std::string line;
        std::getline(other, line);
        const std::string wanted = std::string(name) + "|" + std::string(Text::text()) + "|";
        const bool identity = line.starts_with(wanted);
        const std::string hex = line.substr(line.rfind('|') + 1);
        std::vector<std::uint64_t> words(hex.size() / 16 + 1);
        auto* const into = reinterpret_cast<std::byte*>(words.data());
        for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
            into[i / 2] = static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16));
        Reader in(nullptr, into, hex.size() / 2, 0);
        const T got = in.get<T>();
        if (identity && in.ok() && in.left() == 0 && same(got, value)) return;
        std::printf("%s: %s\n  here  %s\n  there %s\n", name, identity ? "another value" : "another identity",
                    wanted.c_str(), line.c_str());
        ++wrong;
    }
};

void numbers(Program& p) {
    p.sample("bool", true);
    p.sample("char", 'c');
    p.sample("schar", static_cast<signed char>(-2));
    p.sample("uchar", static_cast<unsigned char>(200));
    p.sample("char8", u8'a');
    p.sample("char16", u'b');
    p.sample("char32", U'c');
    p.sample("wchar", L'd');
    p.sample("byte", std::byte{9});
    p.sample("short", static_cast<short>(-300));
    p.sample("int", -70'000);
    p.sample("unsigned", 4'000'000'000u);
    p.sample("long", -5'000'000'000l);
    p.sample("long long", -5'000'000'000ll);
    p.sample("unsigned long", 5'000'000'000ul);
    p.sample("unsigned long long", 5'000'000'000ull);
    p.sample("float", 1.5f);
    p.sample("double", -2.25);
    p.sample("enum class", Colour::blue);
    p.sample("enum", second);
    p.sample("named enum", Marked::low);
}

void containers(Program& p) {
    p.sample("string", std::string("text"));
    p.sample("u16string", std::u16string(u"text"));
    p.sample("vector", std::vector<double>{1, 2});
    p.sample("vector long", std::vector<long>{1, 2});
    p.sample("vector long long", std::vector<long long>{1, 2});
    p.sample("vector bool", std::vector<bool>{true, false, true});
    p.sample("vector string", std::vector<std::string>{"a", "", "bc"});
    p.sample("vector vector", std::vector<std::vector<std::int16_t>>{{1}, {}, {2, 3}});
    p.sample("vector padded", std::vector<Padded>{{'a', 1, true, 2}, {'b', 3, false, 4}});
    p.sample("list", std::list<double>{1, 2});
    p.sample("deque", std::deque<double>{1, 2});
    p.sample("forward_list", std::forward_list<std::string>{"a", "b"});
    p.sample("valarray", std::valarray<float>{1, 2},
             [](const auto& a, const auto& b) { return a.size() == b.size() && (a == b).min(); });
    p.sample("array", std::array<std::int32_t, 3>{1, 2, 3});
    p.sample("array string", std::array<std::string, 2>{"a", "b"});
    p.sample("map", std::map<std::string, int>{{"a", 1}, {"b", 2}});
    p.sample("unordered_map", std::unordered_map<std::string, int>{{"a", 1}});
    p.sample("multimap", std::multimap<int, std::string>{{1, "a"}, {1, "b"}});
    p.sample("unordered_multimap", std::unordered_multimap<int, std::string>{{1, "a"}});
    p.sample("set", std::set<int>{1, 2});
    p.sample("unordered_set", std::unordered_set<std::string>{"a"});
    p.sample("multiset", std::multiset<int>{1, 1});
    p.sample("unordered_multiset", std::unordered_multiset<int>{1, 1});
    p.sample("stack", std::stack<int>(std::deque<int>{1, 2}));
    p.sample("map of vectors", std::map<std::string, std::vector<std::optional<int>>>{{"a", {1, {}, 3}}});
}

void others(Program& p) {
    using namespace std::chrono;
    p.sample("pair", std::pair<int, std::string>{1, "a"});
    p.sample("tuple", std::tuple<int, std::string, double>{1, "a", 2});
    p.sample("optional", std::optional<std::string>{"a"});
    p.sample("optional none", std::optional<std::string>{});
    p.sample("variant", std::variant<int, std::string, std::monostate>{"a"});
    p.sample("monostate", std::variant<std::monostate, int>{});
    const auto same_pointee = [](const auto& a, const auto& b) { return !a == !b && (!a || *a == *b); };
    p.sample("unique_ptr", std::make_unique<std::string>("a"), same_pointee);
    p.sample("unique_ptr none", std::unique_ptr<std::string>{}, same_pointee);
    p.sample("shared_ptr", std::make_shared<std::string>("a"), same_pointee);
    p.sample("seconds", seconds(5));
    p.sample("nanoseconds", nanoseconds(5));
    p.sample("double minutes", duration<double, std::ratio<60>>(1.5));
    p.sample("time", time_point<system_clock, milliseconds>(milliseconds(1234)));
    p.sample("vector seconds", std::vector<seconds>{seconds(1), seconds(2)});
    p.sample("complex", std::complex<double>(1, -2));
    p.sample("vector complex", std::vector<std::complex<float>>{{1, -2}, {3, 4}});
    p.sample("bitset", std::bitset<13>(0x1234));
}

void own_types(Program& p) {
    p.sample("empty", Empty{});
    p.sample("point", Point{1, -2});
    p.sample("padded", Padded{'a', 1.5, true, 2});
    p.sample(
        "nested",
        Nested{
            {{'a', 1, true, 2}, {'b', 3, false, 4}}, {{{1, 2}, {3, 4}, {5, 6}}}, Colour::red, "name", -1, 2});
    p.sample("template", Pair<std::int64_t>{1, 2});
    p.sample("template of template", Pair<Pair<float>>{{1, 2}, {3, 4}});
    p.sample("listed plain", Ordered{1, 2});
    p.sample("named plain", Unit{3});
    p.sample("private fields", Version(3, "three"));
    p.sample("listed template", Grid<double>{{1, 2}, {{"a", 3}}});
    Tree tree{1, {}, nullptr};
    tree.branches.push_back({2, {}, std::make_unique<Tree>()});
    p.sample("recursive", tree, [](const Tree& a, const Tree& b) { return a == b; });
    p.sample("serialize", Legacy{"a", {true, false}, 9});
    p.sample("vector of serialize", std::vector<Legacy>{{"a", {true}, 9}, {"b", {}, 10}});
    struct Local {
        std::uint8_t a;
        double b;
        bool operator==(const Local&) const = default;
    };
    p.sample("local", Local{1, 2});
    p.sample("vector local", std::vector<Local>{{1, 2}, {3, 4}});
}

} // namespace

CEREAL_CLASS_VERSION(Legacy, 3)

int main(int argc, char** argv) {
    Program program;
    if (argc > 1) {
        program.other.open(argv[1]);
        if (!program.other.is_open()) return 2;
    }
    numbers(program);
    containers(program);
    others(program);
    own_types(program);
    return program.wrong == 0 ? 0 : 1;
}
