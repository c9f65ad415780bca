// SPDX-License-Identifier: BSD-3-Clause
// Memory that says anything at all: it is refused in words, or read within what is there.
#include "counters/decode.h"
#include "tables.h"

#include "support/catch.h"

#include <cstddef>
#include <random>

namespace counters_hostile_test {

using namespace plexus;
using namespace plexus::counters;
using namespace plexus::testing;

namespace {

using Words = std::vector<std::uint64_t>;

Words good_words() {
    Area area = Area::create(some_label(), kSomeTables).value();
    {
        Sample sample(area);
        put_pair(sample, 7);
        sample.begin(1);
        if (sample.add_row()) sample.put("first").put(std::uint64_t{1});
    }
    return area.memory().copy().value();
}

/// What decode() says is bounded by the words, or it refuses with one of two statuses.
bool is_bounded(const Words& words) {
    const auto found = decode(words);
    if (!found) return found.status() == Status::bad_archive || found.status() == Status::unsupported;
    std::size_t values = 0;
    for (const CounterTable& table : found->tables)
        for (const auto& row : table.rows) {
            if (row.size() != table.columns.size()) return false;
            values += row.size();
        }
    return values <= words.size();
}

Status status_of(const Words& words) { return decode(words).status(); }
std::string why(const Words& words) { return decode(words).failure().why; }

constexpr std::size_t word_of(std::size_t offset) { return offset / 8; }

} // namespace

TEST_CASE("memory that is cut, or longer than it says, is refused") {
    const Words good = good_words();
    REQUIRE(status_of(good) == Status::ok);
    for (std::size_t size = 0; size < good.size(); ++size)
        CHECK(status_of(Words(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size))) ==
              Status::bad_archive);
    Words longer = good;
    longer.push_back(0);
    CHECK(status_of(longer) == Status::bad_archive);
    CHECK(why(longer).find(std::to_string(good.size())) != std::string::npos);
}

TEST_CASE("another major version is refused by its number, a newer minor one is read") {
    Words words = good_words();
    words[word_of(offsetof(Header, version))] = std::uint64_t{kMajor} << 32 | 9;
    CHECK(status_of(words) == Status::ok);
    words[word_of(offsetof(Header, version))] = std::uint64_t{kMajor + 1} << 32;
    CHECK(status_of(words) == Status::unsupported);
    CHECK(why(words).find("version 2.0") != std::string::npos);
    words[0] = 1;
    CHECK(status_of(words) == Status::bad_archive);
}

TEST_CASE("each word may be anything") {
    const Words good = good_words();
    const std::uint64_t size = good.size();
    for (std::size_t at = 0; at < good.size(); ++at)
        for (const std::uint64_t value :
             {std::uint64_t{0}, std::uint64_t{1}, size - 1, size, size + 1, std::uint64_t{1} << 31,
              std::uint64_t{1} << 61, std::uint64_t{UINT64_MAX}, good[at] + 1, good[at] - 1,
              good[at] << 32 | UINT32_MAX, (size << 32) | 8, std::uint64_t{UINT64_MAX} << 32 | 1}) {
            Words words = good;
            words[at] = value;
            CAPTURE(at, value);
            if (!is_bounded(words)) FAIL_CHECK("not bounded");
        }
}

TEST_CASE("random words behind a good beginning are read within what is there") {
    const std::uint32_t seed = std::random_device{}();
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const Words good = good_words();
    for (int round = 0; round < 20'000; ++round) {
        Words words = good;
        const std::size_t changes = random() % 8 + 1;
        for (std::size_t i = 0; i < changes; ++i) {
            const std::size_t at = random() % words.size();
            // Small numbers lead further than large ones, which are refused at once.
            words[at] = random() % 3 == 0   ? random()
                        : random() % 3 == 0 ? words[random() % words.size()]
                                            : random() % (2 * words.size());
        }
        words[word_of(offsetof(Header, magic))] = kMagic;
        words[word_of(offsetof(Header, words))] = words.size();
        if (!is_bounded(words)) FAIL("not bounded in round " << round);
    }
    for (int round = 0; round < 2000; ++round) {
        Words words(kHeaderWords + random() % 100);
        for (std::uint64_t& word : words) word = random() % 2 == 0 ? random() : random() % words.size();
        words[word_of(offsetof(Header, magic))] = kMagic;
        words[word_of(offsetof(Header, version))] = std::uint64_t{kMajor} << 32;
        words[word_of(offsetof(Header, words))] = words.size();
        if (!is_bounded(words)) FAIL("not bounded in round " << round);
    }
}

TEST_CASE("a table without room for its rows, of another width than its columns, or named twice is refused") {
    Words words = good_words();
    const std::size_t table = words[word_of(offsetof(Header, tables))];
    const auto part = [&](std::size_t offset) -> std::uint64_t& { return words[table + word_of(offset)]; };
    SECTION("it has more rows than there is room for") {
        part(offsetof(TableWords, row_count)) = part(offsetof(TableWords, capacity)) + 1;
        CHECK(why(words) == "the table pair has rows outside of the memory");
    }
    SECTION("its rows are wider") {
        ++part(offsetof(TableWords, row_words));
        CHECK(why(words) == "the table pair has rows of another width than its columns");
    }
    SECTION("two columns have one name") {
        const std::size_t column = part(offsetof(TableWords, columns));
        words[column + kColumnWords] = words[column];
        CHECK(why(words) == "the table pair has two columns of one name");
    }
    SECTION("two tables have one name") {
        words[table + kTableWords] = words[table];
        CHECK(why(words) == "two tables have the name pair");
    }
}

TEST_CASE("tables that share their rows make no more values than there are words") {
    // Sixteen tables, all of which have all of the memory as their rows.
    Words words = good_words();
    const std::size_t tables = words.size();
    const std::uint64_t columns = words[words[word_of(offsetof(Header, tables))] + 2];
    std::vector<std::uint64_t> names;
    words.resize(tables + 16 * kTableWords + 16);
    for (std::size_t i = 0; i < 16; ++i) {
        const std::size_t name = tables + 16 * kTableWords + i;
        words[name] = 'a' + i;
        const std::uint64_t text = text_at(name, 1);
        const std::uint64_t rows = words.size() / 2;
        const std::uint64_t part[]{text, text, columns, 2, 0, 2, rows, rows, 0};
        std::copy(std::begin(part), std::end(part),
                  words.begin() + static_cast<std::ptrdiff_t>(tables + i * kTableWords));
    }
    words[word_of(offsetof(Header, words))] = words.size();
    words[word_of(offsetof(Header, tables))] = tables;
    words[word_of(offsetof(Header, table_count))] = 1;
    CHECK(status_of(words) == Status::ok); // one may
    words[word_of(offsetof(Header, table_count))] = 16;
    CHECK(status_of(words) == Status::bad_archive);
    CHECK(why(words).find("others'") != std::string::npos);
}

} // namespace counters_hostile_test
