// SPDX-License-Identifier: BSD-3-Clause
// `plexus bench collective`: reads the command line and starts the measurement.
#include "tools/verb.h"
#include "plexus/error.h"
#include "tools/bench/collective/run.h"
#include "tools/benchmark/options.h"
#include "tools/common/command_line.h"
#include "tools/common/quantity.h"
#include "tools/schedule/graph_file.h"
#include "tools/schedule/schedule_file.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plexus::tools {
namespace {

using benchmark::CollectiveOptions;
using benchmark::NamedPattern;
using benchmark::ScheduleRequest;
using benchmark::TimedBy;
using benchmark::Timing;
using benchmark::whole_number;
using eco::Operation;

constexpr char kVerb[] = "bench collective";
constexpr char kCollectiveFooter[] =
    "Patterns: auto (the library's choice), memory (that all members share, on one host), messages\n"
    "(the choice without that), multicast (needs eco.multicast), eco (follows --map), models (what the\n"
    "poly-model of --map chooses, as plexus map predict shows it), star, tree:K, binary, binomial, chain,\n"
    "chain:SEGMENT, ring, butterfly, bruck, pairwise. Those that do not suit an operation are left\n"
    "out there. levels:OUTER/INNER, as levels:chain:64KiB/binomial, takes a pattern for each level of\n"
    "--map, the widest first: sites, clusters, hosts, sockets (without a map: hosts and sockets). The\n"
    "last pattern is for the closest members, the first for all levels that are left. RULE/INNER, as\n"
    "ecef_la/binomial, is a schedule between the clusters of --map by a rule: flat, fef, ecef, ecef_la,\n"
    "ecef_lat_min, ecef_lat_max, bottom_up, optimal.\n"
    "schedule:GRAPH[:TIMING] is a schedule in rounds for the members as terminals of a link\n"
    "graph (a name or a JSON file), as schedule:btree-16: in lockstep; with an overlap, as :2; :async;\n"
    ":paced by times that are measured before; or :best, paced if lockstep would take clearly longer.\n"
    "A search for it ends after about 10 s; a file that plexus schedule make wrote is taken as it is.\n"
    "Sizes are of the vector, or of each member's part where each has its own (scatter, gather,\n"
    "all_gather, all_to_all, reduce_scatter). Each case is run once before, and what it brought is\n"
    "looked at.\n"
    "\n"
    "--clock common   from the start at the root (where all begin: from a common start) until the\n"
    "                 last member is done, by clocks whose offsets are determined before\n"
    "--clock own      what the call takes where it takes longest, after a barrier\n"
    "\n"
    "Without --contexts it takes part in a job: plexus run -n 8 -- plexus bench collective, or\n"
    "plexus lab NETWORK --no-prefix -- plexus bench collective.";

std::string all_operations() {
    std::string all;
    for (const Operation each : eco::kOperations)
        all += fmt::format("{}{}", all.empty() ? "" : ", ", eco::to_string(each));
    return all;
}

std::vector<Operation> operations_of(const std::string& text) {
    std::vector<Operation> operations;
    for (const std::string& word : split_list(text)) {
        const auto* const found = std::find_if(std::begin(eco::kOperations), std::end(eco::kOperations),
                                               [&](Operation each) { return eco::to_string(each) == word; });
        if (found == std::end(eco::kOperations))
            usage_error(kVerb, fmt::format("\"{}\" is no operation: {}", word, all_operations()));
        operations.push_back(*found);
    }
    return operations;
}

/// "schedule:btree-16", "schedule:graph.json" or "schedule:schedule.json", and that with ":2", ":async",
/// ":paced" or ":best" behind it.
NamedPattern schedule_of(const std::string& word) {
    const std::size_t first = word.find(':') + 1;
    const std::size_t second = word.find(':', first);
    const std::string how = second == word.npos ? "0" : word.substr(second + 1);
    const Timing timing = how == "paced" ? Timing::paced : how == "best" ? Timing::best : Timing::permissions;
    const auto overlap = timing != Timing::permissions ? std::optional(0u)
                         : how == "async"              ? std::optional(eco::GroupSchedule::kAsynchronous)
                                                       : whole_number<std::uint32_t>(how);
    if (!overlap)
        usage_error(
            kVerb,
            fmt::format("\"{}\": after the network comes an overlap, as a whole number, async, paced or best",
                        word));
    const std::string source = word.substr(first, second - first);
    try {
        if (auto file = schedule::valid_schedule_of(source))
            return {word,
                    {},
                    ScheduleRequest{std::move(file->graph), std::move(file->schedule), *overlap, timing}};
        return {word, {}, ScheduleRequest{schedule::graph_of(source), std::nullopt, *overlap, timing}};
    } catch (const Error& error) {
        if (error.status() != Status::bad_argument) throw;
        usage_error(kVerb, error.what());
    }
}

/// Ends the program if a schedule was made for another root than the operations have.
void check_root(const NamedPattern& pattern, eco::Rank root) {
    if (!pattern.schedule || !pattern.schedule->made) return;
    const eco::RoundSchedule& made = *pattern.schedule->made;
    const bool has_root = made.kind == eco::CollectiveKind::oab || made.kind == eco::CollectiveKind::oas;
    if (has_root && made.root != root)
        usage_error(kVerb, fmt::format("{} begins at terminal {}: it needs --root {}", pattern.name,
                                       made.root, made.root));
}

NamedPattern pattern_of(const std::string& word) {
    if (word.starts_with("schedule:")) return schedule_of(word);
    const auto algorithm = eco::parse_algorithm(word);
    if (!algorithm)
        usage_error(kVerb,
                    fmt::format("\"{}\" is no pattern: auto, memory, messages, multicast, eco, models, star, "
                                "tree:K, binary, binomial, "
                                "chain, chain:64KiB, ring, butterfly, bruck, pairwise, "
                                "levels:OUTER/INNER of these, RULE/INNER",
                                word));
    return {word, *algorithm};
}

std::vector<NamedPattern> patterns_of(const std::string& text, const CollectiveOptions& options) {
    std::vector<NamedPattern> patterns;
    for (const std::string& word : split_list(text)) {
        NamedPattern pattern = pattern_of(word);
        const bool needs_map =
            pattern.algorithm.follows_map() || pattern.algorithm.rule() || pattern.algorithm.uses_models();
        if (needs_map && options.map_file.empty())
            usage_error(
                kVerb,
                fmt::format("--pattern {} follows a map of the network: name it with --map FILE", word));
        if (std::none_of(options.operations.begin(), options.operations.end(),
                         [&](Operation each) { return pattern.supports(each); }))
            usage_error(kVerb, fmt::format("{} supports none of the operations that are asked for", word));
        check_root(pattern, options.root);
        patterns.push_back(std::move(pattern));
    }
    return patterns;
}

std::vector<std::uint64_t> sizes_of(const std::string& text, const CollectiveOptions& options) {
    const bool numbers =
        std::any_of(options.operations.begin(), options.operations.end(), benchmark::adds_up);
    std::vector<std::uint64_t> sizes = benchmark::sizes_from(kVerb, "--size", text);
    for (const std::uint64_t size : sizes)
        if (numbers && size % 8 != 0)
            usage_error(kVerb,
                        fmt::format("--size \"{}\": reductions and scans add numbers of 8 bytes", size));
    return sizes;
}

std::vector<TimedBy> clocks_of(const std::string& text) {
    std::vector<TimedBy> clocks;
    for (const std::string& word : split_list(text)) {
        if (word != "common" && word != "own")
            usage_error(kVerb, "--clock takes common, own or both with a comma, not \"" + word + "\"");
        clocks.push_back(word == "own" ? TimedBy::own : TimedBy::common);
    }
    return clocks;
}

template <class Number>
std::vector<Number> numbers_of(const char* option, const std::string& text, Number least) {
    std::vector<Number> numbers;
    for (const std::string& word : split_list(text)) {
        const auto number = whole_number<Number>(word);
        if (!number || *number < least)
            usage_error(kVerb, fmt::format("{} \"{}\" is no whole number from {} on", option, word, least));
        numbers.push_back(*number);
    }
    return numbers;
}

} // namespace

int bench_collective(int count, char** arguments) {
    CommandLine line(kVerb, "Measures collective operations.", "[OPTIONS]", kCollectiveFooter);
    CollectiveOptions options;
    std::string operations = "broadcast,barrier,all_reduce,all_gather,all_to_all";
    std::string patterns = "auto";
    std::string sizes = "8,4KiB,64KiB,1MiB";
    std::string clocks = "common";
    std::string orders;
    std::string members;
    std::string methods;
    std::uint32_t contexts = 0;
    bool no_pin = false;
    bool inside = false;
    CLI::App& app = line.app();
    app.add_option("--operation", operations, "Which: " + all_operations())
        ->type_name("LIST")
        ->capture_default_str();
    app.add_option("--pattern", patterns, "By which patterns")->type_name("LIST")->capture_default_str();
    app.add_option("--size", sizes, "Bytes of each message, block or vector")
        ->type_name("LIST")
        ->capture_default_str();
    app.add_option("--root", options.root, "Root of the operation")->capture_default_str();
    app.add_option("--map", options.map_file, "The measured network, for eco and auto")->type_name("FILE");
    app.add_option("--order", orders, "Seeds by which members are shuffled (default: by rank in the job)")
        ->type_name("LIST");
    app.add_option("--members", members, "How many take part, the first in the order (default: all)")
        ->type_name("LIST");
    app.add_option("--clock", clocks, "What completion means: common, own")
        ->type_name("LIST")
        ->capture_default_str();
    app.add_option("--iterations", options.iterations,
                   "Calls of a case (default: as many as take half a second)")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32))
        ->type_name("N");
    app.add_option("--methods", methods,
                   "The methods to load, the preferred first (default: those of the configuration)")
        ->type_name("LIST");
    app.add_option("--contexts", contexts, "Start so many on this machine")
        ->check(CLI::Range(2u, 4096u))
        ->type_name("N");
    app.add_flag("--no-pin", no_pin, "With --contexts: do not tie each to a core where there are enough");
    app.add_flag("--inside", inside, "Be one of those that --contexts started")->group("");
    if (!line.parse(count, arguments)) return kOk;

    options.operations = operations_of(operations);
    options.patterns = patterns_of(patterns, options);
    options.sizes = sizes_of(sizes, options);
    options.clocks = clocks_of(clocks);
    options.orders.assign(1, std::nullopt);
    if (!orders.empty()) {
        const auto seeds = numbers_of<std::uint64_t>("--order", orders, 0);
        options.orders.assign(seeds.begin(), seeds.end());
    }
    if (!members.empty()) options.members = numbers_of<eco::Rank>("--members", members, 2);
    options.json = line.json();

    if (contexts != 0 && !inside) {
        benchmark::check_members(options, contexts);
        std::vector<std::string> command{std::filesystem::read_symlink("/proc/self/exe").string(), "bench",
                                         "collective"};
        command.insert(command.end(), arguments + 1, arguments + count);
        return benchmark::start_members(contexts, std::move(command), !no_pin);
    }
    Options more;
    if (!methods.empty()) more.set["methods"] = methods;
    Context here = line.start(std::move(more));
    return benchmark::run_member(here, options);
}

} // namespace plexus::tools
