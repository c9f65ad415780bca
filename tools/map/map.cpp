// SPDX-License-Identifier: BSD-3-Clause
// `plexus map`: reads the command line and calls the part that does the work. Starts no context.
#include "tools/common/command_line.h"
#include "tools/common/quantity.h"
#include "tools/map/options.h"
#include "tools/verb.h"

#include <map>

namespace plexus::tools {
namespace {

constexpr char kFooter[] =
    "partition FILE prints the subnets of a map, one a line: hosts between which messages cost\n"
    "at most 20 % more than the cheapest of each, by the ECO paper's rule. FILE is a map that\n"
    "plexus probe wrote, or a plain matrix: N name1 ... nameN, then N rows of N numbers, - or\n"
    "inf where nothing was measured, # before a comment.\n"
    "\n"
    "show FILE writes an HTML page that needs no network: the costs, the subnets, and plans of\n"
    "collective operations, stepped through in time by the estimate. --svg and --dot make a\n"
    "picture of one plan: broadcast by eco of 64 KiB from the first host, unless options say\n"
    "otherwise. With options a page holds the plans that they leave.";

constexpr CommonHelp kHelp{nullptr, "Exit codes: 0 ok, 1 the answer is no, 2 usage, 3 environment.", false};

const std::map<std::string, eco::Symmetry> kSymmetries{
    {"min", eco::Symmetry::min}, {"max", eco::Symmetry::max}, {"mean", eco::Symmetry::mean}};
const std::map<std::string, eco::Statistic> kStatistics{{"min", eco::Statistic::min},
                                                        {"p25", eco::Statistic::p25},
                                                        {"median", eco::Statistic::median},
                                                        {"p75", eco::Statistic::p75},
                                                        {"p95", eco::Statistic::p95}};

template <class Value>
Value one_of(const std::map<std::string, Value>& words, const std::string& option, const std::string& word) {
    const auto found = words.find(word);
    if (found != words.end()) return found->second;
    std::string all;
    for (const auto& [each, value] : words) all += (all.empty() ? "" : ", ") + each;
    usage_error("map", option + " takes one of " + all + ", not \"" + word + "\"");
}

} // namespace

int map_verb(int count, char** arguments) {
    CommandLine line("map", "Tells what a map of the network shows.", "partition|show FILE [OPTIONS]",
                     kFooter, kHelp);
    MapOptions options;
    std::string what;
    std::string tolerance = "20%";
    std::string symmetry;
    std::string statistic = "min";
    std::string size;
    line.app().add_option("what", what, "partition or show")->type_name("");
    line.app().add_option("file", options.file, "A map or a plain matrix")->type_name("FILE");
    line.app()
        .add_option("--tolerance", tolerance,
                    "Hosts share a subnet if their cost exceeds its cheapest by at most this share (20%)")
        ->type_name("N%|P/Q");
    line.app()
        .add_option("--symmetric", symmetry, "Which counts where the two directions differ")
        ->type_name("min|max|mean");
    line.app()
        .add_option(
            "--size", size,
            "Costs of messages of this size (the smallest); show: bytes of the plan's vector or blocks")
        ->type_name("BYTES");
    line.app()
        .add_option("--cost", statistic, "Which of the measured costs counts (min)")
        ->type_name("min|p25|median|p75|p95");
    line.app().add_flag("--levels", options.levels, "Subnets of subnets as well, until nothing merges");
    bool svg = false;
    bool dot = false;
    const char* const show_group = "Of show";
    line.app()
        .add_option("-o,--output", options.output, "Where the page or picture goes (standard output)")
        ->type_name("FILE")
        ->group(show_group);
    line.app().add_flag("--svg", svg, "A picture instead of a page")->group(show_group);
    line.app()
        .add_flag("--dot", dot, "A graph for Graphviz instead of a page")
        ->group(show_group)
        ->excludes("--svg");
    line.app().add_option("--operation", options.operation, "broadcast, all_reduce, …")->group(show_group);
    line.app()
        .add_option("--pattern", options.pattern, "eco, star, tree, binomial, chain, …")
        ->group(show_group);
    line.app()
        .add_option("--root", options.root, "The host where the operation begins or ends")
        ->type_name("HOST")
        ->group(show_group);
    if (!line.parse(count, arguments)) return kOk;
    if (what != "partition" && what != "show")
        usage_error("map", what.empty()
                               ? "say what to do with a map: partition or show"
                               : "a map can be used for partition and show, not for \"" + what + "\"");
    const bool shows = what == "show";
    if (!shows &&
        (svg || dot || !(options.output + options.operation + options.pattern + options.root).empty()))
        usage_error("map", "--svg, --dot, --output, --operation, --pattern and --root go with show");
    if (shows && (line.json() || options.levels || statistic != "min"))
        usage_error("map", "--json, --levels and --cost go with partition");
    options.picture = svg ? Picture::svg : dot ? Picture::dot : Picture::page;
    if (options.file.empty()) usage_error("map", "say which FILE holds the map");
    const auto ratio = eco::parse_tolerance(tolerance);
    if (!ratio) usage_error("map", "--tolerance takes a share like 20% or 1/5, not \"" + tolerance + "\"");
    options.tolerance = *ratio;
    if (!symmetry.empty()) options.symmetry = one_of(kSymmetries, "--symmetric", symmetry);
    options.statistic = one_of(kStatistics, "--cost", statistic);
    if (!size.empty()) {
        options.size_bytes = parse_size(size);
        if (!options.size_bytes)
            usage_error("map", "--size takes bytes like 8 or 64KiB, not \"" + size + "\"");
    }
    options.json = line.json();
    return shows ? show_map(options) : print_partition(options);
}

} // namespace plexus::tools
