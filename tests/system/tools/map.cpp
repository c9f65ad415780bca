// SPDX-License-Identifier: BSD-3-Clause
// `plexus map partition`: subnets of both kinds of files, and its refusals.
#include "support/catch.h"
#include "support/tmpdir.h"
#include "system/launcher/command.h"
#include "system/tools/json_text.h"

namespace map_test {

using namespace plexus::testing;

namespace {

// Two subnets and a host alone, scattered; between the pairs 1000.
constexpr const char* kMatrix = "# two offices and a laptop\n"
                                "5 ant bee cow dog elk\n"
                                "-    1000 0.30 1000 900\n"
                                "1000 -    1000 5    900\n"
                                "0.30 1000 -    1000 0.36\n"
                                "1000 5    1000 -    900\n"
                                "900  900  0.36 900  -\n";

constexpr const char* kMap =
    "version = 1\ndate = \"2026-11-21T08:54:19Z\"\nhosts = [\"ant\", \"bee\", \"cow\"]\n"
    "methods = [\"shm\", \"tcp\"]\nsizes_bytes = [8, 65536]\nboth_ways = true\n"
    "[[size]]\nbytes = 8\ncosts = [\n"
    "  [\"ant\", \"bee\", \"shm\", 9, 1, 2, 3, 4, 5],\n"
    "  [\"ant\", \"cow\", \"tcp\", 9, 30, 31, 32, 33, 34],\n"
    "  [\"bee\", \"cow\", \"tcp\", 9, 30, 31, 32, 33, 34]]\n"
    "[[size]]\nbytes = 65536\ncosts = [\n"
    "  [\"ant\", \"bee\", \"shm\", 9, 60, 61, 62, 63, 64],\n"
    "  [\"ant\", \"cow\", \"tcp\", 9, 60, 70, 80, 90, 99],\n"
    "  [\"bee\", \"cow\", \"tcp\", 9, 60, 70, 80, 90, 99]]\n";

std::string out_of(Words words) {
    words.insert(words.begin(), {"map", "partition"});
    Command tool(words);
    CHECK(tool.wait() == 0);
    CHECK(tool.err().empty());
    return tool.out();
}

} // namespace

TEST_CASE("the subnets of a plain matrix are printed one a line, hosts in the file's order") {
    const TmpDir folder;
    const std::string file = folder.file("net", kMatrix);
    CHECK(out_of({file}) == "ant cow elk\nbee dog\n");
    CHECK(out_of({file, "--tolerance", "19.9%"}) == "ant cow\nbee dog\nelk\n");
    CHECK(out_of({file, "--tolerance", "1/5"}) == "ant cow elk\nbee dog\n");
    const std::string json = out_of({file, "--json", "--levels"});
    REQUIRE(is_json(json));
    CHECK(value_of(json, "subnets") == R"([["ant","cow","elk"],["bee","dog"]])");
    CHECK(value_of(json, "levels") ==
          R"([[["ant","cow","elk"],["bee","dog"]],[["ant","bee","cow","dog","elk"]]])");
    CHECK(out_of({file, "--levels"}) ==
          "# level 1: 2 subnets\nant cow elk\nbee dog\n\n# level 2: 1 subnet\nant bee cow dog elk\n");
}

TEST_CASE("the subnets of a map depend on the size and the cost that are asked for") {
    const TmpDir folder;
    const std::string file = folder.file("net.map", kMap);
    CHECK(out_of({file}) == "ant bee\ncow\n");
    CHECK(out_of({file, "--size", "64KiB"}) == "ant bee cow\n");
    CHECK(out_of({file, "--size", "64KiB", "--cost", "median"}) == "ant bee\ncow\n");
}

TEST_CASE("a matrix that differs by direction needs to be told how to treat that") {
    const TmpDir folder;
    const std::string file = folder.file("net", "3 a b c\n0 1 3\n2 0 1\n3 1 0\n");
    Command tool({"map", "partition", file});
    CHECK(tool.wait() == 3);
    CHECK(tool.out().empty());
    CHECK(tool.err().find("a to b is 1 us, b to a is 2 us") != std::string::npos);
    CHECK(tool.err().find("--symmetric") != std::string::npos);
    CHECK(out_of({file, "--symmetric", "min"}) == "a b c\n");
    CHECK(out_of({file, "--symmetric", "max"}) == "a\nb c\n");
    CHECK(out_of({file, "--symmetric", "mean"}) == "a\nb c\n");
}

TEST_CASE("files that hold no map end with 3 and one sentence that names the place") {
    const TmpDir folder;
    const std::pair<std::string, std::string> cases[] = {
        {"2 a b\n0 -1\n1 0\n", "bad:2: a to b: the cost -1 is negative"},
        {"2 a b\n0 1\n", "bad:2: the file ends before the row of b"},
        {"version = 7\n", "bad:1: the map has version 7"},
        {"hello\n", "bad:1: "},
        {"", "the file is empty"},
    };
    for (const auto& [text, part] : cases) {
        const std::string file = folder.file("bad", text);
        Command tool({"map", "partition", file});
        INFO(text);
        CHECK(tool.wait() == 3);
        CHECK(tool.err().starts_with("plexus map: "));
        CHECK(tool.err().find(part) != std::string::npos);
        CHECK(count_of(tool.err(), "\n") == 1);
    }
    Command none({"map", "partition", (folder / "none").string()});
    CHECK(none.wait() == 3);
    CHECK(none.err().find("cannot be read") != std::string::npos);
    Command size({"map", "partition", folder.file("net.map", kMap).string(), "--size", "9"});
    CHECK(size.wait() == 3);
    CHECK(size.err().find("its sizes are 8, 65536") != std::string::npos);
}

} // namespace map_test
