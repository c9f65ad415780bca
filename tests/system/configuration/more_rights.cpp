// SPDX-License-Identifier: BSD-3-Clause
// A program with rights that its caller lacks: the caller's environment, options and files choose
// neither its code nor its settings.
#include "support/catch.h"
#include "support/tmpdir.h"
#include "system/launcher/command.h"

#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace more_rights_test {

using namespace plexus::testing;
namespace fs = std::filesystem;

namespace {

constexpr uid_t kSomebody = 65534;

/// Variables for the time of a test.
class Variables {
  public:
    explicit Variables(std::vector<std::pair<std::string, std::string>> all)
      : all_(std::move(all)) {
        for (const auto& [name, value] : all_) ::setenv(name.c_str(), value.c_str(), 1);
    }
    ~Variables() {
        for (const auto& each : all_) ::unsetenv(each.first.c_str());
    }
    Variables(const Variables&) = delete;
    Variables& operator=(const Variables&) = delete;

  private:
    std::vector<std::pair<std::string, std::string>> all_;
};

} // namespace

TEST_CASE("a setuid program takes no configuration, no module and no job from its caller") {
    if (::geteuid() != 0) SKIP_TEST("only root can make another user's setuid program");
    const TmpDir dir;
    ::chmod(dir.path().c_str(), 0777); // the other user may leave the mark here
    const fs::path program = dir / "program";
    fs::copy(std::getenv("TESTED_HELPER"), program);
    REQUIRE(::chown(program.c_str(), kSomebody, kSomebody) == 0);
    REQUIRE(::chmod(program.c_str(), 04755) == 0);
    fs::create_directory(dir / "modules");
    fs::copy(std::getenv("TESTED_MODULE"), dir / "modules/plexus_planted.so");
    const std::string modules = (dir / "modules").string();
    const std::string file = dir.file("site.toml", "module_path = \"" + modules + "\"\n");
    ::chmod(file.c_str(), 0644);

    const Variables hostile({{"PLANTED_MARK", (dir / "mark").string()},
                             {"PLEXUS_LIMITS_CALLS", "77"},
                             {"PLEXUS_MODULE_PATH", modules},
                             {"PLEXUS_CONFIG", file}});
    Command job({"run", "-n", "2", "--no-prefix", "--", program.string(), "rights"});
    CHECK(job.wait() == 0);
    INFO(job.out() + job.err());
    if (count_of(job.out(), "secure no") > 0) SKIP_TEST("setuid has no effect in this folder");
    CHECK(count_of(job.out(), "calls 65536 by default") == 2);
    CHECK(count_of(job.out(), "place 0 of 1") == 2);
    CHECK_FALSE(fs::exists(dir / "mark"));

    Command option({"run", "-n", "1", "--", program.string(), "rights", "--plexus-module_path=" + modules});
    CHECK(option.wait() == 91);
    CHECK(count_of(option.err(), "rights that its caller lacks") == 1);
    CHECK_FALSE(fs::exists(dir / "mark"));

    // The same program without the other user's rights takes them all.
    ::chmod(program.c_str(), 0755);
    Command plain({"run", "-n", "1", "--", program.string(), "rights"});
    CHECK(plain.wait() == 0);
    CHECK(count_of(plain.out(), "calls 77 by PLEXUS_LIMITS_CALLS") == 1);
    CHECK(fs::exists(dir / "mark"));
}

} // namespace more_rights_test
