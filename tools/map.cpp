// SPDX-License-Identifier: BSD-3-Clause
// `plexus map`: reads its command line and hands it to the file in map/ that does what was
// asked. Starts no context.
#include "tools/command_line.h"
#include "tools/map/wish.h"
#include "tools/quantity.h"
#include "tools/verb.h"

#include <map>

namespace plexus::tools {
namespace {

constexpr char kFooter[] =
    "partition FILE prints the subnets of a map, one a line: hosts between which messages cost\n"
    "at most 20 % more than the cheapest of each, by the ECO paper's rule. FILE is a map that\n"
    "plexus probe wrote, or a plain matrix: N name1 ... nameN, then N rows of N numbers, - or\n"
    "inf where nothing was measured, # before a comment.";

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
    CommandLine line("map", "Tells what a map of the network shows.", "partition FILE [OPTIONS]", kFooter);
    MapWish wish;
    std::string what;
    std::string tolerance = "20%";
    std::string symmetry;
    std::string statistic = "min";
    std::string size;
    line.app().add_option("what", what, "partition")->type_name("");
    line.app().add_option("file", wish.file, "A map or a plain matrix")->type_name("FILE");
    line.app()
        .add_option("--tolerance", tolerance,
                    "How much dearer than the cheapest is still the same subnet (20%)")
        ->type_name("N%|P/Q");
    line.app()
        .add_option("--symmetric", symmetry, "Which counts where the two directions differ")
        ->type_name("min|max|mean");
    line.app()
        .add_option("--size", size, "Costs of messages of this size (the smallest)")
        ->type_name("BYTES");
    line.app()
        .add_option("--cost", statistic, "Which of the measured costs counts (min)")
        ->type_name("min|p25|median|p75|p95");
    line.app().add_flag("--levels", wish.levels, "Subnets of subnets as well, until nothing merges");
    if (!line.parse(count, arguments)) return kOk;
    if (what != "partition")
        usage_error("map", what.empty() ? "say what to do with a map: partition"
                                        : "a map can be used for partition, not for \"" + what + "\"");
    if (wish.file.empty()) usage_error("map", "say which FILE holds the map");
    const auto ratio = eco::parse_tolerance(tolerance);
    if (!ratio) usage_error("map", "--tolerance takes a share like 20% or 1/5, not \"" + tolerance + "\"");
    wish.tolerance = *ratio;
    if (!symmetry.empty()) wish.symmetry = one_of(kSymmetries, "--symmetric", symmetry);
    wish.statistic = one_of(kStatistics, "--cost", statistic);
    if (!size.empty()) {
        wish.size_bytes = parse_size(size);
        if (!wish.size_bytes) usage_error("map", "--size takes bytes like 8 or 64KiB, not \"" + size + "\"");
    }
    wish.json = line.json();
    return print_partition(wish);
}

} // namespace plexus::tools
