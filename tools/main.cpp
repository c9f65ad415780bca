// SPDX-License-Identifier: BSD-3-Clause
// The `plexus` program: finds the verb and gives it the rest of the line. Knows nothing of
// what verbs do, only how they end.
#include "tools/verb.h"

#include "plexus/error.h"

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace plexus::tools {
namespace {

constexpr Verb kVerbs[] = {
    {"run", "starts a job of several processes on this machine", run},
    {"info", "lists methods, descriptors, limits and the configuration", info},
    {"explain", "says which method a pointer, table or URL would take, and why not the others", explain},
    {"bench", "measures latency, bandwidth, message rate, and two methods at once", bench_verb},
    {"probe", "measures what messages cost between hosts, and writes the map", probe_verb},
    {"map", "tells which hosts of a measured network share a subnet, and draws it", map_verb},
    {"schedule", "makes, checks and draws schedules of collective operations in switched networks",
     schedule_verb},
    {"forward", "relays between contexts that cannot reach each other", forward_verb},
    {"top", "shows the counters of contexts that run on this host", top_verb},
    {"lab", "runs a job in a network that exists on this machine only", lab_verb},
    {"check-module", "says which promises a module keeps", check_module},
};

void print_usage(std::FILE* where) {
    std::fputs("Usage: plexus VERB [OPTIONS]\n\nVerbs:\n", where);
    for (const Verb& verb : kVerbs)
        std::fprintf(where, "  %-13.*s %.*s\n", static_cast<int>(verb.name.size()), verb.name.data(),
                     static_cast<int>(verb.summary.size()), verb.summary.data());
    std::fputs("\nplexus VERB --help, or plexus help VERB, tells more; plexus --version tells the version.\n"
               "Exit codes: 0 ok, 1 the answer is no, 2 usage, 3 environment.\n",
               where);
}

int unknown(const char* word) {
    std::fprintf(stderr, "plexus: there is no verb \"%s\": plexus --help lists them\n", word);
    return kUsage;
}

const Verb* find_verb(std::string_view name) {
    for (const Verb& verb : kVerbs)
        if (verb.name == name) return &verb;
    return nullptr;
}

int run_verb(const Verb& verb, int count, char** arguments) {
    std::string name = "plexus " + std::string(verb.name);
    arguments[0] = name.data();
    try {
        return verb.run(count, arguments);
    } catch (const Error& error) {
        std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
        return error.status() == Status::bad_argument ? kUsage : kEnvironment;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
        return kEnvironment;
    }
}

// plexus help VERB [WORD...]: what plexus VERB [WORD...] --help says.
int help_for(int count, char** arguments) {
    const Verb* verb = find_verb(arguments[0]);
    if (!verb) return unknown(arguments[0]);
    std::string option = "--help";
    std::vector<char*> words(arguments, arguments + count);
    words.push_back(option.data());
    words.push_back(nullptr);
    return run_verb(*verb, count + 1, words.data());
}

} // namespace
} // namespace plexus::tools

int main(int argc, char** argv) {
    using namespace plexus::tools;
    const std::string_view wanted = argc > 1 ? argv[1] : "";
    if (wanted == "help" && argc > 2) return help_for(argc - 2, argv + 2);
    if (wanted == "--help" || wanted == "-h" || wanted == "help") {
        print_usage(stdout);
        return kOk;
    }
    if (wanted == "--version") {
        std::puts("plexus " PLEXUS_VERSION);
        return kOk;
    }
    if (const Verb* verb = find_verb(wanted)) return run_verb(*verb, argc - 1, argv + 1);
    if (!wanted.empty()) return unknown(argv[1]);
    print_usage(stderr);
    return kUsage;
}
