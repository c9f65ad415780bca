// SPDX-License-Identifier: BSD-3-Clause
// The soak: four contexts in four processes, all methods, random kills, stops, cuts and moves, and every
// number accounted for at the end. Run by hand; short runs are cases of the suite.
#include "soak/director.h"
#include "soak/figures.h"
#include "support/log_guard.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

namespace {

constexpr const char* kUsage =
    "Usage: soak [options]\n"
    "  --seconds N       how long (default 1800)\n"
    "  --seed N          of everything that is random (default: another each time)\n"
    "  --methods LIST    as the configuration key `methods`\n"
    "  --restarts N      instead: a server that is killed and started again N times at one address\n"
    "  --clients N       instead: N clients of one server that are killed\n"
    "  --strangers N     instead: silent strangers for N seconds\n"
    "  --method NAME     of --restarts and --clients (default tcp)\n";

struct Arguments {
    plexus::soak::SoakOptions soak;
    std::string figure;
    std::uint64_t count = 0;
    std::string method = "tcp";
};

bool parse(int argc, char** argv, Arguments& out) {
    for (int i = 1; i < argc; ++i) {
        const std::string key = argv[i];
        if (i + 1 == argc) return false;
        const std::string value = argv[++i];
        if (key == "--methods" || key == "--method") {
            (key == "--methods" ? out.soak.methods : out.method) = value;
            continue;
        }
        char* end = nullptr;
        const std::uint64_t number = std::strtoull(value.c_str(), &end, 10);
        if (value.empty() || *end != '\0') return false;
        if (key == "--seconds") {
            out.soak.time = std::chrono::seconds(number);
        } else if (key == "--seed") {
            out.soak.seed = number;
        } else if (key == "--restarts" || key == "--clients" || key == "--strangers") {
            out.figure = key.substr(2);
            out.count = number;
        } else {
            return false;
        }
    }
    return out.figure.empty() || out.count > 0;
}

bool run(const Arguments& arguments) {
    if (arguments.figure == "restarts") return plexus::soak::restarts(arguments.count, arguments.method);
    if (arguments.figure == "clients") return plexus::soak::clients(arguments.count, arguments.method);
    if (arguments.figure == "strangers")
        return plexus::soak::strangers(std::chrono::seconds(arguments.count));
    return plexus::soak::Director(arguments.soak).run();
}

} // namespace

int main(int argc, char** argv) {
    plexus::testing::watch_log();
    Arguments arguments;
    arguments.soak.seed = std::random_device{}();
    arguments.soak.methods = "local, shm, tcp, faults?over=tcp&drop_link_every=300&again_every=50";
    if (!parse(argc, argv, arguments)) {
        std::fputs(kUsage, stderr);
        return 2;
    }
    try {
        return run(arguments) ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "soak: %s\n", error.what());
        return 1;
    }
}
