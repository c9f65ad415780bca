// SPDX-License-Identifier: BSD-3-Clause
// Filters and sinks of the log.
#include "base/log.h"

#include "base/log_names.h"
#include "base/unique_fd.h"
#include "support/catch.h"
#include "support/log_guard.h"
#include "support/process.h"

#include <array>
#include <unistd.h>

namespace log_test {

using namespace plexus;
using log::Level;

namespace {

// Restores the filter that tests run with.
struct FilterScope {
    explicit FilterScope(std::string_view filter) { log::set_filter(filter).value(); }
    ~FilterScope() { static_cast<void>(log::set_filter("warn")); }
};

} // namespace

TEST_CASE("a filter has a common level and levels of subsystems") {
    FilterScope scope("info,transport=debug,poll=off");
    CHECK(log::enabled(Level::info, "wire"));
    CHECK_FALSE(log::enabled(Level::debug, "wire"));
    CHECK(log::enabled(Level::debug, "transport"));
    CHECK_FALSE(log::enabled(Level::trace, "transport"));
    CHECK_FALSE(log::enabled(Level::error, "poll"));
}

TEST_CASE("a subsystem may say more than the common level") {
    FilterScope scope("off,transport=trace");
    CHECK(log::enabled(Level::trace, "transport"));
    CHECK_FALSE(log::enabled(Level::error, "wire"));
}

TEST_CASE("a filter that is none is refused and changes nothing") {
    FilterScope scope("error");
    const auto refused = log::set_filter("loud");
    REQUIRE(refused.status() == Status::bad_config);
    CHECK(refused.failure().why == "\"loud\" is no log level: use trace, debug, info, warn, error or off");
    CHECK_FALSE(log::set_filter("warn,transport=loud"));
    CHECK_FALSE(log::enabled(Level::warn, "transport"));
    CHECK(log::enabled(Level::error, "transport"));
}

TEST_CASE("a line arrives once, formatted, and only if enabled") {
    const auto expected = testing::expect_warning("base: 3 of 4");
    log::warn("test", "base: {} of {}", 3, 4);
    log::info("test", "base: 3 of 4, not enabled");
    REQUIRE(expected.count() == 1);
    CHECK(expected.lines()[0].find("base: 3 of 4") != std::string::npos);
}

TEST_CASE("lines on the error stream begin with the names of the contexts, each once, as long as they live") {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    const UniqueFd reader(ends[0]);
    UniqueFd writer(ends[1]);
    testing::Process child([&](testing::Channel&) {
        ::dup2(writer.get(), STDERR_FILENO);
        log::set_sink({});
        const log::Name viewer("viewer");
        const log::Name first("solver");
        {
            const log::Name second("solver");
            log::warn("test", "three");
        }
        log::warn("test", "two");
        return 0;
    });
    CHECK(child.code(std::chrono::seconds(10)) == 0);
    writer.reset();
    std::string said(4096, '\0');
    const auto size = ::read(reader.get(), said.data(), said.size());
    REQUIRE(size > 0);
    said.resize(static_cast<std::size_t>(size));
    CHECK(said.find("solver, viewer [test] three\n") != std::string::npos);
    CHECK(said.find("solver, viewer [test] two\n") != std::string::npos);
}

} // namespace log_test
