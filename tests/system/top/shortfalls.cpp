// SPDX-License-Identifier: BSD-3-Clause
// What `plexus top` cannot show, it says: rows without room, memory of another version, samples of an earlier
// time. The contexts are this test's own.
#include "counters/publisher.h"
#include "support/catch.h"
#include "system/tools/json_text.h"
#include "system/top/exposition.h"
#include "system/top/words.h"

#include <cstddef>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace top_shortfalls_test {

using namespace plexus;
using namespace plexus::testing;

namespace {

constexpr counters::ColumnSpec kColumns[]{{"number", CounterKind::gauge, "A number"}};
constexpr counters::TableSpec kTables[]{{"small", "A table with room for one row", kColumns, 1}};

std::unique_ptr<counters::Publisher> publish_two_rows() {
    ContextLabel label;
    label.process = ::getpid();
    label.program = "shortfalls";
    label.started = std::chrono::system_clock::now();
    return counters::Publisher::start(label, kTables,
                                      [](counters::Sample& sample) {
                                          sample.begin(0);
                                          for (std::uint64_t i = 0; i < 2; ++i)
                                              if (sample.add_row()) sample.put(i);
                                      })
        .value();
}

const std::string kSelf = std::to_string(::getpid());

} // namespace

TEST_CASE("rows for which a context has no room are counted for Prometheus, too") {
    const auto publisher = publish_two_rows();
    std::string why;
    const auto all = read_exposition(look({"--prometheus", kSelf}), why);
    INFO(why);
    REQUIRE(all);
    REQUIRE(all->contains("plexus_context_left_out_rows"));
    const auto& values = all->at("plexus_context_left_out_rows").values;
    REQUIRE(values.size() == 1);
    CHECK(values.begin()->first.at("table") == "small");
    CHECK(values.begin()->second == 1);
}

TEST_CASE("JSON says of which time the counters are") {
    const auto publisher = publish_two_rows();
    const std::vector<std::string> contexts = contexts_in(look_json(kSelf));
    REQUIRE(contexts.size() == 1);
    const auto age = number_of(contexts[0], "sample_age_seconds");
    REQUIRE(age);
    CHECK(*age >= 0);
    CHECK(*age < 10);
}

TEST_CASE("a context that can't be read is told of beside what Prometheus reads") {
    const auto publisher = publish_two_rows();
    const UniqueFd newer(::memfd_create(counters::kLabel, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    REQUIRE(::ftruncate(newer.get(), 4096) == 0);
    const std::uint64_t version = std::uint64_t{counters::kMajor + 1} << 32;
    REQUIRE(::pwrite(newer.get(), &version, sizeof version, offsetof(counters::Header, version)) ==
            sizeof version);
    REQUIRE(::pwrite(newer.get(), &counters::kMagic, sizeof counters::kMagic, 0) == sizeof counters::kMagic);
    REQUIRE(::fcntl(newer.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
    Command tool({"top", "--prometheus"});
    CHECK(tool.wait() == 0);
    CHECK(tool.out().find("process=\"" + kSelf + "\"") != std::string::npos); // the other is shown
    CHECK(count_of(tool.err(), "plexus top: not shown: process " + kSelf +
                                   ": its counters have version 2.0, and version 1 is known here\n") == 1);
}

TEST_CASE("a job of an odd name is refused with no control characters") {
    Command tool({"top", "--once", "job\x1b[31m"});
    CHECK(tool.wait() == 1);
    CHECK(tool.err().find('\x1b') == std::string::npos);
    CHECK(tool.err().find("no context of a job \"job") != std::string::npos);
}

} // namespace top_shortfalls_test
