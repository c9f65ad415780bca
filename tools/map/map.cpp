// SPDX-License-Identifier: BSD-3-Clause
// `plexus map`: reads the command line and calls the part that does the work. Starts no context.
#include "tools/common/command_line.h"
#include "tools/common/quantity.h"
#include "tools/map/models.h"
#include "tools/map/options.h"
#include "tools/verb.h"

#include <map>

namespace plexus::tools {
namespace {

constexpr char kMapFooter[] =
    "partition FILE prints the subnets of a map, one a line: hosts between which messages cost\n"
    "at most 20 % more than the cheapest of each, by the ECO paper's rule. FILE is a map that\n"
    "plexus probe wrote, or a plain matrix: N name1 ... nameN, then N rows of N numbers, - or\n"
    "inf where nothing was measured, # before a comment.\n"
    "\n"
    "show FILE writes an HTML page that needs no network: the costs, the subnets, and plans of\n"
    "collective operations, stepped through in time by the estimate, and what each model predicts\n"
    "of messages against what was measured. --svg and --dot make a\n"
    "picture of one plan: broadcast by eco of 64 KiB from the first host, unless options say\n"
    "otherwise. With options a page holds the plans that they leave.\n"
    "\n"
    "predict FILE makes the map's messages the sample of models: for each cluster it prints every\n"
    "model, acquired (by plexus probe --models, and what that took) or fitted, with its error (the\n"
    "median relative error of sizes that it had not seen; here: next to --size) or why there is\n"
    "none, when each pattern ends under the model chosen, and the orders\n"
    "in which the message goes from cluster to cluster, with their completions. 64 KiB are\n"
    "broadcast from the first host, unless options say otherwise. Exit code 1: the map does not\n"
    "suffice for a choice, and the output says why.\n"
    "\n"
    "intercluster FILE predicts the orders in which one message goes from cluster to cluster, and\n"
    "chooses the earliest. FILE is JSON, all times in seconds, row i column j from i to j:\n"
    "{\"L\": latencies, \"g\": gaps, \"T\": [time inside each cluster], \"root\": 0}.\n"
    "\n"
    "table3 predicts a broadcast inside one cluster: linear, pipeline, binary and binomial as the\n"
    "poly-model paper's Table 3 prints them, binomial_exact as the tree completes.";

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

/// The options that only some of the verbs of maps take, as they were given.
struct Words {
    std::string what;
    std::string tolerance;
    std::string symmetry;
    std::string statistic;
    std::string size;
    std::string completion;
    bool svg = false;
    bool dot = false;
    Table3Options table3;
};

void add_model_options(CLI::App& app, Words& words) {
    const char* const between = "Of intercluster and predict";
    app.add_option("--completion", words.completion,
                   "Clusters spread the message inside after their last send, or overlapping (after)")
        ->type_name("after|overlap")
        ->group(between);
    const char* const inside = "Of table3, with --size";
    Table3Options& table3 = words.table3;
    app.add_option("--latency", table3.latency, "Of a message")->type_name("S")->group(inside);
    app.add_option("--gap", table3.gap, "Of a message: until its sender is free")
        ->type_name("S")
        ->group(inside);
    app.add_option("--members", table3.members, "Of the cluster")->type_name("P")->group(inside);
    app.add_option("--segment", table3.segment, "Of the pipeline (the whole message)")
        ->type_name("BYTES")
        ->group(inside);
    app.add_option("--segment-gap", table3.segment_gap, "Of a segment (the same gap)")
        ->type_name("S")
        ->group(inside);
}

bool has_map_options(const MapOptions& options, const Words& words) {
    return words.svg || words.dot || options.levels ||
           !(options.output + options.operation + options.pattern + options.root + words.tolerance +
             words.symmetry + words.statistic)
                .empty();
}

bool has_table3_options(const Table3Options& table3) {
    return !(table3.latency + table3.gap + table3.members + table3.segment + table3.segment_gap).empty();
}

eco::Completion completion_of(const Words& words) {
    static const std::map<std::string, eco::Completion> kCompletions{{"after", eco::Completion::after},
                                                                     {"overlap", eco::Completion::overlap}};
    return words.completion.empty() ? eco::Completion::after
                                    : one_of(kCompletions, "--completion", words.completion);
}

int run_intercluster(const MapOptions& options, const Words& words) {
    if (has_map_options(options, words) || has_table3_options(words.table3) || !words.size.empty())
        usage_error("map", "intercluster takes a FILE, --completion and --json");
    if (options.file.empty()) usage_error("map", "say which FILE holds the instance");
    return print_intercluster({options.file, completion_of(words), options.json});
}

int run_table3(const MapOptions& options, const Words& words) {
    if (has_map_options(options, words) || !(options.file + words.completion).empty())
        usage_error("map",
                    "table3 takes --latency, --gap, --members, --size, --segment, --segment-gap and --json");
    Table3Options out = words.table3;
    out.size = words.size;
    out.json = options.json;
    return print_table3(out);
}

/// Of an option that is another verb's.
void check_map_options(const MapOptions& options, const Words& words) {
    const bool shows = words.what == "show";
    const bool predicts = words.what == "predict";
    if (has_table3_options(words.table3) || (!words.completion.empty() && !predicts))
        usage_error("map", "--completion goes with intercluster and predict; --latency, --gap, --members and "
                           "--segment with table3");
    if (!shows && (words.svg || words.dot || !(options.output + options.pattern).empty()))
        usage_error("map", "--svg, --dot, --output and --pattern go with show");
    if (!shows && !predicts && !(options.operation + options.root).empty())
        usage_error("map", "--operation and --root go with show and predict");
    if (shows && (options.json || (!words.statistic.empty() && words.statistic != "min")))
        usage_error("map", "--json and --cost go with partition and predict");
    if (options.levels && (shows || predicts)) usage_error("map", "--levels goes with partition");
}

/// partition, show and predict.
int run_on_map(MapOptions& options, const Words& words) {
    check_map_options(options, words);
    options.picture = words.svg ? Picture::svg : words.dot ? Picture::dot : Picture::page;
    if (options.file.empty()) usage_error("map", "say which FILE holds the map");
    if (!words.tolerance.empty()) {
        const auto ratio = eco::parse_tolerance(words.tolerance);
        if (!ratio)
            usage_error("map", "--tolerance takes a share like 20% or 1/5, not \"" + words.tolerance + "\"");
        options.tolerance = *ratio;
    }
    if (!words.symmetry.empty()) options.symmetry = one_of(kSymmetries, "--symmetric", words.symmetry);
    if (!words.statistic.empty()) options.statistic = one_of(kStatistics, "--cost", words.statistic);
    if (!words.size.empty()) {
        options.size_bytes = size_in(words.size);
        if (!options.size_bytes)
            usage_error("map", "--size takes bytes like 8 or 64KiB, not \"" + words.size + "\"");
    }
    if (words.what == "predict") return print_prediction(options, completion_of(words));
    return words.what == "show" ? show_map(options) : print_partition(options);
}

} // namespace

int map_verb(int count, char** arguments) {
    CommandLine line("map", "Tells what a map of the network shows, and what models predict.",
                     "partition|show|predict|intercluster|table3 [FILE] [OPTIONS]", kMapFooter, kHelp);
    MapOptions options;
    Words words;
    line.app()
        .add_option("what", words.what, "partition, show, predict, intercluster or table3")
        ->type_name("");
    line.app()
        .add_option("file", options.file, "A map or a plain matrix; of intercluster: an instance")
        ->type_name("FILE");
    line.app()
        .add_option("--tolerance", words.tolerance,
                    "Hosts share a subnet if their cost exceeds its cheapest by at most this share (20%)")
        ->type_name("N%|P/Q");
    line.app()
        .add_option("--symmetric", words.symmetry, "Which counts where the two directions differ")
        ->type_name("min|max|mean");
    line.app()
        .add_option(
            "--size", words.size,
            "Costs of messages of this size (the smallest); show, predict, table3: bytes of the operation")
        ->type_name("BYTES");
    line.app()
        .add_option("--cost", words.statistic, "Which of the measured costs counts (min)")
        ->type_name("min|p25|median|p75|p95");
    line.app().add_flag("--levels", options.levels, "Subnets of subnets as well, until nothing merges");
    const char* const show_group = "Of show";
    line.app()
        .add_option("-o,--output", options.output, "Where the page or picture goes (standard output)")
        ->type_name("FILE")
        ->group(show_group);
    line.app().add_flag("--svg", words.svg, "A picture instead of a page")->group(show_group);
    line.app()
        .add_flag("--dot", words.dot, "A graph for Graphviz instead of a page")
        ->group(show_group)
        ->excludes("--svg");
    line.app()
        .add_option("--pattern", options.pattern, "eco, star, tree, binomial, chain, …")
        ->group(show_group);
    const char* const both_group = "Of show and predict";
    line.app().add_option("--operation", options.operation, "broadcast, all_reduce, …")->group(both_group);
    line.app()
        .add_option("--root", options.root, "The host where the operation begins or ends")
        ->type_name("HOST")
        ->group(both_group);
    add_model_options(line.app(), words);
    if (!line.parse(count, arguments)) return kOk;
    options.json = line.json();
    if (words.what == "intercluster") return run_intercluster(options, words);
    if (words.what == "table3") return run_table3(options, words);
    if (words.what == "partition" || words.what == "show" || words.what == "predict")
        return run_on_map(options, words);
    usage_error("map", words.what.empty()
                           ? "say what to do: partition, show, predict, intercluster or table3"
                           : "there are partition, show, predict, intercluster and table3, not \"" +
                                 words.what + "\"");
}

} // namespace plexus::tools
