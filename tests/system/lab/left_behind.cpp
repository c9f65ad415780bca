// SPDX-License-Identifier: BSD-3-Clause
// Nothing of a lab survives it, however it ends: no process, no namespace, no device.
#include "system/lab/lab.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <net/if.h>

using namespace plexus::testing;

namespace {

namespace fs = std::filesystem;

std::string network_namespace_of(pid_t pid) {
    std::error_code none;
    return fs::read_symlink("/proc/" + std::to_string(pid) + "/ns/net", none).string();
}

/// The network namespaces that some process of this machine is in.
std::set<std::string> namespaces() {
    std::set<std::string> all;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator("/proc", none))
        if (const int pid = std::atoi(entry.path().filename().c_str()); pid > 0)
            all.insert(network_namespace_of(pid));
    return all;
}

/// Of the namespace that we are in.
std::set<std::string> devices() {
    std::set<std::string> all;
    struct if_nameindex* list = ::if_nameindex();
    for (const auto* one = list; one != nullptr && one->if_index != 0; ++one) all.insert(one->if_name);
    ::if_freenameindex(list);
    return all;
}

std::string mounts() {
    std::ifstream file("/proc/self/mounts");
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Those of the lab's processes that are in network namespaces other than ours.
std::set<std::string> namespaces_of(const Command& lab) {
    std::set<std::string> all;
    for (const pid_t pid : lab.processes()) all.insert(network_namespace_of(pid));
    all.erase(network_namespace_of(::getpid()));
    all.erase("");
    return all;
}

bool is_gone(const std::set<std::string>& made) {
    return eventually(5s, [&] {
        const auto left = namespaces();
        return std::none_of(made.begin(), made.end(), [&](const auto& one) { return left.contains(one); });
    });
}

} // namespace

TEST_CASE("a lab that ends, is interrupted or killed leaves nothing behind") {
    NEEDS_LABS();
    const auto devices_before = devices();
    const std::string mounts_before = mounts();
    const NetworkFile network(kOneSwitch);
    for (const int signal : {SIGTERM, SIGHUP, SIGKILL}) {
        INFO(signal);
        Command lab(lab_words(network, {}, {helper(), "stay"}));
        REQUIRE(lab.says("ready", 2));
        const auto made = namespaces_of(lab);
        CHECK(made.size() == 3); // two hosts and the lab itself
        lab.kill(signal);
        CHECK(lab.wait() == 128 + signal);
        CHECK(lab.left_nothing());
        CHECK(is_gone(made));
    }
    CHECK(devices() == devices_before);
    CHECK(mounts() == mounts_before);
}

TEST_CASE("a lab that is killed while it is being made leaves nothing behind") {
    NEEDS_LABS();
    const NetworkFile network(kOneSwitch);
    for (int round = 0; round < 10; ++round) {
        Command lab(lab_words(network, {}, {helper(), "stay"}));
        // Each round a little later, from before the first namespace to after the job's start.
        CHECK_FALSE(lab.wait(std::chrono::milliseconds(4 * round)));
        lab.kill(SIGKILL);
        CHECK(lab.wait() == 128 + SIGKILL);
        CHECK(lab.left_nothing());
    }
}

TEST_CASE("processes that hide in sessions of their own end with their lab") {
    NEEDS_LABS();
    const NetworkFile network(kOneSwitch);
    Command lab(lab_words(
        network, {}, {"sh", "-c", "setsid sh -c 'trap \"\" TERM HUP; sleep 600' & echo ready; sleep 600"}));
    REQUIRE(lab.says("ready", 2));
    lab.kill(SIGKILL);
    CHECK(lab.wait() == 128 + SIGKILL);
    CHECK(lab.left_nothing());
}
