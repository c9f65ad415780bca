// SPDX-License-Identifier: BSD-3-Clause
// Archives that lie: lengths that nothing follows take no memory, values that hold each other
// without end take no stack, and memory at odd addresses is not viewed.
#include "frame_of.h"
#include "heap.h"
#include "plexus/error.h"
#include "plexus/request.h"
#include "support/catch.h"

#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <valarray>

namespace hostile_test {

using namespace plexus::testing;
using plexus::detail::kMostLevels;
using plexus::detail::Reader;
using plexus::detail::Writer;
using plexus::wire::Bytes;

namespace {

/// Of 256 bytes in memory and as few as one on the wire.
struct Large {
    std::optional<std::array<double, 31>> values;
    std::uint8_t number = 0;
};
static_assert(sizeof(Large) >= 256);
PLEXUS_FIELDS(Large, values)
struct Archived {
    std::array<std::uint64_t, 32> words{};
    std::string text;
    template <class Archive>
    void serialize(Archive& archive) {
        archive(text);
    }
};
PLEXUS_NAME(Archived, "hostile.archived")
struct Plain {
    std::uint64_t words[32];
};
struct List {
    std::uint8_t value = 0;
    std::unique_ptr<List> next;
};
PLEXUS_FIELDS(List, value, next)
struct Tree {
    std::vector<Tree> branches;
    template <class Archive>
    void serialize(Archive& archive) {
        archive(branches);
    }
};
PLEXUS_NAME(Tree, "hostile.tree")
struct Owners {
    std::shared_ptr<Owners> next;
};
PLEXUS_FIELDS(Owners, next)

/// A count of `size` - 8, and as many bytes of `fill`.
Bytes claim(std::size_t size, std::byte fill) {
    Bytes bytes(size, fill);
    const std::uint64_t count = size - 8;
    std::memcpy(bytes.data(), &count, sizeof count);
    return bytes;
}

/// Reads what is cut off after some elements: the count is as large as the rest allows.
template <class T>
std::size_t memory_for(const Bytes& bytes) {
    const FrameOf frame(bytes);
    Reader in = frame.reader();
    largest_allocation() = 0;
    static_cast<void>(in.get<T>());
    CHECK_FALSE(in.ok());
    return largest_allocation();
}

std::unique_ptr<List> list_of(int length) {
    std::unique_ptr<List> list;
    for (int i = 0; i < length; ++i) {
        auto front = std::make_unique<List>();
        front->next = std::move(list);
        list = std::move(front);
    }
    return list;
}

template <class T>
bool reads_bytes(const Bytes& bytes) {
    const FrameOf frame(bytes);
    Reader in = frame.reader();
    static_cast<void>(in.get<T>());
    return in.ok();
}

} // namespace

TEST_CASE("an announced length takes no more memory than the message has bytes") {
    // 0xff: no bool, no valid count: the first element ends the archive.
    const std::size_t size = std::size_t{1} << 20;
    const Bytes bytes = claim(size, std::byte{0xff});
    const std::size_t most = size + 4096;
    CHECK(memory_for<std::vector<Large>>(bytes) < most);
    CHECK(memory_for<std::vector<Archived>>(bytes) < most);
    CHECK(memory_for<std::vector<Plain>>(bytes) < most);
    CHECK(memory_for<std::vector<std::string>>(bytes) < most);
    CHECK(memory_for<std::vector<std::vector<Large>>>(bytes) < most);
    CHECK(memory_for<std::deque<Large>>(bytes) < most);
    CHECK(memory_for<std::list<Large>>(bytes) < most);
    CHECK(memory_for<std::forward_list<Large>>(bytes) < most);
    CHECK(memory_for<std::valarray<std::string>>(bytes) < most);
    CHECK(memory_for<std::unordered_map<std::string, Large>>(bytes) < most);
    CHECK(memory_for<std::unordered_set<std::string>>(bytes) < most);
    CHECK(memory_for<std::unordered_multimap<std::string, int>>(bytes) < most);
    CHECK(memory_for<std::u32string>(bytes) < most);
    CHECK(memory_for<std::optional<std::u32string>>(claim(size, std::byte{0})) < most);
    CHECK(memory_for<std::vector<bool>>(bytes) < most);
}

TEST_CASE("elements are kept as they come, up to the one that is cut off") {
    Bytes bytes = written(std::vector<Large>(1000));
    CHECK(bytes.size() == 1008);
    CHECK(reads_bytes<std::vector<Large>>(bytes));
    bytes.pop_back();
    CHECK_FALSE(reads_bytes<std::vector<Large>>(bytes));
}

TEST_CASE("a list that goes on for ten million elements is refused, and takes no stack") {
    CHECK_FALSE(reads_bytes<std::unique_ptr<List>>(Bytes(20'000'000, std::byte{1})));
    CHECK_FALSE(reads_bytes<List>(Bytes(20'000'000, std::byte{1})));
    // Each branch has one branch.
    Bytes branches(8'000'000);
    for (std::size_t i = 0; i < branches.size(); i += 8) branches[i] = std::byte{1};
    CHECK_FALSE(reads_bytes<Tree>(branches));
    CHECK_FALSE(reads_bytes<std::vector<Tree>>(branches));
    Bytes owners(8'000'000);
    for (std::size_t i = 0; i < owners.size(); i += 4) {
        owners[i] = std::byte{static_cast<unsigned char>(i / 4)};
        owners[i + 3] = std::byte{0x80};
    }
    CHECK_FALSE(reads_bytes<Owners>(owners));
}

TEST_CASE("as many levels as there may be arrive; one more is refused where it is sent") {
    const std::unique_ptr<List> longest = list_of(kMostLevels);
    const FrameOf frame(written(longest));
    Reader in = frame.reader();
    const auto got = in.get<std::unique_ptr<List>>();
    CHECK(in.ok());
    int length = 0;
    for (const List* at = got.get(); at != nullptr; at = at->next.get()) ++length;
    CHECK(length == kMostLevels);

    const std::unique_ptr<List> longer = list_of(kMostLevels + 1);
    Writer writer(0);
    CHECK_THROWS_WITH(writer.put(longer), Catch::Contains("500 levels") && Catch::Contains("std::vector"));
    // What that would have been: one more node in front.
    Bytes bytes = written(longest);
    bytes.insert(bytes.begin(), {std::byte{1}, std::byte{0}});
    CHECK_FALSE(reads_bytes<std::unique_ptr<List>>(bytes));
    Tree tree;
    for (int i = 1; i < kMostLevels; ++i) {
        Tree outer;
        outer.branches.push_back(std::move(tree));
        tree = std::move(outer);
    }
    CHECK(reads_bytes<Tree>(written(tree)));
    std::vector<Tree> one_more;
    one_more.push_back({});
    one_more[0].branches.push_back(std::move(tree));
    CHECK_THROWS_AS(written(one_more), plexus::Error);
}

TEST_CASE("levels are counted down again: long is not deep") {
    std::vector<std::unique_ptr<List>> many;
    for (int i = 0; i < 3 * kMostLevels; ++i) many.push_back(list_of(2));
    CHECK(reads_bytes<std::vector<std::unique_ptr<List>>>(written(many)));
}

TEST_CASE("a frame at an odd address is not viewed") {
    alignas(8) std::byte memory[32]{};
    const std::uint64_t count = 1;
    for (const std::size_t shift : {0u, 1u, 4u}) {
        CAPTURE(shift);
        std::memcpy(memory + shift, &count, sizeof count);
        Reader views(nullptr, memory + shift, 16, 0);
        CHECK(views.get<std::span<const double>>().size() == (shift == 0 ? 1u : 0u));
        CHECK(views.ok() == (shift == 0));
        Reader vectors(nullptr, memory + shift, 16, 0);
        CHECK(vectors.get<std::vector<double>>().size() == (shift == 0 ? 1u : 0u));
        Reader texts(nullptr, memory + shift, 16, 0);
        CHECK(texts.get<std::string_view>().size() == 1);
        CHECK(texts.ok());
        std::memset(memory, 0, sizeof memory);
    }
}

TEST_CASE("counts that overflow are refused for every kind of container") {
    for (const char* count :
         {"ffffffffffffffff", "0000000000000080", "0100000000000001", "1100000000000000"}) {
        CAPTURE(count);
        const Bytes bytes = bytes_of(std::string(count) + "00000000000000000000000000000000");
        CHECK_FALSE(reads_bytes<std::vector<Plain>>(bytes));
        CHECK_FALSE(reads_bytes<std::vector<std::vector<Plain>>>(bytes));
        CHECK_FALSE(reads_bytes<std::u16string>(bytes));
        CHECK_FALSE(reads_bytes<std::list<std::uint8_t>>(bytes));
        CHECK_FALSE(reads_bytes<std::map<std::uint8_t, std::uint8_t>>(bytes));
        CHECK_FALSE(reads_bytes<std::unordered_set<std::uint8_t>>(bytes));
        CHECK_FALSE(reads_bytes<std::span<const Plain>>(bytes));
        CHECK_FALSE(reads_bytes<std::vector<bool>>(bytes));
        CHECK_FALSE(reads_bytes<std::valarray<std::uint8_t>>(bytes));
    }
}

} // namespace hostile_test
