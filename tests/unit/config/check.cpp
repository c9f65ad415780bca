// SPDX-License-Identifier: BSD-3-Clause
// What was written against a schema: values, defaults, and everything that is refused.
#include "config/settings.h"
#include "support/catch.h"
#include "support/tmpdir.h"

#include <algorithm>

namespace check_test {

using namespace plexus;
using namespace plexus::config;
using namespace std::chrono_literals;
using plexus::testing::TmpDir;

namespace {

constexpr plexus_parameter kTcp[] = {
    {"sndbuf", "size", "256 KiB", "socket buffer"},
    {"nodelay", "bool", "true", "send small messages at once"},
    {"connect_timeout", "duration", "3 s", "when to give an address up"},
    {"interfaces", "list", "", "which to use"},
};

Schema schema() {
    Schema all = core_schema({"local", "shm", "tcp"});
    for (const Key& key : module_keys("tcp", kTcp).value()) all.push_back(key);
    return all;
}

Sources hermetic() { return {{}, {}, {}, ""}; }

Settings settled(const Sources& sources) {
    return Settings::check(Raw::gather(sources).value(), schema()).value();
}

std::string refusal(const Sources& sources) {
    const auto raw = Raw::gather(sources);
    if (!raw) return raw.failure().why;
    const auto settings = Settings::check(*raw, schema());
    return settings ? "accepted" : settings.failure().why;
}

std::string refusal_of_file(std::string_view text) {
    TmpDir dir;
    const std::string file = dir.file("plexus.toml", text).string();
    std::string why = refusal({{}, {}, {}, file});
    if (why.starts_with(dir.path().string())) why.erase(0, dir.path().string().size() + 1);
    return why;
}

std::string refusal_of_variable(const std::string& name, const std::string& value) {
    return refusal({{}, {{name, value}}, {}, ""});
}

} // namespace

TEST_CASE("where nobody says anything the defaults hold") {
    const Settings settings = settled(hermetic());
    CHECK(settings.list("methods") == split_list(default_methods()));
    CHECK(settings.list("module_path").empty());
    CHECK(settings.text("fallback") == "allow");
    CHECK(settings.bytes("limits.max_message") == 1u << 30);
    CHECK(settings.count("limits.calls") == 65536);
    CHECK(settings.boolean("progress.thread"));
    CHECK(settings.duration("progress.spin") == 50us);
    CHECK(settings.count("progress.idle_permille") == 10);
    CHECK(settings.skip_poll("method.tcp.skip_poll") == std::nullopt);
    CHECK_FALSE(settings.boolean("method.shm.blocking"));
    CHECK(settings.bytes("method.tcp.sndbuf") == 256u << 10);
    CHECK(settings.origin("log") == "default");
}

TEST_CASE("every key has a help line and a default of its own type, and is there once") {
    std::vector<std::string> names;
    for (const Key& key : schema()) {
        CAPTURE(key.name);
        CHECK_FALSE(key.help.empty());
        CHECK(key.help.find('\n') == std::string::npos);
        CHECK(check_value(key, key.preset));
        names.push_back(key.name);
    }
    std::sort(names.begin(), names.end());
    CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

TEST_CASE("a variable finds its key although _ is part of names too") {
    const Settings settings = settled({{},
                                       {{"PLEXUS_METHOD_TCP_SKIP_POLL", "20"},
                                        {"PLEXUS_MODULE_PATH", "/a, /b"},
                                        {"PLEXUS_METHOD_TCP_CONNECT_TIMEOUT", "1 s"},
                                        {"PLEXUS_LIMITS_MAX_MESSAGE", "2GiB"}},
                                       {},
                                       ""});
    CHECK(settings.skip_poll("method.tcp.skip_poll") == 20u);
    CHECK(settings.list("module_path") == std::vector<std::string>{"/a", "/b"});
    CHECK(settings.duration("method.tcp.connect_timeout") == 1s);
    CHECK(settings.bytes("limits.max_message") == 2ull << 30);
    CHECK(settings.origin("module_path") == "PLEXUS_MODULE_PATH");
}

TEST_CASE("two keys that share a variable: it is refused, not guessed") {
    Schema twins{{"a.b_c", Type::text, "", ""}, {"a_b.c", Type::text, "", ""}};
    const auto without = Settings::check(Raw::gather(hermetic()).value(), twins);
    CHECK(without);
    const auto with = Settings::check(Raw::gather({{}, {{"PLEXUS_A_B_C", "x"}}, {}, ""}).value(), twins);
    REQUIRE_FALSE(with);
    CHECK(with.failure().why ==
          "PLEXUS_A_B_C may mean a.b_c or a_b.c: unset it and use the file or the command line");
}

TEST_CASE("what the launcher and the file's name use is no unknown variable") {
    TmpDir dir;
    const std::string file = dir.file("x.toml", "").string();
    CHECK(refusal(
              {{}, {{"PLEXUS_JOB_RANK", "1"}, {"PLEXUS_JOB_KEY", "00"}, {"PLEXUS_CONFIG", file}}, {}, {}}) ==
          "accepted");
    const Settings settings = settled({{}, {{"PLEXUS_JOB_KEY_FILE", "/k"}}, {}, ""});
    CHECK(settings.text("job.key_file") == "/k");
}

TEST_CASE("an unknown variable that resembles a key is refused with the nearest known name") {
    CHECK(refusal_of_variable("PLEXUS_METODS", "tcp") ==
          "PLEXUS_METODS: no setting has this name; did you mean PLEXUS_METHODS?");
    CHECK(refusal_of_variable("PLEXUS_METHOD_TPC_SNDBUF", "1").find("PLEXUS_METHOD_TCP_SNDBUF") !=
          std::string::npos);
    // Nothing near, but in a section of ours.
    for (const char* name :
         {"PLEXUS_METHOD_PIGEON_WINGS", "PLEXUS_LIMITS_OF_GROWTH", "PLEXUS_PROGRESS_WEATHER"}) {
        CAPTURE(name);
        CHECK(refusal_of_variable(name, "1").find("plexus info --config") != std::string::npos);
    }
}

TEST_CASE("an unknown variable that resembles no key may be another program's: a warning") {
    for (const char* name : {"PLEXUS_WEATHER_TOMORROW", "PLEXUS_HOME", "PLEXUS_FUZZ_SECONDS", "PLEXUS_"}) {
        CAPTURE(name);
        CHECK(refusal_of_variable(name, "1") == "accepted");
        const Settings settings = settled({{}, {{name, "1"}, {"PLEXUS_LOG", "info"}}, {}, ""});
        REQUIRE(settings.warnings().size() == 1);
        CHECK(settings.warnings()[0].starts_with(std::string(name) +
                                                 ": no setting has this name: it is ignored"));
        CHECK(settings.warnings()[0].find("plexus info --config") != std::string::npos);
        CHECK(settings.text("log") == "info");
    }
    CHECK(settled(hermetic()).warnings().empty());
}

TEST_CASE("the listing names what only the program has suggested") {
    Sources sources = hermetic();
    sources.defaults = {{"log", "error"}, {"name", "solver"}};
    sources.program = {{"name", "x"}};
    const Settings settings = settled(sources);
    CHECK(settings.text("log") == "error");
    CHECK(settings.origin("log") == "default of the program");
    CHECK(settings.origin("name") == "program");
    sources.defaults = {{"lgo", "error"}};
    CHECK(refusal(sources).starts_with("default of the program: unknown key \"lgo\"; did you mean \"log\"?"));
    sources.defaults = {{"log", "error"}, {"limits.calls", "0"}};
    CHECK(refusal(sources).starts_with("default of the program: limits.calls: 0 is too little"));
}

TEST_CASE("an unknown key in a file is refused with file, line, nearest key, and what there is") {
    const std::string slip = refusal_of_file("\n[progress]\nspinn = \"1 us\"\n");
    CHECK(slip.starts_with("plexus.toml:3: unknown key \"progress.spinn\"; did you mean \"progress.spin\"? "
                           "[progress] takes close_timeout, "));
    CHECK(slip.ends_with(", spin, thread, yield"));
    CHECK(refusal_of_file("[method.tcp]\nsndbuff = 1\n") ==
          "plexus.toml:2: unknown key \"method.tcp.sndbuff\"; did you mean \"method.tcp.sndbuf\"? "
          "[method.tcp] takes blocking, "
          "connect_timeout, interfaces, nodelay, skip_poll, sndbuf, within");
    CHECK(refusal_of_file("sndbuf = 1\n").find("did you mean \"method.tcp.sndbuf\"?") != std::string::npos);
    CHECK(refusal_of_file("weather = 1\n").find("`plexus info --config` lists all keys") !=
          std::string::npos);
    CHECK(refusal_of_file("progress = 1\n").find("\"progress\" is a section") != std::string::npos);
    CHECK(refusal_of_file("\"\" = 1\n").find("unknown key \"\"") != std::string::npos);
}

TEST_CASE("a section of a method that is not there is refused, even an empty one") {
    const std::string why =
        "plexus.toml:1: there is no method \"tpc\"; did you mean \"tcp\"? Methods here: local, shm, tcp";
    CHECK(refusal_of_file("[method.tpc]\n") == why);
    CHECK(refusal_of_file("method.tpc.sndbuf = 1\n") == why);
    CHECK(refusal_of_file("[method.pigeon]\n") ==
          "plexus.toml:1: there is no method \"pigeon\". Methods here: local, shm, tcp");
    CHECK(refusal_of_file("[progres]\n").starts_with("plexus.toml:1: unknown key \"progres\""));
    CHECK(refusal_of_file("[method]\n[method.tcp]\n[limits]\n") == "accepted");
}

TEST_CASE("an unknown option is refused") {
    Sources sources = hermetic();
    sources.arguments = {"--plexus-metods=tcp"};
    CHECK(refusal(sources).starts_with("--plexus-metods: unknown key \"metods\"; did you mean \"methods\"?"));
}

TEST_CASE("a bad value is refused with its origin, its key, and what would be accepted") {
    CHECK(refusal_of_file("\n[method.tcp]\nsndbuf = \"4 Mibs\"\n")
              .starts_with("plexus.toml:3: method.tcp.sndbuf: \"4 Mibs\" is no size: "));
    CHECK(refusal_of_file("[method.tcp]\nsndbuf = -1\n").starts_with("plexus.toml:2: method.tcp.sndbuf: "));
    CHECK(refusal_of_file("fallback = \"never\"\n") ==
          "plexus.toml:1: fallback: \"never\" is not one of allow, warn, forbid");
    CHECK(refusal_of_variable("PLEXUS_LIMITS_CALLS", "0") ==
          "PLEXUS_LIMITS_CALLS: limits.calls: 0 is too little: write 1 or more");
    CHECK(refusal_of_variable("PLEXUS_PROGRESS_SPIN", "50").find("50 us") != std::string::npos);
    CHECK(refusal_of_variable("PLEXUS_METHOD_TCP_SKIP_POLL", "often").find("auto") != std::string::npos);
    CHECK(refusal_of_file("limits.calls = 1.5\n").find("whole number") != std::string::npos);
    CHECK(refusal_of_file("limits.calls = [1, 2]\n").find("whole number") != std::string::npos);
}

TEST_CASE("the values that modules are told are as simple as their grammar permits") {
    const Settings settings = settled({{},
                                       {},
                                       {{"method.tcp.sndbuf", "4 MiB"},
                                        {"method.tcp.nodelay", "off"},
                                        {"method.tcp.connect_timeout", "50 us"},
                                        {"method.tcp.interfaces", "a ,, b"},
                                        {"name", " as it is "}},
                                       ""});
    CHECK(settings.text("method.tcp.sndbuf") == "4 MiB");
    CHECK(settings.plain("method.tcp.sndbuf") == "4194304");
    CHECK(settings.plain("method.tcp.nodelay") == "false");
    CHECK(settings.plain("method.tcp.connect_timeout") == "50000 ns");
    CHECK(settings.plain("method.tcp.interfaces") == "a, b");
    CHECK(settings.plain("method.tcp.skip_poll") == "auto");
    CHECK(settings.plain("name") == " as it is ");
}

TEST_CASE("the listing holds every key by name, with value and origin") {
    const auto lines = settled({{"--plexus-log=info"}, {}, {}, ""}).lines();
    CHECK(lines.size() == schema().size());
    CHECK(
        std::is_sorted(lines.begin(), lines.end(), [](auto& a, auto& b) { return a.key.name < b.key.name; }));
    const auto log =
        std::find_if(lines.begin(), lines.end(), [](auto& line) { return line.key.name == "log"; });
    REQUIRE(log != lines.end());
    CHECK(log->value == "info");
    CHECK(log->origin == "--plexus-log");
}

TEST_CASE("asking for a key that is not in the schema, or by another type, is a bug that throws") {
    const Settings settings = settled(hermetic());
    CHECK_FALSE(settings.has("weather"));
    CHECK(settings.has("log"));
    CHECK_THROWS_AS(settings.text("weather"), std::out_of_range);
    CHECK_THROWS_AS(settings.bytes("log"), std::out_of_range);
}

TEST_CASE("a module whose parameters do not fit is refused with its name and theirs") {
    const auto refused = [](plexus_parameter parameter) {
        const auto keys = module_keys("odd", {&parameter, 1});
        return keys ? std::string("accepted") : keys.failure().why;
    };
    CHECK(refused({"x", "size", "1 KiB", ""}) == "accepted");
    CHECK(refused({"x", "color", "red", ""}).find("unknown type \"color\"") != std::string::npos);
    CHECK(refused({"x", "size", "big", ""}).find("a default that is not one") != std::string::npos);
    CHECK(refused({"skip_poll", "count", "1", ""}).find("there already") != std::string::npos);
}

} // namespace check_test
