// SPDX-License-Identifier: BSD-3-Clause
// `plexus lab`: reads the command line and runs a job in a lab.
#include "plexus/error.h"
#include "tools/common/launch_options.h"
#include "tools/common/quantity.h"
#include "tools/common/usage.h"
#include "tools/lab/control.h"
#include "tools/lab/network_file.h"
#include "tools/lab/placement.h"
#include "tools/lab/refusal.h"
#include "tools/lab/session.h"
#include "tools/lab/verbs.h"
#include "tools/lab/world.h"
#include "tools/verb.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <unistd.h>

namespace plexus::tools {
namespace {

using namespace lab;
using Words = std::vector<std::string>;

constexpr char kLabFooter[] = R"(
plexus lab ctl [--lab PROCESS] REQUEST   speaks to a lab that runs: report json, report text,
                                         reset, down PART, up PART (a host, segment, bridge, link),
                                         rate PART RATE, as in: rate left 10 Mb/s
plexus lab enter HOST PROGRAM [...]      inside a lab: runs a program on another of its hosts;
                                         enter --shell stands in for ssh (mpirun)
plexus lab list                          the networks that come with Plexus

NETWORK is a TOML file, one of that list, or a link graph that is a tree with hosts at its
leaves: a name like btree-16, karytree-4-2 or star-8, or a JSON file (plexus schedule --help).

Each host is a network namespace with a name, an address (10.77.x.y, in /etc/hosts) and
shared memory of its own; contexts on two hosts reach each other only through the network.
The job's output, input, signals and exit code are those of plexus run. With --on, one
program runs on one host, without ranks, and may start a job of its own (mpirun).

It needs root's rights or user namespaces, and /dev/net/tun. All of it ends with the
command, whatever happens to that.

Exit code: that of the job; 2 usage; 3 a file or program is missing; 77 this machine does
not allow labs.)";

[[noreturn]] void usage_error(const std::string& sentence) { tools::usage_error("lab", sentence); }

/// Of each link of a link graph, as it was written; empty: nothing was.
struct LinkWords {
    std::string rate, delay, queue;
};

struct LabOptions {
    std::string network;
    double scale = 1;
    bool keep_delays = false;
    LinkWords links;
    PlacementOptions placement;
    std::string hosts, on, json;
    bool report = false, quiet = false, no_prefix = false;
    Words environment, settings;
    double grace_seconds = 2;
    Words command;
};

void describe(CLI::App& app, LabOptions& options) {
    app.prefix_command();
    app.add_option("--scale", options.scale,
                   "Multiplies all rates and divides all delays; 0.1: rates a tenth, delays tenfold")
        ->check(CLI::Range(1e-6, 1e6))
        ->capture_default_str();
    app.add_flag("--keep-delays", options.keep_delays, "With --scale, only rates are scaled");
    app.add_option("--rate", options.links.rate, "Of each link of a link graph, like \"100 Mb/s\"")
        ->type_name("RATE");
    app.add_option("--delay", options.links.delay, "Ditto, like \"50 us\"")->type_name("TIME");
    app.add_option("--queue", options.links.queue, "Ditto, of each direction, like \"64 KiB\"")
        ->type_name("SIZE");
    app.add_option("--per-host", options.placement.per_host, "How many contexts each host gets")
        ->check(CLI::Range(1, 4096))
        ->capture_default_str();
    app.add_option("-n,--contexts", options.placement.contexts, "How many contexts on all hosts together")
        ->check(CLI::Range(1, 4096));
    app.add_option("--order", options.placement.order,
                   "block: ranks of a host follow each other; cyclic; shuffle or shuffle:SEED")
        ->capture_default_str();
    app.add_option("--hosts", options.hosts, "Only these hosts, in this order; host*3 for three contexts")
        ->type_name("HOST,...");
    app.add_option("--on", options.on, "One program on this host, or on \"lab\", which sees all hosts")
        ->type_name("HOST");
    app.add_option("--json", options.json, "Where the report goes as JSON; - is standard output")
        ->type_name("FILE");
    app.add_flag("--report", options.report, "Frames and bytes of each link, on standard error");
    app.add_flag("--quiet", options.quiet, "No word about the scale and the switch at the end");
    app.add_option("-x,--env", options.environment,
                   "An environment variable for the processes; may be repeated")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    app.add_option("--set", options.settings, "A key of the configuration for the processes; may be repeated")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    app.add_flag("--no-prefix", options.no_prefix, "The processes write to the standard streams themselves");
    app.add_option("--grace", options.grace_seconds,
                   "How long processes may take to end when the job is ended")
        ->type_name("SECONDS")
        ->check(CLI::Range(0.0, 3600.0))
        ->capture_default_str();
}

/// False: help was asked for, and printed.
bool parse(Words words, LabOptions& options) {
    CLI::App app("Runs a job in a network that exists on this machine only.");
    app.formatter(help_layout("lab NETWORK [OPTIONS] [--] PROGRAM [ARGUMENTS]"));
    app.footer(kLabFooter);
    describe(app, options);
    if (!words.empty() && !words.front().starts_with('-')) {
        options.network = words.front();
        words.erase(words.begin());
    }
    try {
        options.command = parse_before_program(app, words, "lab");
    } catch (const CLI::CallForHelp&) {
        std::fputs(app.help().c_str(), stdout);
        return false;
    }
    if (!options.on.empty())
        for (const char* each : {"--hosts", "--per-host", "--contexts", "--order"})
            if (app.count(each) > 0)
                usage_error(std::string(each) + " is for jobs: --on starts one program on one host");
    if (options.network.empty()) usage_error("the network comes first");
    if (options.command.empty()) usage_error("there is no program to start");
    return true;
}

template <class Value>
void read_speed(const char* option, const std::string& text, const char* form,
                const std::optional<Value>& read, Value& value) {
    if (text.empty()) return;
    if (!read) usage_error(std::string(option) + " takes " + form + ", not \"" + text + "\"");
    value = *read;
}

/// Of a link graph's links; nothing: nothing was said.
std::optional<Speed> link_speed(const LabOptions& options) {
    if (options.links.rate.empty() && options.links.delay.empty() && options.links.queue.empty())
        return std::nullopt;
    Speed speed = default_link_speed();
    read_speed("--rate", options.links.rate, kRateForm, parse_rate(options.links.rate),
               speed.bits_per_second);
    read_speed("--delay", options.links.delay, kTimeForm, parse_time(options.links.delay), speed.delay);
    read_speed("--queue", options.links.queue, kQueueForm, parse_queue(options.links.queue),
               speed.queue_bytes);
    return speed;
}

SessionOptions session_options(const Network& network, LabOptions& options) {
    SessionOptions session;
    if (!options.on.empty()) {
        const std::size_t host = host_named(network, options.on);
        if (host == network.hosts.size() && options.on != "lab")
            usage_error("the network \"" + network.name + "\" has no host \"" + options.on + "\"");
        session.hosts = {host};
        session.is_job = false;
    } else {
        if (!options.hosts.empty()) options.placement.hosts = split_list(options.hosts);
        session.hosts = place(network, options.placement);
    }
    session.job.speaker = "plexus lab";
    session.job.environment = variables_from(options.environment, "lab");
    // Listeners are on loopback by default, where other hosts of the lab cannot reach them.
    session.job.settings = {{"method.tcp.listen", "all"}, {"method.tls.listen", "all"}};
    for (const auto& one : settings_from(options.settings, "lab")) session.job.settings.push_back(one);
    session.job.prefix_output = session.is_job && !options.no_prefix;
    session.job.grace = std::chrono::milliseconds(static_cast<std::int64_t>(options.grace_seconds * 1000));
    session.job.programs.assign(session.hosts.size(), {1, options.command, {}, {}, {}});
    session.text_report = options.report;
    session.json_file = options.json;
    session.quiet = options.quiet;
    return session;
}

int run_lab(const Network& network, const SessionOptions& options) {
    const UniqueFd listener = listen_as(::getpid());
    return run_in_new_world([&] {
        try {
            return run_session(network, options, listener.get());
        } catch (const NotAllowed& error) {
            std::fprintf(stderr, "plexus lab: %s\n", error.what());
            return kNotAllowedHere;
        } catch (const Error& error) {
            std::fprintf(stderr, "plexus lab: %s\n", error.what());
            return static_cast<int>(error.status() == Status::bad_argument ? kUsage : kEnvironment);
        }
    });
}

} // namespace

int lab_verb(int count, char** arguments) {
    const std::string first = count > 1 ? arguments[1] : "";
    if (first == "enter") return enter(count - 1, arguments + 1);
    if (first == "ctl") return ctl(count - 1, arguments + 1);
    if (first == "list") return list_networks();
    LabOptions options;
    if (!parse(Words(arguments + 1, arguments + count), options)) return kOk;
    const Network network =
        scaled(load_network(options.network, link_speed(options)), options.scale, options.keep_delays);
    const SessionOptions session = session_options(network, options);
    try {
        return run_lab(network, session);
    } catch (const NotAllowed& error) {
        std::fprintf(stderr, "plexus lab: %s\n", error.what());
        return kNotAllowedHere;
    }
}

} // namespace plexus::tools
