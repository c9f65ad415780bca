// SPDX-License-Identifier: BSD-3-Clause
#include "common/values.h"

#include "support/catch.h"

#include <cstring>
#include <map>

namespace values_test {

using namespace plexus::module;
using plexus::size_in;
using namespace std::chrono_literals;

namespace {

using Settings = std::map<std::string, std::string>;

/// What a module reads its parameters from.
struct Given {
    explicit Given(Settings values)
      : settings(std::move(values)) {
        table.self = this;
        table.setting = [](void* self, const char* key, plexus_text* value) {
            const auto& all = static_cast<Given*>(self)->settings;
            const auto found = all.find(key);
            if (found == all.end()) return std::int32_t{PLEXUS_BAD_ARGUMENT};
            value->size = found->second.copy(value->data, value->capacity);
            return std::int32_t{PLEXUS_OK};
        };
        table.log = [](void* self, plexus_level, const char* line) {
            static_cast<Given*>(self)->lines.emplace_back(line);
        };
    }
    Settings settings;
    std::vector<std::string> lines;
    plexus_host table{};
};

} // namespace

TEST_CASE("a parameter may be the least and the most that is allowed, and nothing beyond") {
    for (const auto& [text, good] : {std::pair{"3", false}, {"4", true}, {"8", true}, {"9", false}}) {
        CAPTURE(text);
        Given given(Settings{{"queue", text}});
        Parameters parameters(given.table);
        const std::uint64_t value = parameters.size("queue", 4, 8);
        CHECK(parameters.failed() != good);
        CHECK(value == (good ? *size_in(text) : 4));
        CHECK(given.lines.size() == (good ? 0 : 1));
        Parameters counts(given.table);
        (void)counts.count("queue", 4, 8);
        CHECK(counts.failed() != good);
    }
}

TEST_CASE("what is no duration or no truth is refused in words") {
    Given given(Settings{{"linger", "soon"}, {"nodelay", "perhaps"}});
    Parameters parameters(given.table);
    CHECK(parameters.duration("linger").count() == 0);
    CHECK(parameters.failed());
    Parameters others(given.table);
    CHECK_FALSE(others.boolean("nodelay"));
    CHECK(others.failed());
    REQUIRE(given.lines.size() == 2);
    CHECK(given.lines[0].find("linger = \"soon\" is not a duration") == 0);
}

TEST_CASE("a parameter that is fixed when the module opens is told apart from one that there is none of") {
    Given given(Settings{{"queue", "1 MiB"}});
    char room[128];
    plexus_text why{room, sizeof room, 0};
    CHECK(set_at_open_only(given.table, "queue", why) == PLEXUS_UNSUPPORTED);
    CHECK(std::string(room, why.size).find("when the context starts") != std::string::npos);
    CHECK(set_at_open_only(given.table, "quue", why) == PLEXUS_BAD_ARGUMENT);
    CHECK(std::string(room, why.size).find("no such parameter") != std::string::npos);
}

TEST_CASE("sizes and durations are read with and without their units") {
    CHECK(size_in("4 MiB") == 4u << 20);
    CHECK(size_in("4MiB") == 4u << 20);
    CHECK(size_in(" 512 ") == 512u);
    CHECK(size_in("0") == 0u);
    CHECK(size_in("1.5 MiB") == 3u << 19);
    CHECK(parse_duration("50 us") == 50us);
    CHECK(parse_duration("3s") == 3s);
    CHECK(parse_duration("50000 ns") == 50us);
    CHECK(split_list(" a, ,b ,") == std::vector<std::string>{"a", "b"});
}

TEST_CASE("what is no number, too large, or of another unit is not guessed at") {
    for (const char* text :
         {"", "MiB", "4 Mb/s", "-1", "1.5", "4 s", "18446744073709551616", "99999999999 GiB"})
        CHECK_FALSE(size_in(text));
    for (const char* text : {"", "5 KiB", "-1 s", "9999999999999 min", "10000000000 s"})
        CHECK_FALSE(parse_duration(text));
    CHECK_FALSE(parse_bool("yes"));
    CHECK_FALSE(parse_count("4 B"));
}

} // namespace values_test
