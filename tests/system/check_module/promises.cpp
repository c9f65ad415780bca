// SPDX-License-Identifier: BSD-3-Clause
// `plexus check-module` with modules that load and open: each promise is judged by itself, and
// a broken one is named with what was seen.
#include "support/catch.h"
#include "system/check_module/files.h"
#include "system/launcher/command.h"
#include "system/tools/json_text.h"

#include <csignal>

namespace promises_test {

using namespace plexus::testing;

namespace {

bool has_line(const Command& tool, const std::string& line) {
    return ("\n" + tool.out()).find("\n" + line + "\n") != std::string::npos;
}

} // namespace

TEST_CASE("a sound module keeps every promise that applies to it") {
    Command tool({"check-module", faulty("none"), "--set", "queue=2 MiB"});
    CHECK(tool.wait(60s) == 0);
    INFO(tool.out());
    CHECK(tool.out().starts_with(faulty("none") + ": method faulty\n"));
    CHECK(has_line(tool, "  holds    messages of mixed sizes arrive once each and in order"));
    CHECK(has_line(tool, "  skipped  a peer without the job's key gets no link"));
    CHECK(has_line(tool, "           this module reaches only its own process, where there is one key"));
    CHECK(tool.out().find("broken: 0\n") != std::string::npos);
    CHECK(count_of(tool.out(), "BROKEN") == 0);
    CHECK(count_of(tool.out(), "\n  holds ") > 40);
    CHECK(tool.left_nothing());
}

TEST_CASE("a message that is lost breaks a promise, and the others are judged all the same") {
    Command tool({"check-module", faulty("forgets"), "--only", "messages of mixed sizes"});
    CHECK(tool.wait(60s) == 1);
    INFO(tool.out());
    CHECK(has_line(tool, "  BROKEN   messages of mixed sizes arrive once each and in order"));
    CHECK(tool.out().find("lost, doubled or out of order") != std::string::npos);
    Command all({"check-module", faulty("forgets"), "--only", "identity", "--json"});
    CHECK(all.wait(60s) == 0);
}

TEST_CASE("a module that says it can be slept on and never wakes is found out") {
    Command tool({"check-module", faulty("never_wakes"), "--only", "a sleeper wakes when a link is lost"});
    CHECK(tool.wait(60s) == 1);
    INFO(tool.out());
    CHECK(has_line(tool, "  BROKEN   a sleeper wakes when a link is lost"));
}

TEST_CASE("what the contract asks of one call is named in plain words") {
    Command tool({"check-module", faulty("says_nothing"), "--only", "a descriptor that is damaged never"});
    CHECK(tool.wait(60s) == 1);
    INFO(tool.out());
    CHECK(tool.out().find("broken promise: `applies` refuses without a reason") != std::string::npos);
}

TEST_CASE("a crash is a verdict") {
    Command tool({"check-module", faulty("crashes_in_send"), "--only", "order", "--json"});
    CHECK(tool.wait(60s) == 1);
    INFO(tool.out());
    REQUIRE(is_json(tool.out()));
    CHECK(count_of(tool.out(), "it was ended by signal 11 (Segmentation fault)") > 3);
    // Those that send nothing hold.
    CHECK(number_of(tool.out(), "holds").value_or(0) >= 1);
    CHECK(tool.left_nothing());
}

TEST_CASE("a hang is a verdict, and nothing of it is left") {
    Command tool({"check-module", faulty("hangs_in_poll"), "--only", "each end knows", "--timeout", "1"});
    CHECK(tool.wait(60s) == 1);
    INFO(tool.out());
    CHECK(has_line(tool, "           it had not ended after 1 s"));
    CHECK(tool.left_nothing());
}

TEST_CASE("a check that is given up takes the module along") {
    Command tool({"check-module", faulty("hangs_in_poll"), "--only", "each end knows"});
    REQUIRE(tool.says(": method faulty\n"));
    REQUIRE(eventually(10s, [&] { return tool.processes().size() > 1; }));
    tool.kill(SIGKILL);
    CHECK(tool.wait(10s) == 128 + SIGKILL);
    CHECK(tool.left_nothing());
}

TEST_CASE("a text that no promise contains is refused") {
    Command tool({"check-module", faulty("none"), "--only", "world peace"});
    CHECK(tool.wait(60s) == 2);
    CHECK(tool.err().find("no promise contains \"world peace\"") != std::string::npos);
}

} // namespace promises_test
