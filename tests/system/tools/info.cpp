// SPDX-License-Identifier: BSD-3-Clause
// `plexus info`: lists, origins, JSON.
#include "support/catch.h"
#include "support/tmpdir.h"
#include "system/launcher/command.h"
#include "system/tools/json_text.h"

namespace info_test {

using namespace plexus::testing;

TEST_CASE("info lists each method with its module, its limits and what polling it costs") {
    Command tool({"info", "--json"});
    REQUIRE(tool.wait() == 0);
    CHECK(tool.err().empty());
    REQUIRE(is_json(tool.out()));
    CHECK(value_of(tool.out(), "methods")->size() > 2);
    CHECK(value_of(tool.out(), "table")->size() > 2);
    CHECK(value_of(tool.out(), "settings")->find("limits.max_message") != std::string::npos);
    CHECK(number_of(tool.out(), "poll_cost_ns").value_or(-1) >= 0);
    CHECK(number_of(tool.out(), "polls").value_or(0) > 0);
    for (const char* count : {"messages_sent", "bytes_sent", "messages_received", "bytes_received", "repairs",
                              "fallbacks", "refusals", "dropped"})
        CHECK(number_of(tool.out(), count) == 0);

    Command text({"info"});
    REQUIRE(text.wait() == 0);
    for (const char* part : {"Methods", "skip_poll", "hit rate", "Descriptors", "limits.max_message"})
        CHECK(text.out().find(part) != std::string::npos);
    CHECK(text.left_nothing());
}

TEST_CASE("info --config says where each value came from") {
    const TmpDir folder;
    const std::string file = folder.file("site.toml", "[limits]\ncalls = 77\n");
    Command tool({"info", "--config", "--json", "--plexus-config", file, "--plexus-log=error", "--set",
                  "handlers.threads=3"});
    REQUIRE(tool.wait() == 0);
    REQUIRE(is_json(tool.out()));
    const auto entry = [&](const std::string& key) {
        const std::size_t at = tool.out().find("\"key\":\"" + key + "\"");
        return at == std::string::npos ? std::string() : tool.out().substr(at);
    };
    CHECK(value_of(entry("limits.calls"), "value") == "\"77\"");
    CHECK(value_of(entry("limits.calls"), "origin")->find("site.toml:2") != std::string::npos);
    CHECK(value_of(entry("log"), "origin") == "\"--plexus-log\"");
    CHECK(value_of(entry("handlers.threads"), "origin") == "\"program\"");
    CHECK(value_of(entry("fallback"), "origin") == "\"default\"");
}

TEST_CASE("info shows the site and how far each method reaches") {
    Command tool({"info", "--json", "--set", "methods=tcp", "--set", "site=kiel", "--set",
                  "method.tcp.within=kiel, oslo"});
    REQUIRE(tool.wait() == 0);
    REQUIRE(is_json(tool.out()));
    CHECK(value_of(tool.out(), "site") == "\"kiel\"");
    CHECK(value_of(tool.out(), "within") == "\"kiel, oslo\"");
    Command wrong({"info", "--set", "method.tcp.within=site"});
    CHECK(wrong.wait() == 3);
    CHECK(wrong.err().find("set the key `site`") != std::string::npos);
}

TEST_CASE("info names a method that cannot be had, and a configuration that is wrong ends it") {
    Command missing({"info", "--json", "--set", "methods=no_such_method, tcp", "--plexus-log=off"});
    REQUIRE(missing.wait());
    CHECK((missing.out() + missing.err()).find("no_such_method") != std::string::npos);
    Command wrong({"info", "--plexus-fallbakc=warn"});
    CHECK(wrong.wait() == 3);
    CHECK(wrong.err().find("fallback") != std::string::npos);
    CHECK(wrong.out().empty());
}

} // namespace info_test
