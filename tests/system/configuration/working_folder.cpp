// SPDX-License-Identifier: BSD-3-Clause
// A plexus.toml that lies in the working folder: whose it must be to count, and what it may not say
// even then.
#include "support/catch.h"
#include "support/tmpdir.h"
#include "system/launcher/command.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace working_folder_test {

using namespace plexus::testing;
namespace fs = std::filesystem;

namespace {

constexpr uid_t kSomebody = 65534;

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// A working folder whose plexus.toml names a folder with a module that leaves a mark when it is loaded.
class Trap {
  public:
    Trap()
      : before_(fs::current_path()) {
        fs::create_directory(work());
        fs::create_directory(dir / "modules");
        fs::copy(std::getenv("TESTED_MODULE"), dir / "modules/plexus_planted.so");
        write(work() / "plexus.toml");
        fs::current_path(work());
        ::setenv("PLANTED_MARK", mark().c_str(), 1);
        ::setenv("HOME", dir.path().c_str(), 1); // the user's own file must not have a say
        ::unsetenv("XDG_CONFIG_HOME");
    }
    ~Trap() {
        fs::current_path(before_);
        ::unsetenv("PLANTED_MARK");
        restore("HOME", home_);
        restore("XDG_CONFIG_HOME", xdg_config_home_);
    }
    void write(const fs::path& file) const {
        std::ofstream(file) << "module_path = [\"" << (dir / "modules").string()
                            << "\"]\n[limits]\ncalls = 77\n";
    }
    fs::path work() const { return dir / "work"; }
    fs::path mark() const { return dir / "mark"; }
    bool was_sprung() const { return fs::exists(mark()); }

    TmpDir dir;

  private:
    static std::optional<std::string> variable(const char* name) {
        const char* const value = std::getenv(name);
        return value == nullptr ? std::nullopt : std::optional<std::string>(value);
    }
    static void restore(const char* name, const std::optional<std::string>& value) {
        if (value)
            ::setenv(name, value->c_str(), 1);
        else
            ::unsetenv(name);
    }
    const std::optional<std::string> home_ = variable("HOME");
    const std::optional<std::string> xdg_config_home_ = variable("XDG_CONFIG_HOME");
    fs::path before_;
};

/// What `plexus info --config` says here, standard error behind it.
std::string info(Words more = {}) {
    more.insert(more.begin(), {"info", "--config"});
    Command tool(more);
    if (tool.wait() != 0) return "info failed: " + tool.err();
    return tool.out() + tool.err();
}

bool was_passed_over(const std::string& said) {
    return holds(said, "plexus.toml is passed over") && !holds(said, "plexus.toml:3") &&
           holds(said, "--plexus-config");
}

} // namespace

TEST_CASE("nothing of a plexus.toml in another user's folder is taken, nor is its code run") {
    if (::geteuid() != 0) SKIP_TEST("only root can give a folder away");
    const Trap trap;
    const auto whose = GENERATE(as<std::string>{}, "folder", "file", "folder and file");
    INFO(whose);
    if (holds(whose, "folder")) REQUIRE(::chown(trap.work().c_str(), kSomebody, kSomebody) == 0);
    if (holds(whose, "file")) REQUIRE(::chown("plexus.toml", kSomebody, kSomebody) == 0);
    const std::string said = info();
    CHECK_FALSE(trap.was_sprung());
    CHECK(was_passed_over(said));
    CHECK(holds(said, "belongs to user 65534"));
}

TEST_CASE("nothing of a plexus.toml that others may write is taken, nor is its code run") {
    const Trap trap;
    const auto mode = GENERATE(0777u, 01777u, 0775u, 0757u);
    INFO(mode);
    REQUIRE(::chmod(trap.work().c_str(), mode) == 0);
    std::string said = info();
    CHECK_FALSE(trap.was_sprung());
    CHECK(was_passed_over(said));
    CHECK(holds(said, "chmod go-w"));

    REQUIRE(::chmod(trap.work().c_str(), 0755) == 0);
    REQUIRE(::chmod("plexus.toml", (mode & 0777) & ~0111u) == 0);
    said = info();
    CHECK_FALSE(trap.was_sprung());
    CHECK(was_passed_over(said));
}

TEST_CASE("where plexus.toml is a link, the folder that it leads to counts as well") {
    const Trap trap;
    const fs::path shared = trap.dir / "shared";
    fs::create_directory(shared);
    REQUIRE(::chmod(shared.c_str(), 01777) == 0);
    fs::rename("plexus.toml", shared / "plexus.toml");
    fs::create_symlink(shared / "plexus.toml", "plexus.toml");
    CHECK(was_passed_over(info()));
    CHECK_FALSE(trap.was_sprung());
    REQUIRE(::chmod(shared.c_str(), 0755) == 0);
    CHECK(holds(info(), "plexus.toml:3"));
    // A folder of another user may not choose which of our files counts.
    if (::geteuid() != 0) return;
    REQUIRE(::chown(trap.work().c_str(), kSomebody, kSomebody) == 0);
    CHECK(was_passed_over(info()));
}

TEST_CASE("one's own plexus.toml counts, but names no folder of code until it is named itself") {
    const Trap trap;
    const std::string found = info();
    CHECK(holds(found, "plexus.toml:3")); // limits.calls
    CHECK_FALSE(holds(found, "is passed over: the"));
    CHECK_FALSE(trap.was_sprung());
    CHECK(holds(found, "plexus.toml:1: module_path is passed over"));
    CHECK(holds(found, "--plexus-config=plexus.toml"));

    const std::string named = info({"--plexus-config=plexus.toml", "--plexus-log=error"});
    CHECK(holds(named, "plexus.toml:1"));
    CHECK(trap.was_sprung());
}

TEST_CASE("a plexus.toml that is named counts as it stands, whoever may write it") {
    const Trap trap;
    REQUIRE(::chmod(trap.work().c_str(), 0777) == 0);
    ::setenv("PLEXUS_CONFIG", "plexus.toml", 1);
    const std::string said = info({"--plexus-log=error"});
    ::unsetenv("PLEXUS_CONFIG");
    CHECK(holds(said, "plexus.toml:3"));
    CHECK(trap.was_sprung());
}

TEST_CASE("a plexus.toml that is a pipe does not keep anybody waiting") {
    const Trap trap;
    fs::remove("plexus.toml");
    REQUIRE(::mkfifo("plexus.toml", 0600) == 0);
    CHECK(holds(info(), "plexus.toml is not a plain file"));
}

} // namespace working_folder_test
