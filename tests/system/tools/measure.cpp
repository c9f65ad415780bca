// SPDX-License-Identifier: BSD-3-Clause
// `plexus info --measure`: every method that is here takes part, what is written is a
// configuration, and a method that fails is named and left out.
#include "support/catch.h"
#include "support/tmpdir.h"
#include "system/launcher/command.h"
#include "system/tools/json_text.h"

#include <algorithm>
#include <fstream>
#include <iterator>

using namespace plexus::testing;

namespace {

constexpr auto kLong = 60s * kPatience;

std::string text_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The values of `"method":` in a JSON text, in order.
std::vector<std::string> methods_in(const std::string& json) {
    std::vector<std::string> names;
    constexpr std::string_view kKey = "\"method\":\"";
    for (std::size_t at = json.find(kKey); at != json.npos; at = json.find(kKey, at)) {
        at += kKey.size();
        names.push_back(json.substr(at, json.find('"', at) - at));
    }
    return names;
}

std::vector<std::string> present_methods() {
    Command info({"info", "--json"});
    REQUIRE(info.wait() == 0);
    return methods_in(value_of(info.out(), "methods").value_or(""));
}

} // namespace

TEST_CASE("info --measure measures every method, and what it writes is a configuration") {
    const TmpDir folder;
    const std::string file = (folder / "plexus.toml").string();
    Command tool({"info", "--measure", "--json", "--output", file});
    REQUIRE(tool.wait(kLong) == 0);
    CHECK(tool.err().empty()); // progress is for terminals
    CHECK(tool.left_nothing());
    REQUIRE(is_json(tool.out()));
    const std::vector<std::string> present = present_methods();
    REQUIRE(present.size() > 2);
    const std::string measured = value_of(tool.out(), "methods").value_or("");
    // One that could not be opened is listed with its reason.
    const std::vector<std::string> listed = methods_in(measured);
    for (const std::string& method : present)
        CHECK(std::find(listed.begin(), listed.end(), method) != listed.end());
    CHECK(count_of(measured, "\"measured\":true") == static_cast<int>(present.size()));
    CHECK(count_of(measured, "\"one_way_us\":") == 4 * static_cast<int>(present.size()));
    CHECK(number_of(measured, "one_way_us").value_or(0) > 0);
    CHECK(number_of(value_of(tool.out(), "recommended").value_or(""), "from_bytes") == 0);

    const std::string text = text_of(file);
    INFO(text);
    CHECK(count_of(text, "\nmethods = [") == 1);
    for (const std::string& method : present) {
        CHECK(text.find("\n#   " + method + " ") != std::string::npos);
        CHECK(text.find("\"" + method + "\"") != std::string::npos);
    }
    Command reader({"info", "--plexus-config", file, "--config", "--json"});
    REQUIRE(reader.wait() == 0);
    CHECK(reader.err().empty());
    const std::string entry = reader.out().substr(reader.out().find("\"key\":\"methods\""));
    CHECK(value_of(entry, "origin")->find("plexus.toml:") != std::string::npos);
    Command there({"info", "--plexus-config", file, "--json"});
    REQUIRE(there.wait() == 0);
    CHECK(methods_in(value_of(there.out(), "methods").value_or("")).size() == present.size());
}

TEST_CASE("info --measure prints a table, and below it the text to paste") {
    Command tool({"info", "--measure", "--set", "methods=tcp, shm?area=2MiB"});
    REQUIRE(tool.wait(kLong) == 0);
    for (const char* part : {"8 B us", "1 MiB us", "1 MiB MB/s", "Recommended", "processes"})
        CHECK(tool.out().find(part) != std::string::npos);
    const std::size_t line = tool.out().find("\nmethods = [");
    REQUIRE(line != std::string::npos);
    CHECK(tool.out().find("\"shm?area=2MiB\"", line) != std::string::npos); // parameters stay
    CHECK(tool.out().find("\"tcp\"", line) != std::string::npos);
}

TEST_CASE("info --measure names a method that fails, and does not recommend it") {
    Command tool({"info", "--measure", "--json", "--set", "methods=shm, faults?refuse_connect=1"});
    REQUIRE(tool.wait(kLong) == 0);
    CHECK(tool.left_nothing());
    REQUIRE(is_json(tool.out()));
    CHECK(count_of(tool.out(), "\"measured\":false") == 1);
    CHECK(value_of(tool.out(), "recommended")->find("faults") == std::string::npos);
    const std::string configuration = value_of(tool.out(), "configuration").value_or("");
    CHECK(configuration.find("# Left out: faults?refuse_connect=1: ") != std::string::npos);

    Command none({"info", "--measure", "--set", "methods=faults?refuse_connect=1"});
    CHECK(none.wait(kLong) == 1);
    CHECK(none.out().find("Nothing could be measured") != std::string::npos);
    CHECK(count_of(none.out(), "\nmethods = [") == 0);
}

TEST_CASE("info --measure leaves a file alone that is there already, and none where it failed") {
    const TmpDir folder;
    const auto file = folder.file("plexus.toml", "fallback = \"warn\"\n");
    Command tool({"info", "--measure", "--output", file.string()});
    CHECK(tool.wait() == 3);
    CHECK(tool.err().find("exists already") != std::string::npos);
    CHECK(text_of(file) == "fallback = \"warn\"\n");

    const auto empty = folder / "new.toml";
    Command wrong({"info", "--measure", "--output", empty.string(), "--plexus-methods=no_such_method"});
    CHECK(wrong.wait() == 3);
    CHECK_FALSE(std::filesystem::exists(empty));
}
