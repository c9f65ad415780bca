// SPDX-License-Identifier: BSD-3-Clause
// The program that the tests of configuration run: what a process of a job sees of its key, what a
// process has taken from its caller, and whether two hosts meet where one listens.
#include "plexus/plexus.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/auxv.h>
#include <unistd.h>

namespace {

void say(const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
}

std::string own_environment() {
    std::ifstream file("/proc/self/environ", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string place(const plexus::Context& context) {
    return std::to_string(context.rank()) + " of " + std::to_string(context.size());
}

/// key: what is left of the key when a context has it, here and in a child process.
int show_key() {
    const char* variable = std::getenv("PLEXUS_JOB_KEY");
    const std::string key = variable == nullptr ? "" : variable;
    say("given " + std::to_string(key.size()) + " digits");
    {
        const plexus::Context first;
        const plexus::Context second;
        say("first " + place(first) + ", second " + place(second));
        const char* now = std::getenv("PLEXUS_JOB_KEY");
        say(std::string("variable ") + (now == nullptr || *now == '\0' ? "gone" : "there"));
        say(std::string("environ ") +
            (own_environment().find(key) == std::string::npos ? "clean" : "shows it"));
        const char* script = "echo \"child [$PLEXUS_JOB_KEY] rank $PLEXUS_JOB_RANK\"; "
                             "if tr '\\0' '\\n' </proc/$$/environ | grep -q '^PLEXUS_JOB_KEY=.'; "
                             "then echo 'child shows it'; else echo 'child clean'; fi";
        if (std::system(script) != 0) return 1; // NOLINT: a child process as programs start them
    }
    plexus::Context third; // both others are closed
    say("third " + place(third));
    third.fence().get();
    say("met");
    return 0;
}

/// rights: the limit that the environment asks for, and whether we count as member of a job.
int show_rights(int argc, char** argv) {
    say(std::string("secure ") + (::getauxval(AT_SECURE) != 0 ? "yes" : "no"));
    const plexus::Context context(argc, argv);
    for (const plexus::SettingReport& setting : context.settings())
        if (setting.key == "limits.calls") say("calls " + setting.value + " by " + setting.origin);
    say("place " + place(context));
    return 0;
}

struct Desk {};
constexpr plexus::Request<int(Desk&, int)> twice{"configuration.twice"};
constexpr plexus::Request<void(Desk&)> go_home{"configuration.go_home"};

/// A context whose methods listen where the configuration says, not where the lab does.
plexus::Options by_tcp(plexus::Options options) {
    ::unsetenv("PLEXUS_METHOD_TCP_LISTEN");
    options.set["methods"] = "tcp";
    return options;
}

/// serve URL: answers whoever joins there, until it is told to go home.
int serve(const std::string& url) {
    plexus::Options options;
    options.set["listen"] = url;
    plexus::Context here(by_tcp(std::move(options)));
    Desk desk;
    here.on(twice, [](Desk&, int number) { return 2 * number; });
    here.on(go_home, [&here](Desk&) { here.stop(); });
    const plexus::Bound<Desk> bound = here.bind(desk);
    here.publish("desk", bound.pointer());
    here.run();
    return 0;
}

/// attach URL: joins, as soon as somebody serves there, and asks.
int attach(const std::string& url) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(15);
    for (;;) {
        try {
            plexus::Context here = plexus::Context::attach(url, by_tcp({}));
            const auto desk = here.lookup<Desk>("desk").get();
            say("answer " + std::to_string(desk.call(twice, 21).get()));
            desk.send(go_home);
            return 0;
        } catch (const plexus::Error& error) {
            if (error.status() != plexus::Status::not_found || std::chrono::steady_clock::now() > deadline)
                throw;
        }
    }
}

/// meet URL: the first rank serves there, the others attach.
int meet(const std::string& url) {
    const char* rank = std::getenv("PLEXUS_JOB_RANK");
    return rank != nullptr && std::string(rank) == "0" ? serve(url) : attach(url);
}

} // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    try {
        if (what == "key") return show_key();
        if (what == "rights") return show_rights(argc, argv);
        if (what == "meet" && argc > 2) return meet(argv[2]);
        std::fprintf(stderr, "the helper does not know \"%s\"\n", what.c_str());
        return 90;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "the helper failed: %s\n", error.what());
        return 91;
    }
}
