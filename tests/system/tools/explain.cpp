// SPDX-License-Identifier: BSD-3-Clause
// `plexus explain`: what would carry requests to the owner of a table, of a pointer, to a
// server; and its exit code when nothing would.
#include "support/catch.h"
#include "support/tmpdir.h"
#include "system/launcher/command.h"
#include "system/tools/json_text.h"

#include "plexus/plexus.h"

#include <filesystem>

namespace explain_test {

using namespace plexus::testing;

namespace {

struct Thing {};

} // namespace

TEST_CASE("a table that info wrote is explained row by row") {
    Command info({"info", "--table"});
    REQUIRE(info.wait() == 0);
    const TmpDir folder;
    const std::string file = folder.file("table", "# a remark\n" + info.out());

    Command tool({"explain", "--table", file, "--json"});
    CHECK(tool.wait() == 0);
    REQUIRE(is_json(tool.out()));
    CHECK(value_of(tool.out(), "method").value_or("null") != "null");
    CHECK(count_of(tool.out(), "\"because\":") == count_of(info.out(), "\n") - count_of(info.out(), "@"));

    Command text({"explain", "--table", file});
    CHECK(text.wait() == 0);
    CHECK(text.out().starts_with("From here to the owner of the table in "));
}

TEST_CASE("a saved table keeps where its owner is and how far each method reaches") {
    Command info({"info", "--table", "--set", "methods=local, tcp", "--set", "site=kiel", "--set",
                  "method.tcp.within=site"});
    REQUIRE(info.wait() == 0);
    CHECK(info.out().find("@site kiel\n") != std::string::npos);
    const TmpDir folder;
    const std::string file = folder.file("table", info.out());
    Command inside({"explain", "--table", file, "--set", "methods=local, tcp", "--set", "site=kiel"});
    CHECK(inside.wait() == 0);
    Command outside({"explain", "--table", file, "--set", "methods=local, tcp", "--set", "site=oslo"});
    CHECK(outside.wait() == 1);
    CHECK(outside.out().find("the peer takes it only within site kiel; this context is at oslo") !=
          std::string::npos);
    const std::string bad = folder.file("bad", "@host 00ff\ntcp 00\n");
    Command refused({"explain", "--table", bad});
    CHECK(refused.wait() == 3);
    CHECK(refused.err().find("line 1") != std::string::npos);
}

TEST_CASE("where no method applies the answer is no, with a reason for each row") {
    const TmpDir folder;
    const std::string file = folder.file("table", "carrier_pigeon 00ff\n");
    Command tool({"explain", "--table", file, "--json"});
    CHECK(tool.wait() == 1);
    REQUIRE(is_json(tool.out()));
    CHECK(value_of(tool.out(), "method") == "null");
    CHECK(value_of(tool.out(), "because").value_or("\"\"").size() > 2);
}

TEST_CASE("files that hold neither table nor pointer are refused with a sentence") {
    const TmpDir folder;
    const std::string text = folder.file("text", "shm zz\n");
    const std::string binary = folder.file("binary", std::string("\0\1\2\3", 4));
    const std::string empty = folder.file("empty", "");
    const std::pair<Words, std::string> cases[] = {
        {{"--table", text}, "line 1"},
        {{"--table", binary}, "no saved pointer"},
        {{"--pointer", text}, "no saved pointer"},
        {{"--table", empty}, "no row"},
        {{"--table", (folder / "none").string()}, "cannot be read"},
        {{"--pointer", folder.path().string()}, "cannot be read"},
    };
    for (const auto& [words, part] : cases) {
        Words all{"explain"};
        all.insert(all.end(), words.begin(), words.end());
        Command tool(all);
        INFO(words.back());
        CHECK(tool.wait() == 3);
        CHECK(tool.err().find(part) != std::string::npos);
        CHECK(tool.out().empty());
    }
}

TEST_CASE("a saved pointer is explained after its owner has gone") {
    const TmpDir folder;
    std::string file;
    {
        plexus::Context owner;
        Thing thing;
        const plexus::Bound<Thing> bound = owner.bind(thing);
        const std::vector<std::byte> bytes = bound.pointer().save();
        file = folder.file("pointer", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
    for (const char* option : {"--pointer", "--table"}) {
        Command tool({"explain", option, file, "--json"});
        CHECK(tool.wait() == 0);
        REQUIRE(is_json(tool.out()));
        CHECK(value_of(tool.out(), "method").value_or("null") != "null");
    }
}

TEST_CASE("a running server, and what it has published, is explained by its URL") {
    const TmpDir folder;
    const std::string key = folder.file("key", "a key that both sides hold, of some length\n");
    std::filesystem::permissions(key, std::filesystem::perms::owner_read);
    plexus::Options options;
    options.set = {{"listen", "plexus://127.0.0.1:0"}, {"job.key_file", key}};
    plexus::Context server(options);
    Thing thing;
    const plexus::Bound<Thing> bound = server.bind(thing);
    server.publish("thing", bound.pointer());
    for (const Words& name : {Words{"--name", "thing"}, Words{}}) {
        Words words{"explain", server.url(), "--json", "--set", "job.key_file=" + key};
        words.insert(words.end(), name.begin(), name.end());
        Command tool(words);
        INFO(words.back());
        CHECK(tool.wait() == 0);
        CHECK(is_json(tool.out()));
        CHECK(value_of(tool.out(), "method").value_or("null") != "null");
    }
    Command nobody({"explain", "plexus://127.0.0.1:1", "--set", "job.key_file=" + key});
    CHECK(nobody.wait() == 3);
    CHECK(nobody.err().starts_with("plexus explain: "));
}

TEST_CASE("a method with two rows shows both, and explain takes the one that reaches") {
    const TmpDir folder;
    const Words with{"--set", "methods=libfabric", "--set", "method.libfabric.provider=shm, tcp"};
    const auto words = [&](Words first) {
        first.insert(first.end(), with.begin(), with.end());
        return first;
    };
    Command info(words({"info", "--table"}));
    REQUIRE(info.wait());
    if (info.err().find("no module provides the method \"libfabric\"") != std::string::npos)
        SKIP_TEST("the module libfabric was not built");
    INFO(info.err());
    REQUIRE(info.wait() == 0);
    const std::vector<std::string> lines = info.lines();
    REQUIRE(lines.size() == 3);
    CHECK(lines[0].starts_with("@host "));
    CHECK(lines[1].starts_with("libfabric:shm "));
    CHECK(lines[2].starts_with("libfabric:tcp "));

    Command here(words({"explain", "--json", "--table", folder.file("here", info.out())}));
    CHECK(here.wait() == 0);
    CHECK(value_of(here.out(), "method") == "\"libfabric:shm\"");

    // Another host has another number of its boot, which stands behind the version.
    std::string elsewhere = lines[1];
    char& digit = elsewhere.at(elsewhere.find(' ') + 3);
    digit = digit == '0' ? '1' : '0';
    Command there(
        words({"explain", "--json", "--table", folder.file("there", elsewhere + "\n" + lines[2] + "\n")}));
    CHECK(there.wait() == 0);
    CHECK(value_of(there.out(), "method") == "\"libfabric:tcp\"");
    CHECK(there.out().find("shm: other host") != std::string::npos);
}

} // namespace explain_test
