// SPDX-License-Identifier: BSD-3-Clause
// `plexus map show`: files that stand alone, are well-formed, and show what the map holds. The
// page is also tried in a browser, a graph in Graphviz and a picture in an XML parser, where
// this machine has them.
#include "support/catch.h"
#include "system/tools/json_text.h"
#include "system/tools/pages.h"

namespace show_test {

using namespace plexus::testing;

namespace {

/// Two subnets of three and a host alone, one pair not measured; names as nasty as a map allows.
const std::string kNetwork = "7 a b c d<e f&g \"h\" </script>\n"
                             "- 10 11 900 900 900 -\n"
                             "10 - 10 900 900 900 2000\n"
                             "11 10 - 900 900 900 2000\n"
                             "900 900 900 - 20 21 2000\n"
                             "900 900 900 20 - 20 2000\n"
                             "900 900 900 21 20 - 2000\n"
                             "- 2000 2000 2000 2000 2000 -\n";

std::string shown(const std::string& file, const Words& more) {
    Words words{"map", "show", file};
    words.insert(words.end(), more.begin(), more.end());
    Command tool(words);
    CHECK(tool.wait() == 0);
    INFO(tool.err());
    CHECK(tool.err().empty());
    return tool.out();
}

} // namespace

TEST_CASE("a page stands alone, and its data is JSON that no name can break out of") {
    const TmpDir folder;
    const std::string file = folder.file("net", kNetwork);
    const std::string page = shown(file, {});
    check_alone(page);
    CHECK(page.starts_with("<!doctype html>"));
    CHECK(page.find("[[") == page.find("[[0,1")); // no mark is left; lists of lists may be there
    CHECK(count_of(page, "</script>") == 2);
    const std::string mark = "id=\"data\">";
    const std::size_t start = page.find(mark) + mark.size();
    const std::string data = page.substr(start, page.find("</script>", start) - start);
    REQUIRE(is_json(data));
    CHECK(value_of(data, "subnet") == "[0,0,0,1,1,1,2]");
    CHECK(count_of(data, "\"pattern\":\"eco\"") >= 8);
    CHECK(count_of(page, "data-host=") == 7);
    CHECK(count_of(page, "class=\"box\"") == 3);
    const std::string copy = (folder / "page.html").string();
    CHECK(shown(file, {"-o", copy}).empty());
    CHECK(text_of(copy) == page);
}

TEST_CASE("options leave the plans that were asked for") {
    const TmpDir folder;
    const std::string file = folder.file("net", kNetwork);
    const std::string one =
        shown(file, {"--operation", "scatter", "--pattern", "star", "--root", "c", "--size", "4KiB"});
    CHECK(count_of(one, "\"operation\":") == 1);
    CHECK(one.find(R"("operation":"scatter","pattern":"star","root":2,"size":"4 KiB")") != std::string::npos);
    CHECK(count_of(shown(file, {"--operation", "barrier"}), "\"operation\":\"broadcast\"") == 0);
}

TEST_CASE("a picture is XML with every host, box and message of the plan") {
    const TmpDir folder;
    const std::string file = folder.file("net", kNetwork);
    const std::string svg = shown(file, {"--svg", "--pattern", "star"});
    check_alone(svg);
    CHECK(count_of(svg, "data-host=") == 7);
    CHECK(count_of(svg, "marker-end=") == 6 + 2); // and two of the legend
    CHECK(count_of(svg, "class=\"way far\"") == 4 + 1);
    CHECK(svg.find("d&lt;e") != std::string::npos);
    if (!is_there("python3")) SKIP_TEST("python3 is not installed: nothing reads the XML");
    CHECK(root_of_xml(folder.file("net.svg", svg)) == "svg\n");
}

TEST_CASE("a host's name that is too long leaves the picture XML") {
    const TmpDir folder;
    const std::string file = folder.file(
        "net", "3 a<&z caf\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9-of-many-letters c\n"
               "- 1 9\n1 - 9\n9 9 -\n");
    const std::string svg = shown(file, {"--svg"});
    CHECK(svg.find("a&lt;&amp;z") != std::string::npos);
    CHECK(svg.find("…") != std::string::npos);
    if (!is_there("python3")) SKIP_TEST("python3 is not installed: nothing reads the XML");
    CHECK(root_of_xml(folder.file("net.svg", svg)) == "svg\n");
}

TEST_CASE("a graph has every host and edge, and Graphviz reads it") {
    const TmpDir folder;
    const std::string file = folder.file("net", kNetwork);
    const std::string dot = shown(file, {"--dot", "--pattern", "star"});
    CHECK(count_of(dot, " -> ") == 6);
    CHECK(count_of(dot, "subgraph cluster_") >= 3);
    CHECK(count_of(dot, "{") == count_of(dot, "}"));
    CHECK(dot.find("[label=\"\\\"h\\\"\"]") != std::string::npos);
    if (!is_there("dot")) SKIP_TEST("dot is not installed: nothing reads the graph");
    CHECK(output_of({"dot", "-Tplain", folder.file("net.dot", dot).string()}).starts_with("graph "));
}

TEST_CASE("in a browser the page draws costs, plan and patterns, at the time that its link says") {
    const auto browser = find_browser();
    if (!browser) SKIP_TEST("chromium is not installed: nothing runs the page's script");
    const TmpDir folder;
    const std::string page = (folder / "page.html").string();
    shown(folder.file("net", kNetwork), {"-o", page});
    const std::string whole =
        page_in_browser(*browser, folder, page + "#operation=broadcast&pattern=star&root=a");
    CHECK(count_of(whole, "<rect x=") >= 7 * 7); // cells
    CHECK(count_of(whole, "class=\"none\"") == 7 + 2 + 1);
    CHECK(whole.find("6 of 6 sent, 6 taken") != std::string::npos);
    CHECK(count_of(whole, "<tr class=\"\">") + count_of(whole, "<tr>") >= 5);
    const std::string start =
        page_in_browser(*browser, folder, page + "#operation=broadcast&pattern=star&root=a&time=0");
    CHECK(start.find("0 us of ") != std::string::npos);
    CHECK(start.find("1 of 6 sent, 0 taken") != std::string::npos);
    CHECK(count_of(start, "class=\"way") == 1);
    const std::string middle =
        page_in_browser(*browser, folder, page + "#operation=gather&pattern=star&root=a&time=0.999");
    CHECK(middle.find("6 of 6 sent, 5 taken") != std::string::npos);
}

TEST_CASE("what cannot be shown is said in a sentence") {
    const TmpDir folder;
    const std::string file = folder.file("net", kNetwork);
    const std::tuple<Words, int, std::string> cases[] = {
        {{"--operation", "dance"}, 2, "broadcast, scatter"},
        {{"--pattern", "dance"}, 2, "eco, star"},
        {{"--root", "nobody"}, 3, "has no host nobody"},
        {{"--operation", "scatter", "--pattern", "ring"}, 3, "ring does not suit scatter"},
        {{"--svg", "--operation", "scatter", "--pattern", "ring"}, 3, "ring"},
        {{"--svg", "--dot"}, 2, "--svg"},
        {{"--json"}, 2, "go with partition"},
        {{"-o", (folder / "none" / "x").string()}, 3, "cannot be written"},
    };
    for (const auto& [more, code, part] : cases) {
        Words words{"map", "show", file};
        words.insert(words.end(), more.begin(), more.end());
        Command tool(words);
        CHECK(tool.wait() == code);
        INFO(tool.err());
        CHECK(tool.err().find(part) != std::string::npos);
        CHECK(count_of(tool.err(), "\n") == 1);
    }
    std::string many = "60";
    for (int host = 0; host < 60; ++host) many += " h" + std::to_string(host);
    for (int row = 0; row < 60; ++row) {
        many += '\n';
        for (int column = 0; column < 60; ++column) many += " 1";
    }
    Command pairs({"map", "show", folder.file("many", many), "--pattern", "pairwise"});
    CHECK(pairs.wait() == 3);
    CHECK(pairs.err().find("more than 3000 messages") != std::string::npos);
    CHECK(pairs.err().find("--operation") != std::string::npos);
    Command partition({"map", "partition", file, "--svg"});
    CHECK(partition.wait() == 2);
    CHECK(partition.err().find("go with show") != std::string::npos);
}

} // namespace show_test
