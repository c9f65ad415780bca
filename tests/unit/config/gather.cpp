// SPDX-License-Identifier: BSD-3-Clause
// What the sources say, before any key is known: files and their places, arguments, layers.
#include "config/settings.h"
#include "support/catch.h"
#include "support/eventually.h"
#include "support/process.h"
#include "support/tmpdir.h"

#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

namespace gather_test {

using namespace plexus;
using namespace plexus::config;
using plexus::testing::TmpDir;

namespace {

// A process environment of the test's own: an empty working folder, an empty home.
class Surroundings {
  public:
    Surroundings()
      : before_(std::filesystem::current_path())
      , mask_(::umask(022)) {
        for (const char* name : {"HOME", "XDG_CONFIG_HOME"})
            if (const char* value = std::getenv(name)) saved_.emplace(name, value);
        std::filesystem::create_directories(home());
        std::filesystem::create_directories(work());
        std::filesystem::current_path(work());
        ::setenv("HOME", home().c_str(), 1);
        ::unsetenv("XDG_CONFIG_HOME");
    }
    ~Surroundings() {
        ::umask(mask_);
        std::filesystem::current_path(before_);
        for (const char* name : {"HOME", "XDG_CONFIG_HOME"}) {
            const auto value = saved_.find(name);
            if (value == saved_.end()) {
                ::unsetenv(name);
            } else {
                ::setenv(name, value->second.c_str(), 1);
            }
        }
    }
    std::filesystem::path home() const { return dir / "home"; }
    std::filesystem::path work() const { return dir / "work"; }
    void write(const std::filesystem::path& file, std::string_view text) const {
        if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }

    TmpDir dir;

  private:
    std::filesystem::path before_;
    mode_t mask_;
    std::map<std::string, std::string> saved_;
};

Raw gathered(const Sources& sources) { return Raw::gather(sources).value(); }

std::string value_of(const Raw& raw, std::string_view key) {
    const Raw::Entry* entry = raw.find(key);
    return entry ? entry->value + " from " + entry->origin : "unset";
}

std::string refusal(const Sources& sources) {
    const auto raw = Raw::gather(sources);
    return raw ? "accepted" : raw.failure().why;
}

std::string warnings_of(const Raw& raw) {
    std::string all;
    for (const std::string& warning : raw.warnings()) all += warning + "\n";
    return all;
}

Sources from_arguments(std::vector<std::string> arguments) { return {std::move(arguments), {}, {}, ""}; }
Sources from_file(const std::filesystem::path& file) { return {{}, {}, {}, file.string()}; }

} // namespace

TEST_CASE("a file is found in the working folder, then the user's, and only the first counts") {
    Surroundings here;
    CHECK(value_of(gathered({}), "log").starts_with("unset")); // unless the system has a file that sets it
    here.write(here.home() / ".config/plexus/plexus.toml", "\nlog = \"info\"");
    CHECK(value_of(gathered({}), "log") ==
          "info from " + here.home().string() + "/.config/plexus/plexus.toml:2");
    ::setenv("XDG_CONFIG_HOME", (here.dir / "xdg").c_str(), 1);
    CHECK(value_of(gathered({}), "log") == "unset");
    here.write(here.dir / "xdg/plexus/plexus.toml", "log = \"error\"");
    CHECK(value_of(gathered({}), "log") ==
          "error from " + here.dir.path().string() + "/xdg/plexus/plexus.toml:1");
    here.write(here.work() / "plexus.toml", "name = \"x\"");
    CHECK(value_of(gathered({}), "log") == "unset");
    CHECK(value_of(gathered({}), "name") == "x from plexus.toml:1");
    CHECK(gathered({}).file() == "plexus.toml");
}

TEST_CASE("a file that is named replaces the search: program, then option, then variable") {
    Surroundings here;
    here.write("plexus.toml", "name = \"found\"");
    here.write("a.toml", "name = \"a\"");
    here.write("b.toml", "name = \"b\"");
    here.write("c.toml", "name = \"c\"");
    Sources sources;
    sources.environment = {{"PLEXUS_CONFIG", "a.toml"}};
    CHECK(value_of(gathered(sources), "name") == "a from a.toml:1");
    sources.arguments = {"--plexus-config=b.toml"};
    CHECK(value_of(gathered(sources), "name") == "b from b.toml:1");
    sources.file = "c.toml";
    CHECK(value_of(gathered(sources), "name") == "c from c.toml:1");
    sources.file = "";
    CHECK(value_of(gathered(sources), "name") == "unset");
}

TEST_CASE("a named file that is not there is an error that says who named it") {
    Surroundings here;
    CHECK(refusal({{"--plexus-config", "no.toml"}, {}, {}, {}}) ==
          "--plexus-config: there is no file no.toml");
    CHECK(refusal({{}, {{"PLEXUS_CONFIG", "no.toml"}}, {}, {}}) == "PLEXUS_CONFIG: there is no file no.toml");
    CHECK(Raw::gather(from_file("no.toml")).status() == Status::not_found);
}

TEST_CASE("a file that can't be read is an error with the system's text") {
    Surroundings here;
    std::filesystem::create_directory("plexus.toml");
    CHECK(refusal({}) == "can't read the configuration file plexus.toml: Is a directory");
    std::filesystem::remove("plexus.toml");
    if (::geteuid() != 0) {
        here.write("plexus.toml", "");
        ::chmod("plexus.toml", 0);
        CHECK(refusal({}) == "can't read the configuration file plexus.toml: Permission denied");
    }
}

TEST_CASE("a file without an end is refused") {
    Surroundings here;
    CHECK(refusal(from_file("/dev/zero")).find("larger than 1 MiB") != std::string::npos);
    constexpr std::size_t kMost = std::size_t{1} << 20;
    here.write("plexus.toml", std::string(kMost, '\n'));
    CHECK(refusal({}) == "accepted");
    here.write("plexus.toml", std::string(kMost + 1, '\n'));
    CHECK(refusal({}).find("larger than 1 MiB") != std::string::npos);
}

TEST_CASE("a file that is no TOML is an error with its line") {
    Surroundings here;
    here.write("plexus.toml", "log = \"info\"\n\nmethods = [\"tcp\"\nname = 3\n");
    const std::string why = refusal({});
    CHECK(why.starts_with("plexus.toml:4: "));
    here.write("plexus.toml", "log = 1\nlog = 2\n");
    CHECK(refusal({}).starts_with("plexus.toml:2: "));
    here.write("plexus.toml", std::string("name = \"\0\x01\xff\"", 13));
    CHECK(refusal({}).starts_with("plexus.toml:1: "));
}

TEST_CASE("a name of absurd depth is refused before the parser's stack is at stake") {
    Surroundings here;
    std::string deep = "a";
    for (int i = 0; i < 100'000; ++i) deep += ".a";
    for (const std::string& text :
         {"\n[" + deep + "]\n", "\n" + deep + " = 1\n", "\nx = [{" + deep + " = 1}]\n"}) {
        here.write("plexus.toml", text);
        CHECK(refusal({}).starts_with("plexus.toml:2: this name has too many parts"));
    }
    // Sixteen dots are the most, wherever a key of ours may end.
    const auto parts = [](int dots) {
        std::string name = "a";
        for (int i = 0; i < dots; ++i) name += ".a";
        return name + " = 1\n";
    };
    here.write("plexus.toml", parts(17));
    CHECK(refusal({}).find("too many parts") != std::string::npos);
    here.write("plexus.toml", parts(15));
    CHECK(refusal({}) == "accepted");
    std::string nested = "x = ";
    for (int i = 0; i < 100; ++i) nested += "{ a.a.a.a = ";
    here.write("plexus.toml", nested + "1" + std::string(100, '}'));
    CHECK(refusal({}) == "plexus.toml:1: tables this deep hold no key of Plexus");
    here.write("plexus.toml", "# " + std::string(1000, '.') + "\nname = \"" + std::string(100, '.') + "\"\n");
    CHECK(refusal({}) == "accepted");
}

TEST_CASE("every kind of TOML value becomes text, with its own line") {
    Surroundings here;
    here.write("plexus.toml", R"(methods = [
    "local",
    "tcp?sndbuf=4MiB",
]
progress = { thread = false, spin = "50 us" }
[limits]
calls = 1_000
[method.tcp]
nodelay = true
)");
    const Raw raw = gathered({});
    CHECK(value_of(raw, "methods") == "local, tcp?sndbuf=4MiB from plexus.toml:1");
    CHECK(value_of(raw, "progress.thread") == "false from plexus.toml:5");
    CHECK(value_of(raw, "progress.spin") == "50 us from plexus.toml:5");
    CHECK(value_of(raw, "limits.calls") == "1000 from plexus.toml:7");
    CHECK(value_of(raw, "method.tcp.nodelay") == "true from plexus.toml:9");
}

TEST_CASE("values that no setting can have are refused with their line") {
    Surroundings here;
    here.write("plexus.toml", "\nname = 1979-05-27\n");
    CHECK(refusal({}).starts_with("plexus.toml:2: name: "));
    here.write("plexus.toml", "methods = [\n[\"tcp\"]]\n");
    CHECK(refusal({}).starts_with("plexus.toml:2: methods: "));
    here.write("plexus.toml", "methods = [\"shm, tcp\"]\n");
    CHECK(refusal({}).find("one element for each piece") != std::string::npos);
}

TEST_CASE("our options are taken out of the arguments, the others stay in order") {
    const Raw raw = gathered(from_arguments({"run", "--plexus-log=info", "-x", "--plexus-method.tcp.sndbuf",
                                             "4 MiB", "--plexusy", "file", "--plexus-name=", "-"}));
    CHECK(raw.remaining_arguments() == std::vector<std::string>{"run", "-x", "--plexusy", "file", "-"});
    CHECK(value_of(raw, "log") == "info from --plexus-log");
    CHECK(value_of(raw, "method.tcp.sndbuf") == "4 MiB from --plexus-method.tcp.sndbuf");
    CHECK(value_of(raw, "name") == " from --plexus-name");
}

TEST_CASE("nothing behind -- is ours") {
    const Raw raw = gathered(from_arguments({"--plexus-log=info", "--", "--plexus-log=debug", "--", "x"}));
    CHECK(raw.remaining_arguments() == std::vector<std::string>{"--", "--plexus-log=debug", "--", "x"});
    CHECK(value_of(raw, "log") == "info from --plexus-log");
}

TEST_CASE("an option without a value is an error, and does not eat the next option") {
    for (const std::vector<std::string>& bad : std::vector<std::vector<std::string>>{
             {"--plexus-log"}, {"--plexus-log", "--plexus-name=x"}, {"--plexus-log", "--", "info"}})
        CHECK(refusal(from_arguments(bad)) == "--plexus-log needs a value: write --plexus-log=<value>");
    CHECK(refusal(from_arguments({"--plexus-=3"})).starts_with("--plexus-=3: write --plexus-<key>=<value>"));
}

TEST_CASE("an option that is given twice: the last counts") {
    CHECK(value_of(gathered(from_arguments({"--plexus-log=info", "--plexus-log=debug"})), "log") ==
          "debug from --plexus-log");
}

TEST_CASE("a later layer wins, key by key") {
    Surroundings here;
    here.write("plexus.toml", "name = \"file\"\nlog = \"file\"\nlisten = \"file\"\nfallback = \"file\"\n");
    const Raw raw = gathered(
        {{"--plexus-log=arguments", "--plexus-name=arguments"},
         {{"PLEXUS_NAME", "environment"}, {"PLEXUS_LOG", "environment"}, {"PLEXUS_LISTEN", "environment"}},
         {{"name", "program"}},
         {}});
    CHECK(value_of(raw, "name") == "program from program");
    CHECK(value_of(raw, "log") == "arguments from --plexus-log");
    CHECK(value_of(raw, "listen") == "environment from PLEXUS_LISTEN");
    CHECK(value_of(raw, "fallback") == "file from plexus.toml:4");
}

TEST_CASE("what the program suggests holds below every other layer") {
    Surroundings here;
    here.write("plexus.toml", "fallback = \"file\"\n");
    Sources sources{
        {"--plexus-log=arguments"}, {{"PLEXUS_METHODS", "environment"}}, {{"name", "program"}}, {}};
    sources.defaults = {{"fallback", "suggested"},
                        {"log", "suggested"},
                        {"methods", "suggested"},
                        {"limits.calls", "suggested"},
                        {"name", "suggested"}};
    const Raw raw = gathered(sources);
    CHECK(value_of(raw, "fallback") == "file from plexus.toml:1");
    CHECK(value_of(raw, "log") == "arguments from --plexus-log");
    CHECK(value_of(raw, "methods") == "environment from PLEXUS_METHODS");
    CHECK(value_of(raw, "name") == "program from program");
    CHECK(value_of(raw, "limits.calls") == "suggested from default of the program");
}

TEST_CASE("a parameter in a suggested list loses against every other layer") {
    Surroundings here;
    here.write("plexus.toml", "method.tcp.sndbuf = 2\n");
    Sources sources;
    sources.defaults = {{"methods", "tcp?sndbuf=1"}, {"method.tcp.rcvbuf", "7"}};
    Raw raw = gathered(sources);
    raw.imply("methods", "method.tcp.sndbuf", "1");
    CHECK(value_of(raw, "method.tcp.sndbuf") == "2 from plexus.toml:1");
    raw.imply("methods", "method.tcp.rcvbuf", "1");
    CHECK(value_of(raw, "method.tcp.rcvbuf") == "1 from default of the program");
}

TEST_CASE("a value that another key needs is filled in where nobody has set it") {
    Raw raw = gathered(from_arguments({"--plexus-listen=plexus://0.0.0.0:0", "--plexus-method.x.listen=lo"}));
    raw.complete("listen", "method.tcp.listen", "all");
    raw.complete("listen", "method.x.listen", "all");
    raw.complete("methods", "method.y.listen", "all");
    CHECK(value_of(raw, "method.tcp.listen") == "all from listen (--plexus-listen)");
    CHECK(value_of(raw, "method.x.listen") == "lo from --plexus-method.x.listen");
    CHECK(value_of(raw, "method.y.listen") == "unset");
    Raw other =
        gathered({{}, {{"PLEXUS_METHOD_TCP_LISTEN", "eth0"}}, {{"listen", "plexus://0.0.0.0:0"}}, ""});
    other.complete("listen", "method.tcp.listen", "all");
    CHECK(value_of(other, "method.tcp.listen") == "eth0 from PLEXUS_METHOD_TCP_LISTEN");
}

TEST_CASE(
    "a file found in the working folder does not say which code is loaded, which key is used, who listens or "
    "relays") {
    Surroundings here;
    here.write("plexus.toml", R"(module_path = "/m"
job.key_file = "/k"
listen = "plexus://0.0.0.0:1"
method.tcp.listen = "all"
method.tcp.sndbuf = 5
methods = "tcp?listen=all"
method.tls.key = "/key"
method.tls.certificate = "/own"
method.tls.ca = "/ca"
method.tls.crl = "/crl"
method.tls.names = ["a"]
method.forward.via = ["plexus://h:1"]
forward.allow = "all"
forward.links = 4
)");
    Raw raw = gathered({});
    raw.imply("methods", "method.tcp.listen", "all");
    raw.imply("methods", "method.tcp.rcvbuf", "9");
    raw.imply("methods", "method.tls.ca", "/other");
    const std::vector<const char*> withheld{
        "module_path",        "job.key_file",           "listen",         "method.tcp.listen",
        "method.tls.key",     "method.tls.ca",          "method.tls.crl", "method.tls.names",
        "method.forward.via", "method.tls.certificate", "forward.allow"};
    for (const char* key : withheld) {
        CAPTURE(key);
        CHECK(value_of(raw, key) == "unset");
        CHECK(warnings_of(raw).find(std::string(": ") + key + " is passed over") != std::string::npos);
    }
    CHECK(raw.warnings().size() == withheld.size() + 2);
    CHECK(value_of(raw, "forward.links") == "4 from plexus.toml:14");
    CHECK(raw.warnings()[0].find("--plexus-config=plexus.toml") != std::string::npos);
    CHECK(value_of(raw, "method.tcp.sndbuf") == "5 from plexus.toml:5");
    CHECK(value_of(raw, "method.tcp.rcvbuf") == "9 from plexus.toml:6");

    // The same words count where the file was named, or where only the user can have put it.
    for (const Sources& sources :
         {Sources{{"--plexus-config=plexus.toml"}, {}, {}, {}},
          Sources{{}, {{"PLEXUS_CONFIG", "plexus.toml"}}, {}, {}}, from_file("plexus.toml")}) {
        Raw named = gathered(sources);
        named.imply("methods", "method.tcp.listen", "all");
        CHECK(value_of(named, "module_path") == "/m from plexus.toml:1");
        CHECK(value_of(named, "method.tcp.listen") == "all from plexus.toml:6");
        CHECK(named.warnings().empty());
    }
    std::filesystem::create_directories(here.home() / ".config/plexus");
    std::filesystem::rename("plexus.toml", here.home() / ".config/plexus/plexus.toml");
    CHECK(value_of(gathered({}), "module_path").starts_with("/m from "));
    CHECK(gathered({}).warnings().empty());
}

TEST_CASE("a file that others could have written is passed over, and the next place counts") {
    Surroundings here;
    here.write("plexus.toml", "name = \"theirs\"");
    here.write(here.home() / ".config/plexus/plexus.toml", "name = \"mine\"");
    const auto name = [] { return value_of(gathered({}), "name").substr(0, 6); };
    CHECK(name() == "theirs");
    for (const mode_t mode : {0775u, 0757u, 0777u, 01777u}) {
        CAPTURE(mode);
        ::chmod(".", mode);
        CHECK(name() == "mine f");
        CHECK(
            warnings_of(gathered({})).find("others may write to the folder " + here.work().string() + " ") !=
            std::string::npos);
        ::chmod(".", 0755);
        ::chmod("plexus.toml", mode & 0666);
        CHECK(name() == "mine f");
        CHECK(warnings_of(gathered({})).find("others may write to the file plexus.toml ") !=
              std::string::npos);
        ::chmod("plexus.toml", 0644);
        CHECK(name() == "theirs");
    }
    // The user's own file keeps the same rule: HOME may be another user's, as after `su`.
    std::filesystem::remove("plexus.toml");
    ::chmod((here.home() / ".config/plexus").c_str(), 0777);
    CHECK(name() == "unset");
    CHECK(gathered({}).warnings().size() == 1);
}

TEST_CASE("a file counts for its owner, and root's for everybody") {
    if (::geteuid() != 0) SKIP_TEST("only root can become another user");
    constexpr uid_t kSomebody = 65534;
    constexpr uid_t kAnother = 65533;
    Surroundings here;
    ::chmod(here.dir.path().c_str(), 0755);
    here.write("plexus.toml", "name = \"x\"");
    const auto counts = [&](uid_t folder, uid_t file) {
        if (::chown(".", folder, folder) != 0 || ::chown("plexus.toml", file, file) != 0) return false;
        plexus::testing::Process user([&](plexus::testing::Channel&) {
            if (::setgid(kSomebody) != 0 || ::setuid(kSomebody) != 0) return 2;
            return value_of(gathered({}), "name") == "x from plexus.toml:1" ? 0 : 1;
        });
        return user.wait(std::chrono::seconds(10) * plexus::testing::kPatience) == 0;
    };
    CHECK(counts(kSomebody, kSomebody));
    CHECK(counts(0, 0));
    CHECK(counts(kSomebody, 0));
    CHECK(counts(0, kSomebody));
    CHECK_FALSE(counts(kAnother, kSomebody));
    CHECK_FALSE(counts(kSomebody, kAnother));
    CHECK_FALSE(counts(kAnother, kAnother));
}

TEST_CASE("behind a link the folder of the file itself counts as well") {
    Surroundings here;
    const auto shared = here.dir / "shared";
    here.write(shared / "real.toml", "name = \"x\"");
    std::filesystem::create_symlink(shared / "real.toml", "plexus.toml");
    CHECK(value_of(gathered({}), "name") == "x from plexus.toml:1");
    ::chmod(shared.c_str(), 01777);
    CHECK(value_of(gathered({}), "name") == "unset");
    CHECK(warnings_of(gathered({})).find(shared.string()) != std::string::npos);
    // Nor may a folder that others write to choose which file counts.
    ::chmod(shared.c_str(), 0755);
    ::chmod(".", 0777);
    CHECK(value_of(gathered({}), "name") == "unset");
}

TEST_CASE("a caller with fewer rights than the process chooses no configuration") {
    Surroundings here;
    here.write("plexus.toml", "name = \"folder\"");
    here.write(here.home() / ".config/plexus/plexus.toml", "name = \"home\"");
    Sources sources{{}, {{"PLEXUS_NAME", "x"}, {"PLEXUS_CONFIG", "plexus.toml"}}, {{"log", "error"}}, {}};
    sources.privileged = true;
    const Raw raw = gathered(sources);
    CHECK(value_of(raw, "name") == "unset");
    CHECK(value_of(raw, "log") == "error from program");
    sources.file = "plexus.toml"; // the program's own word
    CHECK(value_of(gathered(sources), "name") == "folder from plexus.toml:1");
    for (const char* option : {"--plexus-module_path=/m", "--plexus-config=x", "--plexus-log=info"}) {
        sources.arguments = {option};
        CHECK(Raw::gather(sources).status() == Status::denied);
        CHECK(refusal(sources).find("rights that its caller lacks") != std::string::npos);
    }
    sources.arguments = {"run", "--", "--plexus-log=info"}; // not ours
    CHECK(Raw::gather(sources));
    CHECK_FALSE(has_more_rights_than_caller());
}

TEST_CASE("an empty variable counts as unset") {
    CHECK(value_of(gathered({{}, {{"PLEXUS_LOG", ""}, {"PLEXUS_CONFIG", ""}}, {}, ""}), "log") == "unset");
}

TEST_CASE("a parameter inside a method list counts as set where the list is") {
    Surroundings here;
    here.write("plexus.toml", "methods = \"tcp?sndbuf=1\"\nmethod.tcp.sndbuf = 2\n");
    const auto with_list = [](Raw raw) {
        raw.imply("methods", "method.tcp.sndbuf", "1");
        return value_of(raw, "method.tcp.sndbuf");
    };
    // The list's word over that of its own layer and lower ones, not over higher ones.
    CHECK(with_list(gathered({})) == "1 from plexus.toml:1");
    CHECK(with_list(gathered({{}, {{"PLEXUS_METHOD_TCP_SNDBUF", "3"}}, {}, {}})) ==
          "3 from PLEXUS_METHOD_TCP_SNDBUF");
    CHECK(with_list(gathered({{}, {{"PLEXUS_METHODS", "x"}, {"PLEXUS_METHOD_TCP_SNDBUF", "3"}}, {}, {}})) ==
          "1 from PLEXUS_METHODS");
    CHECK(with_list(gathered({{"--plexus-method.tcp.sndbuf=4"}, {{"PLEXUS_METHODS", "x"}}, {}, {}})) ==
          "4 from --plexus-method.tcp.sndbuf");
    CHECK(with_list(gathered({{}, {}, {{"methods", "x"}, {"method.tcp.sndbuf", "5"}}, {}})) ==
          "1 from program");
    CHECK(with_list(gathered(from_arguments({}))) == "unset");
}

TEST_CASE("a section that nothing reads can be left out, whoever set something in it") {
    Sources sources;
    sources.environment = {{"PLEXUS_METHOD_UCX_TLS", "tcp"}, {"PLEXUS_LOG", "info"}};
    sources.arguments = {"--plexus-method.ucx.skip_poll=3"};
    sources.program = {{"method.ucx.net_devices", "lo"}, {"fallback", "warn"}};
    sources.file = "";
    Raw raw = Raw::gather(sources).value();
    REQUIRE(raw.find("method.ucx.tls") != nullptr);
    raw.leave_out("method.ucx");
    for (const char* key : {"method.ucx.tls", "method.ucx.skip_poll", "method.ucx.net_devices"})
        CHECK(raw.find(key) == nullptr);
    CHECK(raw.find("log") != nullptr);
    CHECK(raw.find("fallback") != nullptr);
    CHECK(Settings::check(raw, core_schema({"tcp"})));
}

TEST_CASE("the environment is read by its prefix") {
    ::setenv("PLEXUS_LOG", "a=b", 1);
    ::setenv("PLEXU_LOG", "x", 1);
    const auto environment = plexus_environment();
    ::unsetenv("PLEXUS_LOG");
    ::unsetenv("PLEXU_LOG");
    CHECK(environment.at("PLEXUS_LOG") == "a=b");
    CHECK_FALSE(environment.contains("PLEXU_LOG"));
    for (const auto& [name, value] : environment) CHECK(name.starts_with("PLEXUS_"));
}

} // namespace gather_test
