// SPDX-License-Identifier: BSD-3-Clause
// `plexus schedule`: reads the command line and calls the part that does the work. Starts no context.
#include "tools/common/command_line.h"
#include "tools/schedule/options.h"
#include "tools/verb.h"

#include <fmt/format.h>

namespace plexus::tools {
namespace {

constexpr char kFooter[] =
    "check FILE... says OK or FAIL, and why, for each file with a schedule. Every rule is checked by code "
    "that\n"
    "the searches do not share: links used once in a round, ports, shortest paths, messages sent by those\n"
    "who have them, every delivery once, no empty round. --against: the schedule must be for this network.\n"
    "\n"
    "paths NAME|FILE S D prints the shortest paths from terminal S to terminal D.\n"
    "\n"
    "NAME is omega-N, butterfly-N, clos-12, clos-16, clos-n-m-r, btree-N, ftree-N, karytree-k-h, fbtree-N,\n"
    "star-N, ring-N, mesh-RxC, torus-RxC or cube-d. FILE is JSON, directed links between named vertices:\n"
    "{\"links\": [[\"u\", \"v\"], ...], \"terminals\": [\"v\" or [\"in\", \"out\"], ...], \"ports\": \"one\" "
    "or \"all\"}.\n"
    "Terminals and links are numbered from 0 in this order; without ports it is one.";

constexpr CommonHelp kHelp{nullptr,
                           "Exit codes: 0 ok, 1 the answer is no, 2 usage or a malformed file, "
                           "3 environment.",
                           false};

struct Part {
    std::string_view name;
    std::string_view options; ///< that it takes, between blanks
    int (*run)(const schedule::Options&);
};

constexpr Part kParts[] = {
    {"check", " --against ", schedule::check_files},
    {"paths", " --json ", schedule::print_paths},
};

const Part& part_named(const std::string& name) {
    std::string all;
    for (const Part& each : kParts) {
        if (each.name == name) return each;
        all += (all.empty() ? "" : ", ") + std::string(each.name);
    }
    usage_error("schedule", name.empty() ? "say what to do, one of " + all
                                         : fmt::format("there is no \"{}\", but {}", name, all));
}

void check_options(const CLI::App& app, const Part& part) {
    for (const CLI::Option* option : app.get_options()) {
        const std::string name = "--" + (option->get_lnames().empty() ? "" : option->get_lnames().front());
        if (option->count() > 0 && option->nonpositional() &&
            part.options.find(" " + name + " ") == part.options.npos)
            usage_error("schedule", fmt::format("{} does not go with {}", name, part.name));
    }
}

} // namespace

int schedule_verb(int count, char** arguments) {
    CommandLine line(
        "schedule",
        "Makes and checks contention-free schedules of collective operations in switched networks.",
        "check|paths [WORDS] [OPTIONS]", kFooter, kHelp);
    schedule::Options options;
    std::string what;
    line.app().add_option("what", what, "check or paths")->type_name("");
    line.app().add_option("words", options.words, "What it works on: see below")->type_name("");
    line.app()
        .add_option("--against", options.against, "Of check: the network that schedules must be for")
        ->type_name("NAME|FILE");
    if (!line.parse(count, arguments)) return kOk;
    const Part& part = part_named(what);
    check_options(line.app(), part);
    options.json = line.json();
    return part.run(options);
}

} // namespace plexus::tools
