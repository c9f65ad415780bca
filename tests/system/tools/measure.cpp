// SPDX-License-Identifier: BSD-3-Clause
// `plexus info --measure`: every method that is here takes part, what is written is a
// configuration, and a method that fails is named and left out.
#include "support/catch.h"
#include "support/tmpdir.h"
#include "system/launcher/command.h"
#include "system/tools/json_text.h"
#include "tools/info/order.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace measure_test {

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

/// While it lives, commands start in this folder, and the user's own configuration lies below it.
class Home {
  public:
    Home()
      : before_(std::filesystem::current_path()) {
        std::filesystem::create_directories(folder_ / "config/plexus");
        std::filesystem::current_path(folder_.path());
        ::setenv("XDG_CONFIG_HOME", (folder_ / "config").c_str(), 1);
    }
    ~Home() {
        ::unsetenv("XDG_CONFIG_HOME");
        std::filesystem::current_path(before_);
    }
    Home(const Home&) = delete;
    Home& operator=(const Home&) = delete;

    void user_configuration(std::string_view text) { folder_.file("config/plexus/plexus.toml", text); }
    /// What lies in it, apart from the user's configuration.
    std::vector<std::string> files() const {
        std::vector<std::string> names;
        for (const auto& each : std::filesystem::directory_iterator(folder_.path()))
            if (each.path().filename() != "config") names.push_back(each.path().filename().string());
        return names;
    }

  private:
    const TmpDir folder_;
    const std::filesystem::path before_;
};

std::vector<std::string> present_methods() {
    Command info({"info", "--json"});
    REQUIRE(info.wait() == 0);
    return methods_in(value_of(info.out(), "methods").value_or(""));
}

/// The rows of a context's table, by their names.
std::vector<std::string> rows_in(const std::vector<std::string>& lines) {
    std::vector<std::string> names;
    for (const std::string& line : lines)
        if (!line.starts_with("@")) names.push_back(line.substr(0, line.find(' ')));
    return names;
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
    Command table({"info", "--table"});
    REQUIRE(table.wait() == 0);
    // A method without a row reaches others only: it is not measured, and stays last in the list.
    const std::vector<std::string> reached = rows_in(table.lines());
    REQUIRE(reached.size() > 2);
    REQUIRE(present.size() > reached.size());
    const std::string measured = value_of(tool.out(), "methods").value_or("");
    // One that could not be opened is listed with its reason.
    const std::vector<std::string> listed = methods_in(measured);
    for (const std::string& method : reached)
        CHECK(std::find(listed.begin(), listed.end(), method) != listed.end());
    CHECK(count_of(measured, "\"measured\":true") == static_cast<int>(reached.size()));
    CHECK(count_of(measured, "\"one_way_us\":") == 4 * static_cast<int>(reached.size()));
    CHECK(number_of(measured, "one_way_us").value_or(0) > 0);
    CHECK(number_of(value_of(tool.out(), "recommended").value_or(""), "from_bytes") == 0);

    const std::string text = text_of(file);
    INFO(text);
    CHECK(count_of(text, "\nmethods = [") == 1);
    for (const std::string& method : reached) CHECK(text.find("\n#   " + method + " ") != std::string::npos);
    for (const std::string& method : present) CHECK(text.find("\"" + method + "\"") != std::string::npos);
    CHECK(text.find("\"" + present.back() + "\"]\n") != std::string::npos);
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

TEST_CASE("info --measure --output plexus.toml measures by the user's configuration, not by the new file") {
    Home home;
    home.user_configuration("methods = [\"tcp?sndbuf=1MiB\"]\n");
    Command tool({"info", "--measure", "--output", "plexus.toml"});
    REQUIRE(tool.wait(kLong) == 0);
    CHECK(home.files() == std::vector<std::string>{"plexus.toml"});
    const std::string text = text_of("plexus.toml");
    INFO(text);
    CHECK(text.find("\nmethods = [\"tcp?sndbuf=1MiB\"]\n") != std::string::npos);
    Command again({"info", "--measure", "--output", "plexus.toml"});
    CHECK(again.wait() == 3);
    CHECK(text_of("plexus.toml") == text);
}

TEST_CASE(
    "info --measure that is interrupted leaves no file, and one that can't be written is said at once") {
    Home home;
    Command tool({"info", "--measure", "--output", "plexus.toml"});
    REQUIRE(eventually(20s, [&] { return tool.processes().size() > 1; })); // it measures
    tool.kill(SIGINT);
    CHECK(tool.wait() == 128 + SIGINT);
    CHECK(tool.left_nothing());
    CHECK(home.files().empty());

    Command nowhere({"info", "--measure", "--output", "no_such_folder/plexus.toml"});
    CHECK(nowhere.wait() == 3);
    CHECK(nowhere.err().find("can't be written: No such file") != std::string::npos);
    CHECK(nowhere.out().empty());
}

TEST_CASE("a list of rows keeps the parameters of their method, and what was excluded stays so") {
    using Names = std::vector<std::string>;
    using plexus::tools::list_of;
    const Names both{"libfabric:shm", "libfabric:tcp", "tcp?listen=[::1]:0"};
    const Names wanted{"libfabric?provider=shm%2Ctcp", "tcp?listen=[::1]:0"};
    CHECK(plexus::tools::names_of_rows({"libfabric:shm", "libfabric:tcp", "tcp"}, wanted) == both);
    CHECK(list_of(both, both, wanted) == Names{"libfabric:shm", wanted[0], wanted[1]});
    CHECK(list_of({both[1], both[2], both[0]}, both, wanted) == Names{"libfabric:tcp", wanted[1], wanted[0]});
    CHECK(list_of({both[1]}, both, wanted) == Names{wanted[0], "^libfabric:shm"});
    CHECK(list_of({both[1]}, {both[1]}, {wanted[0], "^libfabric:shm"}) == Names{wanted[0], "^libfabric:shm"});
    // Without parameters the names say it all.
    CHECK(list_of({both[1], "tcp"}, {both[0], both[1], "tcp"}, {"^libfabric:shm"}) == Names{both[1], "tcp"});
}

TEST_CASE("info --measure measures every row of a method, and recommends none that the user excluded") {
    const std::string both = "libfabric?provider=shm%2Ctcp";
    Command info({"info", "--table", "--set", "methods=tcp, " + both});
    REQUIRE(info.wait());
    if (info.err().find("no module provides the method \"libfabric\"") != std::string::npos)
        SKIP_TEST("the module libfabric was not built");
    INFO(info.err());
    REQUIRE(rows_in(info.lines()).size() == 3);

    Command tool({"info", "--measure", "--json", "--set", "methods=tcp, " + both});
    REQUIRE(tool.wait(kLong) == 0);
    const std::string measured = value_of(tool.out(), "methods").value_or("");
    CHECK(methods_in(measured) == std::vector<std::string>{"tcp", "libfabric:shm", "libfabric:tcp"});
    CHECK(count_of(measured, "\"measured\":true") == 3);
    // What is recommended has all three, with the parameter that makes them.
    const TmpDir folder;
    const std::string file = folder.file("site.toml", "").string();
    const std::string text = value_of(tool.out(), "configuration").value_or("");
    const std::size_t begin = text.find('[');
    std::string list = text.substr(begin, text.find(']') + 1 - begin);
    std::erase(list, '\\'); // it is quoted in JSON
    INFO(list);
    CHECK(list.find(both) != std::string::npos);
    folder.file("site.toml", "methods = " + list + "\n");
    Command reader({"info", "--table", "--plexus-config", file});
    CHECK(reader.wait() == 0);
    CHECK(rows_in(reader.lines()).size() == 3);

    Command less({"info", "--measure", "--json", "--set", "methods=^local, ^shm, ^libfabric:shm", "--set",
                  "method.libfabric.provider=shm, tcp"});
    REQUIRE(less.wait(kLong) == 0);
    CHECK(count_of(less.out(), "libfabric:shm") == 0);
    const std::string rest = value_of(less.out(), "recommended").value_or("");
    CHECK(rest.find("\"libfabric:tcp\"") != std::string::npos);
    CHECK(rest.find("\"tcp\"") != std::string::npos);
    CHECK(rest.find("\"shm\"") == std::string::npos);
}

} // namespace measure_test
