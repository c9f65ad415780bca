// SPDX-License-Identifier: BSD-3-Clause
// Files of graphs and schedules: what is written is read back, and what is wrong is named with its place.
#include "plexus/error.h"
#include "support/catch.h"
#include "support/tmpdir.h"
#include "tools/schedule/graph_file.h"
#include "tools/schedule/schedule_file.h"

namespace files_test {

using namespace plexus;
using namespace plexus::eco;
using namespace plexus::testing;
using namespace plexus::tools::schedule;

namespace {

constexpr const char* kGraph = R"({"links": [["a","x"],["x","b"],["b","x"],["x","a"]],
 "terminals": ["a",["b","b"]], "ports": "all", "remark": 1})";

/// A schedule on kGraph with this member or these rounds.
std::string schedule_with(const std::string& member, const std::string& rounds) {
    return std::string(R"({"topology": )") + kGraph + R"(, "collective": "OAS", "root": 0, )" + member +
           R"("rounds": )" + rounds + "}";
}

template <class Load>
std::string refusal_of(Load load, Status status = Status::bad_argument) {
    try {
        load();
    } catch (const Error& error) {
        CHECK(error.status() == status);
        return error.what();
    }
    return "it is taken";
}

void check_graph_refused(const std::string& text, const std::string& reason) {
    const TmpDir folder;
    const std::string file = folder.file("net.json", text);
    INFO(text);
    const std::string said = refusal_of([&] { graph_of(file); });
    CHECK(said == file + reason);
}

void check_schedule_refused(const std::string& text, const std::string& reason) {
    const TmpDir folder;
    const std::string file = folder.file("s.json", text);
    INFO(text);
    CHECK(refusal_of([&] { load_schedule(file); }) == file + reason);
}

ScheduleFile read_back(const ScheduleFile& written) {
    const TmpDir folder;
    return load_schedule(folder.file("s.json", to_json(written)));
}

} // namespace

TEST_CASE("a graph is read with its vertices as they first appear, and read back from its own text") {
    const TmpDir folder;
    const LinkGraph graph = graph_of(folder.file("net.json", kGraph));
    CHECK(graph.vertices == std::vector<std::string>{"a", "x", "b"});
    CHECK(graph.links == std::vector<DirectedLink>{{0, 1}, {1, 2}, {2, 1}, {1, 0}});
    CHECK(graph.terminals == std::vector<Terminal>{{0, 0}, {2, 2}});
    CHECK(graph.ports == Ports::all);
    CHECK(graph_of(folder.file("again.json", to_json(graph))) == graph);
    const LinkGraph staged = graph_of(folder.file(
        "staged.json", R"({"links": [["i","s"],["s","o\n\"\u00e9"]], "terminals": [["i","o\n\"\u00e9"]]})"));
    CHECK(staged.ports == Ports::one);
    CHECK(staged.terminals == std::vector<Terminal>{{0, 2}});
    CHECK(graph_of(folder.file("staged2.json", to_json(staged))) == staged);
    CHECK(graph_of("btree-4") == named_graph("btree-4"));
}

TEST_CASE("a text that holds no graph is refused with the place") {
    check_graph_refused("", ":1: this is no JSON (which has neither NaN nor infinity)");
    check_graph_refused("{\n\"links\": [}", ":2: this is no JSON (which has neither NaN nor infinity)");
    check_graph_refused("{\"links\": [[\"\xff\",\"b\"]]}",
                        ":1: this is no JSON (which has neither NaN nor infinity)");
    check_graph_refused("[]",
                        ": a graph is an object: {\"links\": [[\"u\",\"v\"], …], \"terminals\": [\"v\", …], "
                        "\"ports\": \"one\"}");
    check_graph_refused("{}", ": links is missing");
    check_graph_refused(R"({"links": {}})", ": links is no list");
    check_graph_refused(R"({"links": []})", ": terminals is missing");
    check_graph_refused(R"({"links": [["a","b"],["a"]], "terminals": []})",
                        ": links[1] is no pair of vertices");
    check_graph_refused(R"({"links": [["a",7]], "terminals": []})",
                        ": links[0] holds what is no vertex's name");
    check_graph_refused(R"({"links": [["a",""]], "terminals": []})",
                        ": links[0] holds what is no vertex's name");
    check_graph_refused(R"({"links": [["a","a"]], "terminals": []})",
                        ": links[0] leads from \"a\" to itself");
    check_graph_refused(R"({"links": [["a","b"],["b","a"],["a","b"]], "terminals": []})",
                        ": links[2] is the same as links[0]: from \"a\" to \"b\"");
    check_graph_refused(R"({"links": [["a","b"]], "terminals": ["a", 3]})",
                        R"(: terminals[1] is neither "v" nor ["in","out"])");
    check_graph_refused(R"({"links": [["a","b"]], "terminals": [["a","b","c"]]})",
                        R"(: terminals[0] is neither "v" nor ["in","out"])");
    check_graph_refused(R"({"links": [], "terminals": [], "ports": 1})",
                        R"(: ports is neither "one" nor "all")");
    std::string many = "\"p0\"";
    for (std::size_t each = 1; each <= kMostTerminals; ++each) many += ",\"p" + std::to_string(each) + "\"";
    check_graph_refused(R"({"links": [], "terminals": [)" + many + "]}",
                        ": terminals has 1025 entries; 1024 are the most");
    CHECK(refusal_of([] { graph_of("none.json"); }, Status::not_found) ==
          "none.json cannot be read: No such file or directory");
    CHECK(refusal_of([] { graph_of("omega-12"); }).find("\"omega-12\" is no omega-N") == 0);
    CHECK(refusal_of([] { graph_of("ring-99999999999999999999"); }).find("\"ring-9999") == 0);
    CHECK(refusal_of([] { graph_of("spiral-8"); }).find("there is no network \"spiral-8\"") == 0);
}

TEST_CASE("a schedule is read back as it was written, whether its network has a name or not") {
    for (const CollectiveKind kind : kCollectiveKinds) {
        const LinkGraph named = named_graph("clos-12");
        const SearchResult found = find_schedule(named, kind, 3, {});
        ScheduleFile file{named, found.schedule, found.bound.rounds, found.bound.reason};
        CHECK(read_back(file) == file);
        file.graph.ports = Ports::all;
        CHECK(read_back(file) == file);
        // The numbers of vertices change: they follow their first appearance.
        file.graph.name.clear();
        const ScheduleFile once = read_back(file);
        CHECK(once.schedule == file.schedule);
        CHECK(read_back(once) == once);
        CHECK(to_json(once) == to_json(file));
    }
}

TEST_CASE("paths are names of vertices or numbers of links; what may be absent is absent") {
    const TmpDir folder;
    const char* const named = R"([[{"src":0,"dst":1,"msg":0,"path":["a","x","b"]}]])";
    const char* const numbered = R"([[{"src":0,"dst":1,"msg":0,"path":[0,1]}]])";
    const ScheduleFile file =
        load_schedule(folder.file("s.json", schedule_with(R"("bound": 1, "reason": "r", )", named)));
    CHECK(file.schedule.rounds == std::vector<Round>{{{0, 1, 0, {0, 1}}}});
    CHECK(file.bound == 1);
    CHECK(file.reason == "r");
    CHECK(file.graph.ports == Ports::all);
    const ScheduleFile bare = load_schedule(folder.file("s.json", schedule_with("", numbered)));
    CHECK(bare.schedule == file.schedule);
    CHECK(!bare.bound);
    CHECK(load_schedule(folder.file("s.json", schedule_with("", R"([[{"src":0,"dst":1,"msg":0}]])")))
              .schedule.rounds[0][0]
              .path.empty());
    const ScheduleFile rootless = load_schedule(folder.file(
        "s.json", R"({"topology": "ring-3", "collective": "aab", "ports": "one", "rounds": []})"));
    CHECK(rootless.schedule == RoundSchedule{CollectiveKind::aab, 0, {}});
    CHECK(rootless.graph.ports == Ports::one);
}

TEST_CASE("a text that holds no schedule is refused with the place") {
    check_schedule_refused("3",
                           ": a schedule is an object: {\"topology\": …, \"collective\": …, \"rounds\": …}");
    check_schedule_refused("{}", ": topology is missing");
    check_schedule_refused(R"({"topology": 3})", ": topology is neither a name nor a graph");
    check_schedule_refused(R"({"topology": {"links": [["a"]], "terminals": []}})",
                           ": topology.links[0] is no pair of vertices");
    check_schedule_refused(R"({"topology": "ring-3"})", ": collective is missing");
    check_schedule_refused(R"({"topology": "ring-3", "collective": "AOG"})",
                           ": collective is none of OAB, AAB, OAS and AAS");
    check_schedule_refused(R"({"topology": "ring-3", "collective": "OAB"})", ": root is missing");
    check_schedule_refused(R"({"topology": "ring-3", "collective": "AAB", "root": -1})",
                           ": root is no number from 0 on");
    check_schedule_refused(R"({"topology": "ring-3", "collective": "AAB", "ports": "two"})",
                           R"(: ports is neither "one" nor "all")");
    check_schedule_refused(R"({"topology": "ring-3", "collective": "AAB"})", ": rounds is missing");
    check_schedule_refused(schedule_with(R"("ports": "one", )", "[]"),
                           R"(: ports is "one", and topology.ports "all")");
    check_schedule_refused(schedule_with("", "{}"), ": rounds is no list");
    check_schedule_refused(schedule_with("", "[[], 3]"), ": rounds[1] is no list of transfers");
    check_schedule_refused(schedule_with("", "[[], [3]]"), ": rounds[1][0] is no transfer");
    check_schedule_refused(schedule_with("", R"([[{"src": 0, "msg": 0}]])"), ": rounds[0][0].dst is missing");
    check_schedule_refused(schedule_with("", R"([[{"src": 0.5, "dst": 1, "msg": 0}]])"),
                           ": rounds[0][0].src is no number from 0 on");
    const auto with_path = [](const std::string& path) {
        return schedule_with("", R"([[{"src": 0, "dst": 1, "msg": 0, "path": )" + path + "}]]");
    };
    check_schedule_refused(with_path("[]"), ": rounds[0][0].path is no list of vertices or links");
    check_schedule_refused(with_path(R"(["a"])"), ": rounds[0][0].path has one vertex, which is no path");
    check_schedule_refused(with_path(R"(["a", "q"])"),
                           ": rounds[0][0].path: the network has no vertex \"q\"");
    check_schedule_refused(with_path(R"(["a", "b"])"),
                           ": rounds[0][0].path: no link leads from \"a\" to \"b\"");
    check_schedule_refused(with_path(R"(["a", 1])"), ": rounds[0][0].path holds both names and numbers");
    check_schedule_refused(with_path("[0, 4]"), ": rounds[0][0].path holds link 4; the network has 4 links");
    check_schedule_refused(with_path("[0, \"b\"]"), ": rounds[0][0].path is no number from 0 on");
    check_schedule_refused(schedule_with(R"("bound": -1, )", "[]"), ": bound is no number from 0 on");
    check_schedule_refused(schedule_with(R"("reason": 1, )", "[]"), ": reason is no text");
}

TEST_CASE("paths that are written as numbers of links are read back the same") {
    const LinkGraph star = named_graph("star-3");
    const RoundSchedule schedule{
        CollectiveKind::oas, 0, {{{0, 1, 0, shortest_paths(star, 0, 1, 1).front()}}}};
    const ScheduleFile written{star, schedule, 2, "two messages"};
    const std::string text = to_json(written, PathText::links);
    CHECK(text.find("\"path\":[\"") == std::string::npos);
    const TmpDir folder;
    CHECK(load_schedule(folder.file("s.json", text)) == written);
}

TEST_CASE(
    "a schedule that is too large with names of vertices is written with numbers of links, or refused") {
    const LinkGraph star = named_graph("star-3");
    const ScheduleFile written{star,
                               {CollectiveKind::oas, 0, {{{0, 1, 0, shortest_paths(star, 0, 1, 1).front()}}}},
                               2,
                               "two messages"};
    const std::string names = to_json(written);
    const std::string numbers = to_json(written, PathText::links);
    REQUIRE(numbers.size() < names.size());
    CHECK(loadable_text(written) == names);
    CHECK(loadable_text(written, names.size()) == names);
    CHECK(loadable_text(written, names.size() - 1) == numbers);
    CHECK(loadable_text(written, numbers.size()) == numbers);
    try {
        (void)loadable_text(written, numbers.size() - 1);
        FAIL("it was written");
    } catch (const Error& error) { CHECK(error.status() == Status::too_large); }
}

TEST_CASE("a file of more values than are read is refused before they are") {
    std::string text(std::size_t{1} << 25, ',');
    text.front() = '[';
    const TmpDir folder;
    const std::string file = folder.file("s.json", text);
    try {
        load_schedule(file);
        FAIL("it was read");
    } catch (const Error& error) {
        CHECK(error.status() == Status::too_large);
        CHECK(std::string(error.what()) == file + " holds more than 33554432 values");
    }
}

} // namespace files_test
