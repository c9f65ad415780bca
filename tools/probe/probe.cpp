// SPDX-License-Identifier: BSD-3-Clause
// `plexus probe`: reads the command line, and is one context of the job that measures.
#include "tools/benchmark/options.h"
#include "tools/common/command_line.h"
#include "tools/common/quantity.h"
#include "tools/probe/coordinator.h"
#include "tools/probe/report.h"
#include "tools/probe/station.h"
#include "tools/verb.h"

#include "plexus/launch.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <thread>

namespace plexus::tools {
namespace {

using probe::ProbeOptions;

constexpr char kProbeFooter[] =
    "Run it as a job, one context on each host:\n"
    "  plexus run --no-prefix -n 4 -- plexus probe net.toml\n"
    "  plexus lab eco1996-dome -- plexus probe net.toml\n"
    "\n"
    "Every pair plays ping-pong, one pair at a time; a time is that of a round trip, halved. Of\n"
    "a host with several contexts, the one with the least rank stands for it. For each pair and\n"
    "size a pass gives the least time and quantiles over its repetitions. All pairs are measured\n"
    "in several passes, and of these the map keeps the least of each number: what disturbs the\n"
    "network for a while does not stay in it. The map is saved now and then: --resume goes on\n"
    "after an interruption, with the passes that each pair lacks. Edges that decide which hosts\n"
    "share a subnet are measured again, and of these the second least is kept. The subnets\n"
    "are printed.\n"
    "\n"
    "--models acquires the parameters of published models by their own procedures (overheads, gaps\n"
    "over sizes, waits under load) and what that takes, and keeps them in the map for plexus map\n"
    "predict. Two hosts stand for their subnet, and one of each for the way between two subnets.";

// Of one pair and one size: passes share them, so that several take hardly longer than one.
constexpr double kSecondsOfAllPasses = 0.06;
constexpr std::uint32_t kFewestOfAllPasses = 3;

std::vector<std::uint64_t> sizes_of(const std::string& text) {
    if (text.empty()) return {};
    std::vector<std::uint64_t> sizes = benchmark::sizes_from("probe", "--sizes", text);
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return sizes;
}

/// Reads the metric and the tolerance.
void read(ProbeOptions& options, const std::string& metric, const std::string& tolerance) {
    const auto ratio = eco::parse_tolerance(tolerance);
    if (!ratio) usage_error("probe", "--tolerance takes a share like 20% or 1/5, not \"" + tolerance + "\"");
    options.tolerance = *ratio;
    if (metric == "latency") return;
    options.cost = size_in(metric);
    if (!options.cost)
        usage_error("probe",
                    "--metric takes latency, or a size like 64KiB for the time of so many bytes, not \"" +
                        metric + "\"");
    if (!options.sizes.empty() &&
        !std::binary_search(options.sizes.begin(), options.sizes.end(), *options.cost))
        usage_error("probe", "--metric " + metric + " is not among the --sizes");
}

/// Settings for a probe, unless the user has set them. The context that measures polls without a pause, for
/// longer than most messages take, and does not yield its core meanwhile; the other contexts sleep. Contexts
/// that share a host would disturb each other that way.
Options usual_settings(const CommandLine& line, const ProbeOptions& options) {
    Options settings;
    const auto unless_said = [&](const char* key, const char* value) {
        if (!line.settings().contains(key)) settings.set[key] = value;
    };
    unless_said("handlers.threads", "16"); // a thread waits for each peer that does not answer
    if (options.per_context) return settings;
    unless_said("progress.spin", "1 ms");
    unless_said("progress.yield", "0 us");
    return settings;
}

int be_rank_0(Context& here, const ProbeOptions& options) {
    std::atomic<bool> abandoned{false};
    probe::Station station(here, abandoned);
    std::exception_ptr failure;
    std::optional<probe::Outcome> outcome;
    std::thread coordinator([&] {
        try {
            outcome = probe::coordinate(here, options);
        } catch (const std::exception&) { failure = std::current_exception(); }
        abandoned.store(true, std::memory_order_release); // stop() makes serve() look
        here.stop();
    });
    try {
        station.serve();
    } catch (...) {
        coordinator.join();
        throw;
    }
    coordinator.join();
    if (failure) std::rethrow_exception(failure);
    return report(*outcome, options);
}

int start_job(std::uint32_t contexts, int count, char** arguments) {
    LaunchOptions job;
    job.prefix_output = false;
    job.speaker = "plexus probe";
    LaunchProgram& program = job.programs.emplace_back();
    program.processes = contexts;
    program.command = {std::filesystem::read_symlink("/proc/self/exe").string(), "probe", "--inside"};
    program.command.insert(program.command.end(), arguments + 1, arguments + count);
    return launch(job);
}

} // namespace

int probe_verb(int count, char** arguments) {
    CommandLine line("probe", "Measures what messages cost between hosts, and writes the map.",
                     "FILE [OPTIONS]", kProbeFooter);
    ProbeOptions options;
    std::string sizes;
    std::string metric = "latency";
    std::string tolerance = "20%";
    std::uint32_t contexts = 0;
    bool inside = false;
    CLI::App& app = line.app();
    app.add_option("file", options.file, "Where the map goes")->type_name("FILE");
    app.add_option("--sizes", sizes, "Bytes of the messages (8, 1KiB, 32KiB)")->type_name("LIST");
    app.add_option("--trips", options.effort.trips, "Round trips of a repetition (as many as take 2 ms)")
        ->check(CLI::Range(1u, 1'000'000u))
        ->type_name("N");
    app.add_option("--repetitions", options.effort.repetitions,
                   "Repetitions of a pass for a pair and a size (as many as begin within 60 ms over all "
                   "passes, 3 at least, and 20 at most in each)")
        ->check(CLI::Range(1u, 1'000'000u))
        ->type_name("N");
    app.add_option("--repeat", options.passes, "How often all pairs are measured; the least is kept")
        ->check(CLI::Range(1u, 1000u))
        ->type_name("N")
        ->capture_default_str();
    app.add_flag("--parallel", options.parallel,
                 "Pairs without a common host at the same time: right where they share no wire either");
    app.add_flag("--models", options.models,
                 "Acquire the parameters of models as well, in each subnet and between each two");
    app.add_flag("--resume", options.resume, "Measure the passes that pairs in the FILE lack");
    app.add_option("--refresh", options.refresh, "Measure this host of the FILE anew; may be repeated")
        ->type_name("HOST")
        ->allow_extra_args(false);
    app.add_flag("--per-context", options.per_context,
                 "Measure between contexts: HOST:RANK is a host's name then");
    app.add_option("--metric", metric, "What the subnets go by: latency, or the time for so many bytes")
        ->type_name("latency|BYTES")
        ->capture_default_str();
    app.add_option("--tolerance", tolerance,
                   "Hosts share a subnet if their cost exceeds its cheapest by at most this share")
        ->type_name("N%|P/Q")
        ->capture_default_str();
    app.add_option("--confirm", options.confirm, "How often an edge that decides is measured again")
        ->check(CLI::Range(0u, 100u))
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--patience", options.patience_s, "A pair that takes longer is given up")
        ->check(CLI::Range(0.1, 1e6))
        ->type_name("SECONDS")
        ->capture_default_str();
    app.add_option("-n", contexts, "Without a launcher: start so many contexts on this machine")
        ->check(CLI::Range(1u, 4096u))
        ->type_name("N");
    app.add_flag("--inside", inside)->group("");
    if (!line.parse(count, arguments)) return kOk;
    if (options.file.empty()) usage_error("probe", "say to which FILE the map goes");
    options.sizes = sizes_of(sizes);
    options.effort.seconds = kSecondsOfAllPasses / options.passes;
    options.effort.fewest = (kFewestOfAllPasses + options.passes - 1) / options.passes;
    read(options, metric, tolerance);
    options.json = line.json();
    if (contexts > 0 && !inside) return start_job(contexts, count, arguments);

    Context here = line.start(usual_settings(line, options));
    if (here.size() == 1 && !inside)
        usage_error("probe",
                    "there is one context, and a pair has two: start it as a job, as plexus run does, "
                    "or on this machine with -n 4 --per-context");
    if (here.rank() == 0) return be_rank_0(here, options);
    const std::atomic<bool> never{false};
    probe::Station station(here, never);
    station.serve();
    return kOk;
}

} // namespace plexus::tools
