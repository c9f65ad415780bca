// SPDX-License-Identifier: BSD-3-Clause
// `plexus schedule`: what it makes, checks and prints, and its refusals.
#include "support/catch.h"
#include "support/tmpdir.h"
#include "system/launcher/command.h"
#include "system/tools/json_text.h"

#include <iterator>

namespace schedule_test {

using namespace plexus::testing;

namespace {

constexpr const char* kGraph = R"({"links": [["a","s"],["s","a"],["b","s"],["s","b"],["c","s"],["s","c"]],
 "terminals": ["a","b","c"]})";

std::string out_of(Words words, int code = 0) {
    words.insert(words.begin(), "schedule");
    Command tool(words);
    CHECK(tool.wait(60s) == code);
    CHECK(tool.err().empty());
    return tool.out();
}

void check_refused(Words words, int code, const std::string& part) {
    words.insert(words.begin(), "schedule");
    Command tool(words);
    INFO(part);
    CHECK(tool.wait() == code);
    CHECK(tool.out().empty());
    CHECK(tool.err().starts_with("plexus schedule: "));
    CHECK(tool.err().find(part) != std::string::npos);
    CHECK(count_of(tool.err(), "\n") == 1);
}

std::string text_of(const std::filesystem::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t place = text.find(from);
    REQUIRE(place != std::string::npos);
    return text.replace(place, from.size(), to);
}

} // namespace

TEST_CASE("a schedule is made with its certificate, and the checker takes it") {
    const TmpDir folder;
    const std::string omega = (folder / "omega.json").string();
    const std::string said = out_of({"make", "omega-8", "AAB", "-o", omega});
    CHECK(said.starts_with("7 rounds, bound 7 (terminal "));
    CHECK(is_json(text_of(omega)));
    const std::string tree = (folder / "tree.json").string();
    const std::string json =
        out_of({"make", "fbtree-7", "oas", "--root", "3", "--seed", "5", "-o", tree, "--json"});
    REQUIRE(is_json(json));
    CHECK(number_of(json, "rounds") == 6);
    CHECK(number_of(json, "bound") == 6);
    CHECK(value_of(json, "reason"));
    CHECK(value_of(json, "optimal") == "true");
    CHECK(number_of(json, "seconds"));
    CHECK(value_of(json, "search") == "\"fast\"");
    CHECK(number_of(json, "seed") == 5);
    CHECK(value_of(text_of(tree), "root") == "3");
    CHECK(value_of(text_of(tree), "topology") == "\"fbtree-7\"");
    CHECK(out_of({"check", omega, tree}) == "OK " + omega + "\nOK " + tree + "\n");
    CHECK(out_of({"check", omega, "--against", "omega-8"}) == "OK " + omega + "\n");
}

TEST_CASE("the paper's search makes schedules, too") {
    const TmpDir folder;
    const std::string file = (folder / "s.json").string();
    const std::string json =
        out_of({"make", "btree-4", "AAB", "--search", "umda", "--seed", "3", "--json", "-o", file});
    CHECK(number_of(json, "rounds") == 3);
    CHECK(value_of(json, "search") == "\"umda\"");
    CHECK(out_of({"check", file}) == "OK " + file + "\n");
}

TEST_CASE("a schedule goes to standard output, or a result as JSON alone") {
    Command text({"schedule", "make", "star-3", "AAS"});
    CHECK(text.wait() == 0);
    CHECK(is_json(text.out()));
    CHECK(value_of(text.out(), "collective") == "\"AAS\"");
    CHECK(text.err().starts_with("2 rounds, bound 2 ("));
    Command both({"schedule", "make", "star-3", "AAS", "-o", "-", "--json"});
    CHECK(both.wait() == 0);
    CHECK(value_of(both.out(), "topology"));
    CHECK(number_of(both.err(), "rounds") == 2);
    CHECK(number_of(out_of({"make", "star-3", "AAS", "--json"}), "rounds") == 2);
}

TEST_CASE("graphs come from files and maps; ports can be stated") {
    const TmpDir folder;
    const std::string graph = folder.file("net.json", kGraph);
    const std::string made = (folder / "s.json").string();
    CHECK(out_of({"make", graph, "AAB", "-o", made}).starts_with("2 rounds, bound 2"));
    CHECK(value_of(text_of(made), "terminals") == R"(["a","b","c"])");
    CHECK(out_of({"check", made, "--against", graph}) == "OK " + made + "\n");
    CHECK(out_of({"check", made, "--against", "star-3"}, 1)
              .starts_with("FAIL " + made + ": it is a schedule for another network: "));
    const std::string map = folder.file("net.map", "3 ant bee cow\n- 1 9\n1 - 9\n9 9 -\n");
    CHECK(out_of({"make", "--map", map, "AAS", "-o", made}).starts_with("2 rounds, bound 2"));
    CHECK(value_of(text_of(made), "terminals") == R"(["ant","bee","cow"])");
    CHECK(out_of({"check", made}) == "OK " + made + "\n");
    CHECK(number_of(out_of({"make", "ring-4", "OAS", "--json"}), "bound") == 2);
    CHECK(number_of(out_of({"make", "ring-4", "OAS", "--ports", "one", "--json"}), "bound") == 3);
}

TEST_CASE("files that hold no valid schedule fail one by one, and nothing else does") {
    const TmpDir folder;
    const std::string good = (folder / "good.json").string();
    out_of({"make", "star-3", "AAB", "-o", good});
    const std::string text = text_of(good);
    const std::string other = folder.file("other.json", replaced(text, "star-3", "star-4"));
    const std::string bound = folder.file("bound.json", replaced(text, "\"bound\":2", "\"bound\":3"));
    const std::string half = folder.file("half.json", text.substr(0, text.size() / 2));
    const std::string none = (folder / "none.json").string();
    const std::string said = out_of({"check", other, good, bound, half, none}, 1);
    CHECK(count_of(said, "\n") == 5);
    CHECK(said.starts_with("FAIL " + other + ": "));
    CHECK(said.find("\nOK " + good + "\n") != std::string::npos);
    CHECK(said.find("\nFAIL " + bound + ": the bound 3 is above the 2 rounds that it has\n") !=
          std::string::npos);
    CHECK(said.find("\nFAIL " + half + ":") != std::string::npos);
    CHECK(said.find("this is no JSON") != std::string::npos);
    CHECK(said.find("\nFAIL " + none + " ") != std::string::npos);
    const std::string open =
        folder.file("open.json", R"({"topology": "ring-4", "collective": "OAB", "root": 0, "rounds":
        [[{"src": 0, "dst": 2, "msg": 0}]]})");
    CHECK(out_of({"check", open}, 1).find("2 shortest paths") != std::string::npos);
}

TEST_CASE("when time runs out the answer is no, and no file is written or changed") {
    const TmpDir folder;
    const std::string file = folder.file("s.json", "before");
    check_refused({"make", "btree-16", "AAB", "--search", "umda", "--time", "1e-9", "-o", file}, 1,
                  "no schedule was found in ");
    CHECK(text_of(file) == "before");
    check_refused({"make", "star-3", "AAB", "-o", (folder / "none" / "s.json").string()}, 3,
                  "there is no folder");
    check_refused({"make", "star-3", "AAB", "-o", (folder / "").string()}, 3, "it is a folder");
    check_refused({"make", "omega-12", "AAB", "-o", file}, 2, "\"omega-12\" is no omega-N");
    CHECK(text_of(file) == "before");
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("a result that cannot be written is an error that names the file") {
    const TmpDir folder;
    const std::string schedule = (folder / "star.json").string();
    out_of({"make", "star-4", "AAS", "-o", schedule});
    const std::string nowhere = (folder / "none" / "page.html").string();
    for (const Words& words : {Words{"make", "star-4", "AAS"}, Words{"show", schedule}}) {
        Words full = words;
        full.insert(full.end(), {"-o", "/dev/full"});
        check_refused(full, 3, "/dev/full cannot be written: No space left on device");
        Words missing = words;
        missing.insert(missing.end(), {"-o", nowhere});
        check_refused(missing, 3, nowhere + " cannot be written: there is no folder");
    }
}

TEST_CASE("a schedule that is not at the bound says by how many rounds") {
    const TmpDir folder;
    const std::string file = (folder / "s.json").string();
    const std::string said = out_of({"make", "mesh-8x8", "AAS", "--time", "1", "-o", file});
    CHECK(said.find(" rounds, bound 128 (") != std::string::npos);
    CHECK(said.ends_with(" above the bound\n"));
    CHECK(out_of({"check", file}) == "OK " + file + "\n");
}

TEST_CASE("a schedule is played in lockstep and asynchronously, as text and as JSON") {
    const TmpDir folder;
    const std::string file = (folder / "s.json").string();
    out_of({"make", "btree-8", "AAS", "-o", file});
    const std::string lockstep = out_of({"play", file, "--flits", "16"});
    CHECK(lockstep.starts_with("16 rounds, 56 transfers of 16 flits, in lockstep: "));
    CHECK(lockstep.ends_with("0 transfers were blocked, for 0 cycles together\n"));
    CHECK(out_of({"play", file, "--async"}).find(" flits, asynchronous: ") != std::string::npos);
    const std::string json = out_of({"play", file, "--json"});
    REQUIRE(is_json(json));
    CHECK(number_of(json, "blocked") == 0);
    CHECK(value_of(json, "deadlock") == "\"\"");
    check_refused({"play", file, "--flits", "0"}, 2, "--flits");
    const std::string empty = folder.file(
        "none.json",
        R"({"topology": {"links": [["a","b"]], "terminals": []}, "collective": "AAS", "rounds": [[{"src":0,"dst":1,"msg":0,"path":[0]}]]})");
    check_refused({"play", empty}, 2, empty + ": 0 -> 1: the network has no terminals");
}

TEST_CASE("names of vertices forge no line of what is printed") {
    const TmpDir folder;
    const std::string file = folder.file(
        "forged.json",
        R"({"topology": {"links": [["a\nOK x","s"],["s","a\nOK x"],["b","s"],["s","b"]], "terminals": ["a\nOK x","b"]},
 "collective": "OAS", "root": 0, "rounds": [[{"src":0,"dst":1,"msg":0,"path":[1,0]}]]})");
    const std::string said = out_of({"check", file}, 1);
    CHECK(count_of(said, "\n") == 1);
    CHECK(said.starts_with("FAIL "));
    const std::string graph = folder.file(
        "net.json",
        R"({"links": [["a","s\nx"],["s\nx","a"],["b","s\nx"],["s\nx","b"]], "terminals": ["a","b"]})");
    CHECK(out_of({"paths", graph, "0", "1"}) == "a \"s\\nx\" b\n");
    const std::string name = folder.file(
        "name.json",
        R"({"topology": "x\nplexus schedule: all is well\u001b[31m", "collective": "OAS", "root": 0, "rounds": []})");
    for (const char* part : {"show", "play"})
        check_refused({part, name}, 2, R"(there is no network "x?plexus schedule: all is well?[31m")");
}

TEST_CASE("networks for which there is no schedule are refused with their reason") {
    const TmpDir folder;
    const std::pair<std::string, std::string> cases[] = {
        {R"({"links": [["a","b"]], "terminals": ["a","b"]})", "no way leads from terminal 1"},
        {R"({"links": [["a","b"],["b","a"]], "terminals": []})", "the graph has 0"},
        {R"({"links": [["a","b"],["b","a"]], "terminals": ["a"]})", "the graph has 1"},
        {R"({"links": [["a","b"],["b","a"]], "terminals": ["a","a"]})", "the vertex of two terminals"},
        {R"({"links": [["a","b"],["b","a"],["a","b"]], "terminals": ["a","b"]})",
         "links[2] is the same as links[0]"},
        {"{\n\"links\": ", "bad.json:2: this is no JSON"},
    };
    for (const auto& [text, part] : cases) {
        const std::string file = folder.file("bad.json", text);
        for (const Words& words :
             {Words{"make", file, "AAB"}, Words{"bounds", file}, Words{"paths", file, "0", "1"}})
            check_refused(words, 2, part);
    }
    for (const char* part : {"make", "bounds"})
        check_refused({part, "none.json", "AAB"}, 3, "none.json cannot be read");
    check_refused({"paths", "none.json", "0", "1"}, 3, "none.json cannot be read");
    for (const char* part : {"show", "play"})
        check_refused({part, "none.json"}, 3, "none.json cannot be read");
    check_refused({"check", "x.json", "--against", "none.json"}, 3, "none.json cannot be read");
    check_refused({"bounds", "--map", folder.file("short.map", "3 a b c\n- 1\n").string()}, 2, "short.map");
    check_refused({"make", "spiral-8", "AAB"}, 2, "there is no network \"spiral-8\"");
    check_refused({"make", "ring-99999999999", "AAB"}, 2, "is no ring-N");
    check_refused({"make", "--map", (folder / "none").string(), "AAB"}, 3, "cannot be read");
}

TEST_CASE("words that are missing, wrong or another part's are usage errors") {
    check_refused({}, 2, "make, check, bounds, paths");
    check_refused({"draw"}, 2, "\"draw\"");
    check_refused({"make"}, 2, "say which network");
    check_refused({"make", "star-3"}, 2, "OAB, AAB, OAS and AAS");
    check_refused({"make", "star-3", "ABC"}, 2, "\"ABC\"");
    check_refused({"make", "star-3", "OAB", "--root", "3"}, 2, "root \"3\" is no terminal: there are 0 to 2");
    check_refused({"make", "star-3", "OAB", "--root", "x"}, 2, "root \"x\"");
    check_refused({"make", "star-3", "AAB", "--root", "0"}, 2, "--root goes with OAB and OAS");
    check_refused({"make", "star-3", "AAB", "--ports", "two"}, 2, "--ports takes one or all");
    check_refused({"make", "star-3", "AAB", "--search", "slow"}, 2, "--search takes umda or fast");
    check_refused({"make", "star-3", "AAB", "--seed", "1.5"}, 2, "--seed");
    for (const char* time : {"0", "nan", "inf", "1e9", "x"})
        check_refused({"make", "star-3", "AAB", "--time", time}, 2, "--time takes seconds");
    check_refused({"make", "star-3", "AAB", "--only", "1"}, 2, "--only does not go with make");
    check_refused({"check"}, 2, "which FILE");
    check_refused({"check", "x.json", "--against", "omega-12"}, 2, "is no omega-N");
    check_refused({"check", "x.json", "--seed", "1"}, 2, "--seed does not go with check");
    check_refused({"paths", "star-3", "0"}, 2, "two terminals");
    check_refused({"paths", "star-3", "0", "0"}, 2, "that differ");
    check_refused({"paths", "star-3", "0", "7"}, 2, "terminal \"7\"");
    check_refused({"bounds", "star-3", "AAB", "OAB"}, 2, "at most one");
    check_refused({"table", "star-3"}, 2, "options alone");
    check_refused({"table", "--only", "2"}, 2, "--only takes 1, 3, 5 or 6");
    check_refused({"table", "--runs", "0"}, 2, "--runs");
}

TEST_CASE("paths are printed with the number of those that are left out") {
    CHECK(out_of({"paths", "clos-2-2-2", "0", "3"}) ==
          "in0 first0 middle0 last1 out3\nin0 first0 middle1 last1 out3\n");
    const std::string many = out_of({"paths", "mesh-6x6", "0", "35"}); // 10 over 5
    CHECK(count_of(many, "\n") == 101);
    CHECK(many.ends_with("\nand 152 more\n"));
    const std::string json = out_of({"paths", "mesh-6x6", "0", "35", "--json"});
    REQUIRE(is_json(json));
    CHECK(number_of(json, "count") == 252);
    CHECK(number_of(json, "links") == 10);
    CHECK(count_of(*value_of(json, "paths"), "p5.5") == 100);
}

TEST_CASE("bounds are printed for every collective, with their reasons") {
    const std::string text = out_of({"bounds", "star-4"});
    CHECK(text.starts_with("OAB from terminal 0: 2 ("));
    CHECK(text.find("\nAAB: 3 (") != std::string::npos);
    CHECK(count_of(text, "\n") == 4);
    const std::string json = out_of({"bounds", "fbtree-7", "OAS", "--root", "6", "--json"});
    REQUIRE(is_json(json));
    CHECK(number_of(json, "root") == 6);
    CHECK(number_of(json, "bound") == 6);
}

TEST_CASE("Equation (1) predicts the time of a schedule and of one at the bound") {
    // The paper's example: 1 us, 0.5 ns a byte, 1024 bytes: 1.512 us a round.
    const Words model{"--start", "1e-6", "--byte", "0.5e-9", "--size", "1KiB"};
    const auto with_model = [&model](Words words) {
        words.insert(words.end(), model.begin(), model.end());
        return words;
    };
    const TmpDir folder;
    const std::string file = (folder / "s.json").string();
    CHECK(out_of(with_model({"make", "omega-8", "AAS", "-o", file}))
              .ends_with("); 1.0584e-05 s by Equation (1)\n"));
    const std::string made = out_of(with_model({"make", "omega-8", "AAS", "--json"}));
    REQUIRE(is_json(made));
    CHECK(number_of(made, "predicted_s").value_or(0) == Approx(7 * 1.512e-6));
    CHECK(out_of(with_model({"bounds", "omega-8", "OAB"})).ends_with("); 4.536e-06 s by Equation (1)\n"));
    const std::string bounds = out_of(with_model({"bounds", "omega-8", "OAB", "--json"}));
    CHECK(number_of(bounds, "predicted_s").value_or(0) == Approx(3 * 1.512e-6));
    CHECK_FALSE(value_of(out_of({"bounds", "omega-8", "OAB", "--json"}), "predicted_s"));
    check_refused({"bounds", "omega-8", "--start", "1", "--size", "1"}, 2, "go together");
    check_refused({"make", "omega-8", "AAB", "--start", "-1", "--byte", "0", "--size", "1"}, 2, "--start");
    check_refused({"make", "omega-8", "AAB", "--start", "0", "--byte", "nan", "--size", "1"}, 2, "--byte");
    check_refused({"make", "omega-8", "AAB", "--start", "0", "--byte", "0", "--size", "x"}, 2, "--size");
    check_refused({"check", file, "--size", "1"}, 2, "--size does not go with check");
}

TEST_CASE("the paper's Tables 3, 5 and 6 are printed, whatever their searches reach") {
    const std::string third = out_of({"table", "--only", "3", "--json"});
    REQUIRE(is_json(third));
    CHECK(count_of(third, "\"collective\":\"AAS\"") == 12);
    for (const std::string table : {"5", "6"}) {
        const std::string text = out_of({"table", "--only", table, "--runs", "1", "--time", "0.01"});
        CHECK(text.starts_with("Table " + table + ": "));
        const std::string json =
            out_of({"table", "--only", table, "--runs", "1", "--time", "0.01", "--json"});
        CHECK(is_json(json));
    }
}

TEST_CASE("the paper's Table 1 is reached in every row, beside what it prints") {
    const std::string text = out_of({"table", "--only", "1", "--runs", "2"});
    CHECK(text.starts_with("Table 1: "));
    CHECK(count_of(text, "16/15") == 6);
    CHECK(text.find("48 searches took") != std::string::npos);
    const std::string json = out_of({"table", "--only", "1", "--json"});
    REQUIRE(is_json(json));
    CHECK(count_of(json, "\"at_bound\":1") == 24);
    CHECK(count_of(json, "\"collective\":\"AAS\"") == 6);
}

} // namespace schedule_test
