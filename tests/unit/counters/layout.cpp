// SPDX-License-Identifier: BSD-3-Clause
// What is written into a context's memory is what a reader finds, with all that describes it.
#include "counters/decode.h"
#include "counters/question.h"
#include "tables.h"

#include "support/catch.h"

namespace counters_layout_test {

using namespace plexus;
using namespace plexus::counters;
using namespace plexus::testing;

namespace {

Decoded decoded(const Area& area) { return decode(area.memory().copy().value()).value(); }

} // namespace

TEST_CASE("a reader finds who the context is, and which tables it has, before any sample") {
    const ContextLabel label = some_label();
    const Area area = Area::create(label, kSomeTables).value();
    const Decoded found = decoded(area);
    CHECK(found.label.id == label.id);
    CHECK(found.label.process == label.process);
    CHECK(found.label.program == "tests");
    CHECK(found.label.name == "ocean");
    CHECK(found.label.job == "job 7");
    CHECK(found.label.rank == 3);
    CHECK(found.label.size == 8);
    CHECK(found.label.started - label.started < std::chrono::microseconds(1));
    CHECK(found.sampled_at == std::chrono::system_clock::time_point());
    REQUIRE(found.tables.size() == 2);
    CHECK(found.tables[0].name == "pair");
    CHECK(found.tables[1].help == "Ways");
    REQUIRE(found.tables[1].columns.size() == 2);
    CHECK(found.tables[1].columns[0].kind == CounterKind::text);
    CHECK(found.tables[1].columns[1].name == "cost_seconds");
    CHECK(found.tables[1].columns[1].help == "A time");
    CHECK(found.tables[1].columns[1].divisor == 1000);
    CHECK(found.tables[0].rows.empty());
    CHECK(found.tables[1].rows.empty());
}

TEST_CASE("rows are those of the last sample, and rows without room are counted") {
    Area area = Area::create(some_label(), kSomeTables).value();
    for (const std::size_t count : {3, 5, 1}) {
        {
            Sample sample(area);
            sample.begin(1);
            for (std::size_t i = 0; i < count; ++i)
                if (sample.add_row()) sample.put("way " + std::to_string(i)).put(i * 10);
            put_pair(sample, count);
        }
        const Decoded found = decoded(area);
        const CounterTable& ways = found.tables[1];
        CAPTURE(count);
        REQUIRE(ways.rows.size() == std::min<std::size_t>(count, 3));
        CHECK(ways.left_out == count - ways.rows.size());
        CHECK(ways.rows.back()[0].text == "way " + std::to_string(ways.rows.size() - 1));
        CHECK(ways.rows.back()[1].number == (ways.rows.size() - 1) * 10);
        REQUIRE(found.tables[0].rows.size() == 1);
        CHECK(found.tables[0].rows[0][1].number == count);
        CHECK(found.sampled_at > std::chrono::system_clock::time_point());
        CHECK(area.header().sequence.load() % 2 == 0);
    }
}

TEST_CASE("a sample is not taken while it is written") {
    Area area = Area::create(some_label(), kSomeTables).value();
    {
        Sample sample(area);
        put_pair(sample, 1);
        CHECK(take(area.memory(), Clock::now()).status() == Status::timed_out);
    }
    CHECK(take(area.memory(), Clock::now()));
}

TEST_CASE("a text that is too long is cut between two characters, and one that fits is whole") {
    Area area = Area::create(some_label(), kSomeTables).value();
    const auto stored = [&](std::string_view text) {
        {
            Sample sample(area);
            sample.begin(1);
            if (sample.add_row()) sample.put(text).put(std::uint64_t{0});
        }
        return decoded(area).tables[1].rows[0][0].text;
    };
    CHECK(stored("").empty());
    CHECK(stored("0123456789abcdef") == "0123456789abcdef"); // all of its two words
    CHECK(stored("01234567") == "01234567");                 // nothing of the earlier one is left
    CHECK(stored("short") == "short");
    CHECK(stored("0123456789abcdefg") == "0123456789abcdef");
    CHECK(stored("0123456789abcde\xc3\xa9") == "0123456789abcde"); // é would be cut in two
}

} // namespace counters_layout_test
