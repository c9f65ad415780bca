// SPDX-License-Identifier: BSD-3-Clause
// `plexus schedule`: reads the command line and calls the part that does the work. Starts no context.
#include "tools/common/command_line.h"
#include "tools/schedule/options.h"
#include "tools/verb.h"

#include <fmt/format.h>

namespace plexus::tools {
namespace {

constexpr char kScheduleFooter[] =
    "make NETWORK COLLECTIVE searches for a schedule with few rounds and writes it. A round is a set of\n"
    "transfers that share no link. COLLECTIVE is OAB or AAB (one-to-all, all-to-all broadcast) or OAS or "
    "AAS\n"
    "(scatter). It prints the number of rounds and the bound that every schedule keeps, with its reason.\n"
    "The search ends at the bound, or when its time is over with the best schedule so far: exit code 0, and\n"
    "the line says by how much it is above the bound; exit code 1 if there is none: umda alone.\n"
    "Its first schedule may take longer than --time, as lengths of all ways and one way for each pair have\n"
    "to be found: seconds for a thousand terminals. The bound may be lower then. fast runs in two threads,\n"
    "and what it finds may differ between runs where both are needed; umda is the search of the paper, "
    "begun\n"
    "anew with another seed until then. With --json and without --output only the result is printed.\n"
    "\n"
    "check FILE... says OK or FAIL, and why, for each file with a schedule. Code that the searches do not\n"
    "share checks every rule: links used once in a round, ports, shortest paths, messages sent by those who\n"
    "have them, every delivery once, no empty round. A file that cannot be read fails as well.\n"
    "\n"
    "bounds NETWORK [COLLECTIVE] prints how many rounds every schedule has at least, and why.\n"
    "\n"
    "With --start, --byte and --size make and bounds add the time that Equation (1) of the paper predicts "
    "of\n"
    "the schedule, or of one at the bound: each round takes --start, and --byte for each byte of a message.\n"
    "\n"
    "paths NETWORK S D prints the shortest paths from terminal S to terminal D, a hundred at most.\n"
    "\n"
    "play FILE plays a schedule by the rules of wormhole switching, a flit on each link in each cycle: how\n"
    "long it takes, and how long heads of messages waited for links, which in lockstep is not at all.\n"
    "Asynchronous, terminals do not wait for each other's rounds; exit code 1 if messages then wait for "
    "each\n"
    "other for ever.\n"
    "\n"
    "table makes Tables 1 and 3 (rounds; of the worst of --runs seeds, with the fast search unless --search\n"
    "says otherwise) and 5 and 6 (success and time; with umda) of the paper, printed values beside ours.\n"
    "\n"
    "show FILE writes an HTML page that needs no network and nothing else: the network with the links in\n"
    "use round by round, who sends to whom, and the bound with its reason. --svg makes one picture of the\n"
    "first 36 rounds, or with --round of one.\n"
    "\n"
    "NETWORK is a name, a file, or --map FILE. Names: omega-N, butterfly-N, clos-12, clos-16, clos-n-m-r,\n"
    "btree-N, ftree-N, karytree-k-h, fbtree-N, star-N, ring-N, mesh-RxC, torus-RxC, cube-d. A file is JSON,\n"
    "directed links between named vertices, its name has a \".\" or \"/\":\n"
    "{\"links\": [[\"u\", \"v\"], ...], \"terminals\": [\"v\" or [\"in\", \"out\"], ...], \"ports\": \"one\" "
    "or \"all\"}.\n"
    "Terminals are numbered from 0 in this order; without ports it is one. A map's subnets are a tree of\n"
    "switches with a terminal for each host, in the map's order. A network has at most 1024 terminals and\n"
    "65536 links, a schedule's file 256 MiB.";

constexpr CommonHelp kHelp{nullptr,
                           "Exit codes: 0 ok, 1 the answer is no, 2 usage or a malformed file, "
                           "3 environment: a file cannot be read or written.",
                           false};

struct Part {
    std::string_view name;
    std::string_view options; ///< that it takes, between blanks
    int (*run)(const schedule::Options&);
};

constexpr Part kParts[] = {
    {"make", " --map --ports --root --search --seed --time --start --byte --size --output --json ",
     schedule::make_schedule},
    {"check", " --against ", schedule::check_files},
    {"bounds", " --map --ports --root --start --byte --size --json ", schedule::print_bounds},
    {"paths", " --map --ports --json ", schedule::print_paths},
    {"play", " --flits --async --json ", schedule::play_file},
    {"table", " --only --runs --search --seed --time --json ", schedule::print_tables},
    {"show", " --output --svg --round ", schedule::show_schedule},
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
    CommandLine line("schedule",
                     "Makes, checks, plays and draws contention-free schedules of collective operations in "
                     "switched networks.",
                     "make|check|bounds|paths|play|table|show [WORDS] [OPTIONS]", kScheduleFooter, kHelp);
    schedule::Options options;
    std::string what;
    CLI::App& app = line.app();
    app.add_option("what", what, "make, check, bounds, paths, play, table or show")->type_name("");
    app.add_option("words", options.words, "What it works on: see below")->type_name("");
    app.add_option("--map", options.map, "The network that plexus probe measured")->type_name("FILE");
    app.add_option("--ports", options.ports,
                   "Messages that a terminal sends, and accepts, in a round (as the network says)")
        ->type_name("one|all");
    app.add_option("--root", options.root, "The terminal where OAB and OAS begin (0)")->type_name("R");
    app.add_option("--search", options.search, "How a schedule is looked for")->type_name("fast|umda");
    app.add_option("--seed", options.seed, "Of the search (1); of table: of its first run")->type_name("N");
    app.add_option("--time", options.time, "Seconds that a search may take (60; of table 10)")
        ->type_name("S");
    app.add_option("-o,--output", options.output, "Where the schedule or its page goes (-, standard output)")
        ->type_name("FILE");
    app.add_option("--against", options.against, "Of check: the network that schedules must be for")
        ->type_name("NAME|FILE");
    app.add_option("--runs", options.table.runs, "Of table: searches of each kind (1; of 5 and 6: 10)")
        ->type_name("N");
    app.add_option("--only", options.table.only, "Of table: this one alone")->type_name("1|3|5|6");
    app.add_option("--start", options.predict.start, "Seconds that a round takes to start: see below")
        ->type_name("S");
    app.add_option("--byte", options.predict.byte, "Seconds that a byte takes")->type_name("S");
    app.add_option("--size", options.predict.size, "Bytes of each message, as 4KiB")->type_name("B");
    app.add_flag("--svg", options.svg, "Of show: a picture instead of a page");
    app.add_option("--round", options.round, "Of show --svg: this round alone")->type_name("N");
    app.add_option("--flits", options.play.flits, "Of play: the length of each message (64)")->type_name("N");
    app.add_flag("--async", options.play.asynchronous, "Of play: no lockstep");
    if (!line.parse(count, arguments)) return kOk;
    const Part& part = part_named(what);
    check_options(line.app(), part);
    options.json = line.json();
    return part.run(options);
}

} // namespace plexus::tools
