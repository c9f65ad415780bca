// SPDX-License-Identifier: BSD-3-Clause
// `plexus schedule show`: a page that stands alone and steps through its rounds in a browser, and pictures
// that an XML parser reads, with the names of a hostile file.
#include "support/catch.h"
#include "system/tools/json_text.h"
#include "system/tools/pages.h"

#include <filesystem>

namespace schedule_show_test {

using namespace plexus::testing;

namespace {

/// A broadcast around a ring of four in two rounds.
constexpr char kRing[] =
    R"({"topology": "ring-4", "collective": "OAB", "root": 0, "ports": "all", "rounds": [
[{"src": 0, "dst": 1, "msg": 0, "path": ["p0", "p1"]}, {"src": 0, "dst": 3, "msg": 0, "path": ["p0", "p3"]}],
[{"src": 1, "dst": 2, "msg": 0, "path": ["p1", "p2"]}]]})";

/// Names that would leave a script, an attribute or a text.
constexpr char kHostile[] =
    R"({"topology": {"links": [["</script><b>", "\"x'&"], ["\"x'&", "</script><b>"]],
"terminals": ["</script><b>", "\"x'&"]}, "collective": "AAB", "rounds": [
[{"src": 0, "dst": 1, "msg": 0}, {"src": 1, "dst": 0, "msg": 1}]]})";

std::string shown(const std::string& file, const Words& more) {
    Words words{"schedule", "show", file};
    words.insert(words.end(), more.begin(), more.end());
    Command tool(words);
    CHECK(tool.wait() == 0);
    INFO(tool.err());
    CHECK(tool.err().empty());
    return tool.out();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The page with one more script, which uses it as a reader would.
std::string used(const TmpDir& folder, const std::string& page, const std::string& script) {
    return folder.file("used.html", page + "<script>" + script + "</script>").string();
}

} // namespace

TEST_CASE("a page of a schedule stands alone, with its data as JSON, the table and the bound") {
    const TmpDir folder;
    const std::string file = folder.file("ring.json", kRing).string();
    const std::string page = shown(file, {});
    check_alone(page);
    CHECK(page.starts_with("<!doctype html>"));
    CHECK(has(page, "<h1>OAB from terminal 0 on ring-4</h1>"));
    CHECK(has(page, "<strong>2 rounds, bound 2 ("));
    CHECK(has(page, "<td>1 3</td><td></td>"));
    CHECK(has(page, "<td>2&nbsp;<small>(0)</small></td>"));
    const std::string mark = "id=\"data\">";
    const std::size_t start = page.find(mark) + mark.size();
    const std::string data = page.substr(start, page.find("</script>", start) - start);
    REQUIRE(is_json(data));
    CHECK(value_of(data, "expected") == "[0,1,1,1]");
    CHECK(count_of(value_of(data, "rounds").value(), "[") == 1 + 2 + 3 * 2);
    const std::string copy = (folder / "page.html").string();
    CHECK(shown(file, {"-o", copy}).empty());
    CHECK(text_of(copy) == page);
    CHECK(shown(file, {"-o", "-"}) == page);
}

TEST_CASE("the root of a schedule that has none may be any number") {
    const TmpDir folder;
    std::string text = kHostile;
    text.insert(text.find("\"rounds\""), "\"root\": 99, ");
    CHECK(has(shown(folder.file("s.json", text).string(), {}), "<h1>AAB on"));
}

TEST_CASE("a picture of a schedule is XML with all rounds or the one that is asked for") {
    const TmpDir folder;
    const std::string file = folder.file("ring.json", kRing).string();
    const std::string all = shown(file, {"--svg"});
    check_alone(all);
    CHECK(count_of(all, "class=\"round\"") == 2);
    CHECK(count_of(all, "class=\"way\"") == 3);
    const std::string one = shown(file, {"--svg", "--round", "2"});
    CHECK(count_of(one, "class=\"way\"") == 1);
    CHECK(has(one, "<title>1 to 2, message of 0</title>"));
    const std::string hostile = shown(folder.file("hostile.json", kHostile).string(), {"--svg"});
    CHECK_FALSE(has(hostile, "<b>"));
    if (!is_there("python3")) SKIP_TEST("python3 is not installed: nothing reads the XML");
    for (const std::string& text : {all, one, hostile})
        CHECK(root_of_xml(folder.file("x.svg", text)) == "svg\n");
}

TEST_CASE("in a browser the page of a schedule steps by buttons and keys, and marks the round in the table") {
    const auto browser = find_browser();
    if (!browser) SKIP_TEST("chromium is not installed: nothing runs the page's script");
    const TmpDir folder;
    const std::string page = shown(folder.file("ring.json", kRing).string(), {});
    const std::string name = (folder / "page.html").string();
    folder.file("page.html", page);
    const auto first = page_in_browser(*browser, folder, name);
    CHECK(has(first, "round 1 of 2: 2 transfers on 2 of 8 links</output>"));
    CHECK(count_of(first, "class=\"way\"") == 2);
    CHECK(has(first, "<col><col class=\"current\"><col"));
    CHECK_FALSE(has(first, "id=\"clock\" hidden"));
    const auto linked = page_in_browser(*browser, folder, name + "#round=2&sender=3");
    CHECK(has(linked, "round 2 of 2: 1 transfer on 1 of 8 links</output>"));
    CHECK(count_of(linked, "class=\"way other\"") == 1);
    CHECK(has(linked, "aria-current=\"step\">2</a>"));
    CHECK(has(linked, "<option>3</option>"));
    const std::string key =
        "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '%', bubbles: true}));";
    const auto press = [&](const std::string& which) {
        return std::string(key).replace(key.find('%'), 1, which);
    };
    const std::pair<std::string, bool> uses[] = {
        {"document.getElementById('step').click();", true},
        {"document.getElementById('step').click(); document.getElementById('back').click();", false},
        {press("ArrowRight"), true},
        {press("ArrowRight") + press("ArrowRight"), true}, // there is no third
        {press("End") + press("ArrowLeft"), false},
        {press("End") + press("Home"), false},
        {"document.querySelectorAll('td')[3].click();", true},
        {"const r = document.getElementById('round'); r.value = 2; r.dispatchEvent(new Event('input'));",
         true},
        {"document.getElementById('play').click();",
         true}, // to the end, in the time that the browser is given
        {"location.hash = '#round=99';", true},
        {"location.hash = '#round=-3&sender=9';", false}};
    for (const auto& [script, is_second] : uses) {
        INFO(script);
        const auto after = page_in_browser(*browser, folder, used(folder, page, script));
        CHECK(has(after, is_second ? "round 2 of 2: 1 transfer on" : "round 1 of 2: 2 transfers on"));
        CHECK(count_of(after, "data-src=") == (is_second ? 1 : 2));
        CHECK(count_of(after, "fill-opacity=\"1.00\"") == (is_second ? 3 : 2));
    }
    const auto picked = page_in_browser(*browser, folder,
                                        used(folder, page,
                                             "document.querySelectorAll('.terminal text')[1].dispatchEvent("
                                             "new MouseEvent('click', {bubbles: true}));"));
    CHECK(count_of(picked, "class=\"way other\"") == 2);
    CHECK(has(picked, "class=\"terminal sender\" data-terminal=\"1\""));
}

TEST_CASE("hostile names are text in the page of a schedule") {
    const TmpDir folder;
    const std::string page = shown(folder.file("<b>&.json", kHostile).string(), {});
    check_alone(page);
    CHECK_FALSE(has(page, "<b>"));
    CHECK(count_of(page, "</script>") == 2);
    CHECK(has(page, "<h1>AAB on the network of &lt;b&gt;&amp;.json</h1>"));
    CHECK(has(page, "&lt;/script&gt;&lt;b&gt;"));
    const auto browser = find_browser();
    if (!browser) SKIP_TEST("chromium is not installed: nothing runs the page's script");
    const auto after = page_in_browser(*browser, folder, folder.file("page.html", page).string());
    CHECK(has(after, "round 1 of 1: 2 transfers on 2 of 2 links</output>"));
    CHECK_FALSE(has(after, "<b>"));
}

TEST_CASE("what cannot be drawn of a schedule is said in a sentence, and nothing is written") {
    const TmpDir folder;
    const std::string ring = folder.file("ring.json", kRing).string();
    std::string twice = kRing;
    twice.replace(twice.find(R"("p0", "p3")"), 10, R"("p0", "p1")");
    std::string empty = kRing;
    empty = empty.substr(0, empty.find("[\n")) + "[]}";
    const std::string out = (folder / "out.html").string();
    const std::tuple<Words, int, std::string> cases[] = {
        {{}, 2, "FILE"},
        {{ring, ring}, 2, "one FILE"},
        {{ring, "--round", "1"}, 2, "--svg"},
        {{ring, "--svg", "--round", "0"}, 2, "from 1"},
        {{ring, "--svg", "--round", "two"}, 2, "\"two\""},
        {{ring, "--svg", "--round", "3"}, 2, "there is no round 3: the schedule has 2"},
        {{ring, "--against", "ring-4"}, 2, "--against"},
        {{folder.file("twice.json", twice).string(), "-o", out}, 2, "holds no valid schedule: rounds[0][1]"},
        {{folder.file("empty.json", empty).string(), "-o", out}, 2, "holds no valid schedule"},
        {{folder.file("half.json", std::string(kRing, 80)).string(), "-o", out}, 2, "half.json"},
        {{(folder / "none.json").string(), "-o", out}, 3, "cannot be read"},
        {{ring, "-o", (folder / "none" / "x").string()}, 3, "cannot be written"},
    };
    for (const auto& [more, code, part] : cases) {
        Words words{"schedule", "show"};
        words.insert(words.end(), more.begin(), more.end());
        Command tool(words);
        CHECK(tool.wait() == code);
        INFO(part << " / " << tool.err());
        CHECK(has(tool.err(), part));
        CHECK(count_of(tool.err(), "\n") == 1);
        CHECK(tool.out().empty());
        CHECK_FALSE(std::filesystem::exists(out));
    }
}

} // namespace schedule_show_test
