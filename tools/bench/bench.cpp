// SPDX-License-Identifier: BSD-3-Clause
// `plexus bench`: reads the command line and starts the measurement. tools/benchmark/ has what
// measures.
#include "tools/bench/session.h"
#include "tools/bench/survey.h"
#include "tools/common/command_line.h"
#include "tools/common/quantity.h"
#include "tools/verb.h"

#include <filesystem>
#include <fmt/format.h>

namespace plexus::tools {
namespace {

using benchmark::Kind;
using benchmark::PairOptions;
using benchmark::SkipPoll;

constexpr char kCollective[] = "collective";
constexpr char kBenchFooter[] =
    "latency    a ping-pong of one-way requests: half of a round trip; from 16 KiB on the\n"
    "           programs answer from their loops, smaller ones from their handlers\n"
    "bandwidth  one-way requests that carry a range of bytes, in one direction\n"
    "rate       small one-way requests, in one direction\n"
    "put, get   bulk memory, several transfers at once\n"
    "dual       two ping-pongs at once between the same two contexts, by a fast and a slow\n"
    "           method, for each skip_poll of the slow one\n"
    "idle       a ping-pong by one method, with all other methods polled and without: the\n"
    "           cost of idle methods\n"
    "collective operations of groups; plexus bench collective --help tells its options\n"
    "\n"
    "Two processes are started and pinned to different cores. Means and rates are those of\n"
    "the best of five rounds (dual, idle: medians); percentiles are of single messages in\n"
    "a round of their own.";

std::vector<std::uint64_t> usual_sizes(Kind kind) {
    constexpr std::uint64_t kKiB = 1024;
    switch (kind) {
    case Kind::latency:
        return {8, 64, 512, 4 * kKiB, 32 * kKiB, 256 * kKiB};
    case Kind::bandwidth:
    case Kind::put:
    case Kind::get:
        return {4 * kKiB, 64 * kKiB, 256 * kKiB, 1024 * kKiB, 4096 * kKiB};
    case Kind::rate:
    case Kind::dual:
    case Kind::idle:
        return {8};
    case Kind::survey:
        return {8, 4 * kKiB, 64 * kKiB, 1024 * kKiB};
    }
    return {8};
}

Kind kind_of(const std::string& name) {
    for (const Kind kind : {Kind::latency, Kind::bandwidth, Kind::rate, Kind::put, Kind::get, Kind::dual,
                            Kind::idle, Kind::survey})
        if (name == benchmark::name_of(kind)) return kind;
    usage_error(
        "bench",
        name.empty() ? "what to measure is missing: latency, bandwidth, rate, put, get, dual, idle "
                       "or collective"
        : name == kCollective
            ? "collective has options of its own: write it before them"
            : "\"" + name +
                  "\" cannot be measured: latency, bandwidth, rate, put, get, dual, idle or collective can");
}

std::vector<SkipPoll> skip_polls_of(const std::string& text) {
    std::vector<SkipPoll> values;
    for (const std::string& word : split_list(text)) {
        const SkipPoll turns = benchmark::whole_number<std::uint32_t>(word);
        if (turns.value_or(0) == 0 && word != "auto")
            usage_error("bench",
                        "--skip-poll \"" + word + "\" is neither a number of turns from 1 on nor auto");
        values.push_back(turns);
    }
    return values;
}

/// @error bad_argument (thrown)
void check_buffers(const PairOptions& options) {
    if (options.buffers == 1) return;
    if (options.kind != Kind::latency && options.kind != Kind::bandwidth && options.kind != Kind::put &&
        options.kind != Kind::get)
        usage_error("bench", "--buffers is for latency, bandwidth, put and get");
    constexpr std::uint64_t kMost = std::uint64_t{1} << 30;
    for (const std::uint64_t size : options.sizes)
        if (size > kMost / options.buffers)
            usage_error("bench", fmt::format("--buffers {}: so many of {} would take more than 1 GiB",
                                             options.buffers, show_size(size)));
}

int be_an_end(const CommandLine& line, const PairOptions& options) {
    const auto start = [&] {
        Options more;
        if (!options.methods.empty()) more.set["methods"] = options.methods;
        return line.start(std::move(more));
    };
    if (options.one_process) return benchmark::run_both(start, options);
    benchmark::settle_on(options.cores); // before the context starts its threads
    Context here = start();
    return benchmark::run_end(here, options);
}

} // namespace

int bench_verb(int count, char** arguments) {
    if (count > 1 && std::string_view(arguments[1]) == kCollective)
        return bench_collective(count - 1, arguments + 1);
    CommandLine line("bench", "Measures what requests cost on this machine.",
                     "latency|bandwidth|rate|put|get|dual|idle|collective [OPTIONS]", kBenchFooter);
    PairOptions options;
    std::string kind;
    std::string sizes;
    std::string cores;
    std::string skip_polls = "1,2,5,10,20,50,100,200,500,1000,2000,5000,10000,auto";
    bool no_pin = false;
    bool inside = false;
    CLI::App& app = line.app();
    app.add_option("what", kind, "latency, bandwidth, rate, put, get, dual or idle");
    app.add_option("--methods", options.methods,
                   "The methods to load, the preferred first; dual, idle: the fast one first "
                   "(default: those of the "
                   "configuration; dual: \"shm, tcp\")")
        ->type_name("LIST");
    app.add_option("--size", sizes, "Bytes of each message: \"8, 64KiB, 1MiB\"")->type_name("LIST");
    app.add_option(
           "--iterations", options.iterations,
           "Messages of a round (default: as many as take a twentieth of a second; dual: for a tenth)")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))
        ->type_name("N");
    app.add_option("--threads", options.threads, "bandwidth, rate: threads that send")
        ->check(CLI::Range(1u, 64u))
        ->type_name("N");
    app.add_option("--buffers", options.buffers,
                   "latency, bandwidth, put, get: buffers of a message's size that are sent from in turn "
                   "(default: 1, "
                   "which stays in the caches); put and get use as many on both sides")
        ->check(CLI::Range(1u, 1u << 20))
        ->type_name("N");
    app.add_option("--skip-poll", skip_polls, "dual: values for the slow method")
        ->type_name("LIST")
        ->capture_default_str();
    app.add_flag("--no-pin", no_pin, "Leave both ends to the system's scheduler");
    app.add_flag("--inside", inside, "Be one of the two ends, in a job of two that runs already")
        ->group("In a job of your own");
    app.add_option("--cores", cores, "With --inside: run on these cores")
        ->type_name("LIST")
        ->group("In a job of your own");
    app.add_flag("--one-process", options.one_process, "survey: both ends in one process")->group("");
    if (!line.parse(count, arguments)) return kOk;

    options.kind = kind_of(kind);
    options.sizes =
        sizes.empty() ? usual_sizes(options.kind) : benchmark::sizes_from("bench", "--size", sizes);
    if (kind != "dual" && app.count("--skip-poll") > 0) usage_error("bench", "--skip-poll goes with dual");
    options.skip_polls = skip_polls_of(skip_polls);
    options.cores = benchmark::cores_from("bench", cores);
    options.json = line.json();
    options.pin = !no_pin;
    if (options.kind == Kind::dual && options.methods.empty()) options.methods = "shm, tcp";
    if (options.kind == Kind::dual && split_list(options.methods).size() < 2)
        usage_error("bench", "dual needs two methods: --methods \"shm, tcp\", the fast one first");
    if (options.threads > 1 && options.kind != Kind::bandwidth && options.kind != Kind::rate)
        usage_error("bench", "--threads is for bandwidth and rate: one thread does the others");
    check_buffers(options);
    if (!options.cores.empty() && !inside) usage_error("bench", "--cores goes with --inside");

    if (options.one_process && options.kind != Kind::survey)
        usage_error("bench", "--one-process goes with the survey of plexus info --measure");

    if (!inside && !options.one_process) {
        std::vector<std::string> command{std::filesystem::read_symlink("/proc/self/exe").string(), "bench"};
        command.insert(command.end(), arguments + 1, arguments + count);
        return benchmark::start_pair(options, command);
    }
    try {
        return be_an_end(line, options);
    } catch (const Error& error) {
        if (options.in_haste()) benchmark::write_failure(error.what());
        throw;
    }
}

} // namespace plexus::tools
