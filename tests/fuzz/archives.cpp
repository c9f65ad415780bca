// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: the reader of arguments, of every kind of type: structs with padding and bools,
// views, containers, listed fields, serialize(), recursive and shared objects. The first byte
// chooses the type. What is read can be written, and what was written can be read.
#include "plexus/error.h"
#include "plexus/request.h"

#include <array>
#include <bitset>
#include <cereal/types/bitset.hpp>
#include <cereal/types/chrono.hpp>
#include <cereal/types/variant.hpp>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <valarray>
#include <variant>
#include <vector>

namespace {

using plexus::detail::Reader;
using plexus::detail::Writer;

enum class Switch : bool { off, on };
struct Sample {
    char tag;
    double value;
    bool set;
    std::uint16_t port;
};
struct Samples {
    Sample of[2];
    std::array<Sample, 2> more;
    Switch state;
    char name[5];
};
struct Point {
    std::int32_t x, y;
};
struct Report {
    std::string name;
    std::vector<Sample> samples;
    std::map<std::string, std::vector<std::optional<Samples>>> parts;
    std::tuple<bool, std::u16string, std::array<std::string, 2>> more;
};
PLEXUS_FIELDS(Report, name, samples, parts, more)
struct Tree {
    std::uint8_t value = 0;
    std::vector<Tree> branches;
    std::unique_ptr<Tree> next;
};
PLEXUS_FIELDS(Tree, value, branches, next)
struct Graph {
    std::shared_ptr<Graph> left, right;
    std::shared_ptr<std::string> text;
    std::shared_ptr<std::vector<std::uint32_t>> numbers;
};
PLEXUS_FIELDS(Graph, left, right, text, numbers)
struct Legacy {
    std::unordered_map<std::string, std::list<Report>> reports;
    std::vector<bool> bits;
    std::vector<Legacy> inner;
    std::variant<std::monostate, bool, std::string, Sample> either;
    std::bitset<70> set;
    template <class Archive>
    void serialize(Archive& archive) {
        archive(reports, bits, inner, CEREAL_NVP(either), set);
    }
};
PLEXUS_NAME(Legacy, "fuzz.legacy")

void require(bool holds) {
    if (!holds) std::abort();
}

template <class T>
std::vector<std::byte> bytes_of(const T& value) {
    Writer out(0);
    out.put(value);
    return out.bytes();
}

/// Every byte of it is there and is what it may be.
std::uint64_t look(const Sample& each) { return each.set + each.port + static_cast<unsigned char>(each.tag); }

template <class T>
void fuzz(Reader in) {
    const T value = in.get<T>();
    if (!in.ok()) {
        require(in.left() == 0);
        return;
    }
    const std::vector<std::byte> bytes = bytes_of(value);
    std::vector<std::uint64_t> words((bytes.size() + 7) / 8);
    if (!bytes.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
    Reader again(nullptr, reinterpret_cast<const std::byte*>(words.data()), bytes.size(), 0);
    static_cast<void>(again.get<T>());
    require(again.ok() && again.left() == 0);
}

void fuzz_views(Reader in) {
    std::uint64_t sum = 0;
    for (const Sample& each : in.get<std::span<const Sample>>()) sum += look(each);
    for (const Samples& each : in.get<std::span<const Samples>>())
        sum += look(each.of[1]) + look(each.more[0]) + (each.state == Switch::on);
    for (const bool each : in.get<std::span<const bool>>()) sum += each;
    for (const Point& each : in.get<std::span<const Point>>()) sum += static_cast<std::uint32_t>(each.x);
    for (const char each : in.get<std::string_view>()) sum += static_cast<unsigned char>(each);
    require(in.ok() || in.left() == 0);
    volatile std::uint64_t kept = sum;
    static_cast<void>(kept);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    // Frames are 8-byte aligned, and end where they end: a copy of exactly that size.
    std::vector<std::uint64_t> words((size + 6) / 8);
    auto* const bytes = reinterpret_cast<std::byte*>(words.data());
    if (size > 1) std::memcpy(bytes, data + 1, size - 1);
    const Reader in(nullptr, bytes, size - 1, 0);
    switch (data[0] % 16) {
    case 0:
        return fuzz_views(in), 0;
    case 1:
        return fuzz<Sample>(in), 0;
    case 2:
        return fuzz<Samples>(in), 0;
    case 3:
        return fuzz<std::vector<Samples>>(in), 0;
    case 4:
        return fuzz<Report>(in), 0;
    case 5:
        return fuzz<std::vector<Report>>(in), 0;
    case 6:
        return fuzz<Tree>(in), 0;
    case 7:
        return fuzz<Graph>(in), 0;
    case 8:
        return fuzz<Legacy>(in), 0;
    case 9:
        return fuzz<std::map<std::string, std::set<std::uint16_t>>>(in), 0;
    case 10:
        return fuzz<std::unordered_multimap<std::uint8_t, std::deque<std::string>>>(in), 0;
    case 11:
        return fuzz<std::forward_list<std::unordered_set<std::string>>>(in), 0;
    case 12:
        return fuzz<std::valarray<std::optional<std::pair<bool, std::string>>>>(in), 0;
    case 13:
        return fuzz<std::variant<std::monostate, Tree, std::vector<bool>>>(in), 0;
    case 14:
        return fuzz<std::vector<std::chrono::milliseconds>>(in), 0;
    default:
        return fuzz<std::vector<std::vector<Point>>>(in), 0;
    }
}
