// SPDX-License-Identifier: BSD-3-Clause
// The coupled model as two jobs at two sites, neither of which reaches the other: a forwarder on a third host
// does. In both orders of start, in the clear and by tls from end to end, with every frame at each site's
// hosts captured.
#include "support/tmpdir.h"
#include "system/lab/lab.h"
#include "system/managers/manager.h"

#include <cstdlib>
#include <filesystem>

namespace coupled_sites_test {

using namespace plexus::testing;

namespace {

const std::string kTwoSites = R"(
[[segment]]
name = "kiel"
rate = "100 Mb/s"
delay = "100 us"
hosts = ["kiel-1"]

[[segment]]
name = "border"
rate = "100 Mb/s"
delay = "100 us"
hosts = ["gate"]

[[segment]]
name = "oslo"
rate = "100 Mb/s"
delay = "100 us"
hosts = ["oslo-1"]

[[link]]
name = "kiel-border"
between = ["kiel", "border"]
rate = "100 Mb/s"
delay = "1 ms"

[[link]]
name = "border-oslo"
between = ["border", "oslo"]
rate = "100 Mb/s"
delay = "1 ms"
)";

const std::string kModel = "--grid 24x16 --steps 8 --image none";

std::string program() {
    const char* folder = std::getenv("TESTED_EXAMPLES");
    const std::string file =
        folder == nullptr ? std::string() : std::string(folder) + "/coupled_climate/coupled_climate";
    return std::filesystem::exists(file) ? file : std::string();
}

bool has_tls() { return std::getenv("TESTED_TLS") != nullptr; }

/// The checksum that the run printed; empty without one.
std::string checksum_in(const std::string& out) {
    const std::size_t at = out.find("checksum ");
    if (at == out.npos) return {};
    const std::size_t first = out.find_first_not_of(' ', at + 9);
    return out.substr(first, out.find('\n', first) - first);
}

/// The number in front of `what` in the line of a host.
long captured(const std::string& out, const std::string& host, const std::string& what) {
    const std::size_t line = out.find(host + " captured ");
    if (line == out.npos) return -1;
    const std::size_t end = out.find(what, line);
    if (end == out.npos || end > out.find('\n', line)) return -1;
    const std::size_t space = out.rfind(' ', end - 2);
    return std::strtol(out.c_str() + space + 1, nullptr, 10);
}

/// What a job of the model is started with, on its host.
std::string job(const std::string& launcher, const std::string& model, const std::string& between) {
    return launcher + " " + program() + " --sites plexus://gate:7700 --model " + model + " --between " +
           between + " " + kModel;
}

/// Runs forwarder and both jobs in a lab; the second job starts when the first one says that it waits.
class TwoSites {
  public:
    TwoSites(const std::string& launcher, bool ocean_first, const std::string& between)
      : network_(kTwoSites) {
        const auto key = folder_.file("key", "k3J0mQ1vT8sYx5Zb7Rf2Wn9Hc4Gd6Lp0\n");
        std::filesystem::permissions(key, std::filesystem::perms::owner_read |
                                              std::filesystem::perms::owner_write);
        const std::string sites =
            folder_
                .file("sites.toml", "methods = [\"local\", \"shm\", \"tcp\", \"forward\"" +
                                        std::string(has_tls() ? ", \"tls\"" : "") +
                                        "]\n"
                                        "[job]\nkey_file = \"" +
                                        key.string() +
                                        "\"\n"
                                        "[method.forward]\n"
                                        "via = \"plexus://gate:7700\"\n" +
                                        (has_tls() ? "[method.tls]\nover = \"forward\"\n" : ""))
                .string();
        const std::string enter = tested_plexus() + " lab enter ";
        const auto start = [&](bool ocean) {
            const std::string host = ocean ? "oslo-1" : "kiel-1";
            return enter + host + " " + std::getenv("TESTED_GATEWAY") + (ocean ? " kiel-1" : " oslo-1") +
                   " -- " + job(launcher, ocean ? "ocean" : "atmosphere", between);
        };
        const std::string log = (folder_ / "log").string();
        const std::string script = "export PLEXUS_CONFIG=" + sites + "\n" + enter + "gate " +
                                   tested_plexus() +
                                   " forward --listen plexus://gate:7700 --set name=gate"
                                   " --set methods=tcp,forward --set method.forward.via= &\n"
                                   "gate=$!\n" +
                                   start(ocean_first) + " 2> " + log +
                                   " &\n"
                                   "first=$!\n"
                                   "until grep -q 'waits for the .* job at plexus://gate:7700' " +
                                   log + "; do sleep 0.05; done\n" + start(!ocean_first) +
                                   "; second=$?\n"
                                   "wait $first; first=$?\n"
                                   "cat " +
                                   log +
                                   " >&2\n"
                                   "kill $gate; wait $gate\n"
                                   "echo \"ended with $first $second\"\n";
        const std::string file = folder_.file("script", script).string();
        lab_.emplace(lab_words(network_, {"--on", "lab", "--quiet"}, {"sh", file}));
        code_ = lab_->wait(90s * kPatience);
    }
    const std::string& out() const { return lab_->out(); }
    std::string all() const { return lab_->out() + lab_->err(); }
    bool ended_well() const { return code_ == 0 && count_of(out(), "ended with 0 0\n") == 1; }
    bool left_nothing() const { return lab_->left_nothing(); }

  private:
    TmpDir folder_;
    NetworkFile network_;
    std::optional<Command> lab_;
    std::optional<int> code_;
};

/// The numbers of the model in one job on one host.
const std::string& checksum_of_one_job() {
    static const std::string checksum = [] {
        Command job({"run", "-n", "3", "--no-prefix", "--", "sh", "-c", "exec " + program() + " " + kModel});
        return job.wait(30s * kPatience) == 0 ? checksum_in(job.out()) : std::string();
    }();
    return checksum;
}

std::string by_plexus_run() { return tested_plexus() + " run -n 2 --no-prefix --"; }

} // namespace

TEST_CASE("two jobs that only a forwarder reaches compute what one job computes, in either order of start") {
    NEEDS_LABS();
    if (program().empty()) SKIP_TEST("the coupled model is not built");
    REQUIRE(checksum_of_one_job().size() == 16);
    std::vector<std::string> launchers{by_plexus_run()};
    if (const Manager manager = mpirun(); manager.why_not.empty())
        launchers.push_back(manager.program + " --quiet -n 2");
    for (const std::string& launcher : launchers)
        for (const bool ocean_first : {false, true}) {
            const TwoSites sites(launcher, ocean_first, "forward");
            INFO(launcher << (ocean_first ? ", the ocean first\n" : ", the atmosphere first\n")
                          << sites.all());
            CHECK(sites.ended_well());
            CHECK(checksum_in(sites.out()) == checksum_of_one_job());
            CHECK(count_of(sites.out(), "joined ") == 2);
            CHECK(count_of(sites.out(), "between        forward:gate x ") == 1);
            for (const char* host : {"kiel-1", "oslo-1"}) {
                CHECK(captured(sites.out(), host, "from or to") == 0);
                CHECK(captured(sites.out(), host, "with temperatures") > 0); // this is in the clear
            }
            CHECK(sites.left_nothing());
        }
}

TEST_CASE("by tls through the forwarder nothing of the model can be read at either site's border") {
    NEEDS_LABS();
    if (program().empty()) SKIP_TEST("the coupled model is not built");
    if (!has_tls()) SKIP_TEST("this build has no tls");
    REQUIRE(checksum_of_one_job().size() == 16);
    const TwoSites sites(by_plexus_run(), false, "tls");
    INFO(sites.all());
    CHECK(sites.ended_well());
    CHECK(checksum_in(sites.out()) == checksum_of_one_job());
    CHECK(count_of(sites.out(), "between        tls:gate x ") == 1);
    for (const char* host : {"kiel-1", "oslo-1"}) {
        CHECK(captured(sites.out(), host, "frames") > 20);
        CHECK(captured(sites.out(), host, "from or to") == 0);
        CHECK(captured(sites.out(), host, "with temperatures") == 0);
    }
    CHECK(sites.left_nothing());
}

} // namespace coupled_sites_test
