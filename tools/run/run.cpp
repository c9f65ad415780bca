// SPDX-License-Identifier: BSD-3-Clause
// `plexus run`: reads the command line and runs a job. The library has the launcher.
#include "tools/common/launch_options.h"
#include "tools/common/usage.h"
#include "tools/verb.h"

#include "plexus/launch.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace plexus::tools {
namespace {

using Words = std::vector<std::string>;

constexpr char kRunFooter[] = R"(
Several programs in one job: plexus run -n 2 app1 args : -n 2 app2 args
Ranks are counted through all of them. Options before the first program hold for the whole
job; after a colon, -n, -x and --set hold for the program that follows.

Each line of output gets "[rank] " in front. Rank 0 has the standard input, the others
none. SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT reach all processes.
When one process fails, the others get SIGTERM, and after the grace time SIGKILL.

Exit code: 0, or that of the first process that failed (128 + N if signal N killed it);
2 usage; 3 a program or file is missing, or the system gives no process or port.)";

[[noreturn]] void usage_error(const std::string& sentence) { tools::usage_error("run", sentence); }

/// RANK:FILE, or FILE0,FILE1,... for the ranks from 0 on.
void add_config_files(const Words& words, std::map<std::uint32_t, std::string>& files) {
    for (const std::string& word : words) {
        const std::size_t colon = word.find(':');
        if (colon != std::string::npos && colon > 0 && colon < 10 &&
            word.find_first_not_of("0123456789") == colon) {
            files[static_cast<std::uint32_t>(std::stoul(word.substr(0, colon)))] = word.substr(colon + 1);
            continue;
        }
        std::uint32_t rank = 0;
        for (std::size_t start = 0; start <= word.size(); ++rank) {
            const std::size_t comma = std::min(word.find(',', start), word.size());
            if (comma > start) files[rank] = word.substr(start, comma - start);
            start = comma + 1;
        }
    }
}

/// The options between two colons.
struct Segment {
    LaunchProgram program;
    Words environment, settings, config_files;
    bool no_prefix = false, prefix = false;
    std::string bind_to = "none";
    double grace_seconds = 2;
};

void describe(CLI::App& app, Segment& segment, bool first) {
    app.prefix_command();
    // Each option takes one word: the next word may be the program.
    app.add_option("-n,--np,--processes", segment.program.processes,
                   "How many processes of the program to start")
        ->check(CLI::Range(1, 65536))
        ->capture_default_str();
    app.add_option("-x,--env", segment.environment,
                   "An environment variable for the processes; may be repeated")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false);
    app.add_option("--set", segment.settings, "A key of the configuration for the processes; may be repeated")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    if (!first) return;
    app.add_option("--per-process-config", segment.config_files,
                   "A configuration file for one rank, or files for rank 0, 1, ...; may be repeated")
        ->type_name("RANK:FILE|FILE0,FILE1,...")
        ->allow_extra_args(false);
    app.add_flag("--tag-output,--prefix", segment.prefix,
                 "\"[rank] \" in front of each line of output (the default)");
    app.add_flag("--no-prefix", segment.no_prefix, "The processes write to the standard streams themselves")
        ->excludes("--tag-output");
    app.add_option("--bind-to", segment.bind_to, "core: each process stays on one processor, in turn")
        ->check(CLI::IsMember({"none", "core"}))
        ->capture_default_str();
    app.add_option("--grace", segment.grace_seconds,
                   "How long processes may take to end when the job is ended")
        ->type_name("SECONDS")
        ->check(CLI::Range(0.0, 3600.0))
        ->capture_default_str();
}

/// Thrown by --help, with what to print.
struct Help {
    std::string text;
};

/// Parses the words before the program; the program's own words are kept.
Segment parse(Words words, bool first) {
    CLI::App app("Starts a job of several processes on this machine; they find each other through Plexus.");
    app.formatter(help_layout("run [-n N] [OPTIONS] [--] PROGRAM [ARGUMENTS]"));
    app.footer(kRunFooter);
    Segment segment;
    describe(app, segment, first);
    if (!words.empty() && words.front() == "-np") words.front() = "-n"; // as users of mpirun write it

    Words& command = segment.program.command;
    try {
        command = parse_before_program(app, words, "run", first ? "" : " behind a colon");
    } catch (const CLI::CallForHelp&) { throw Help{app.help()}; }
    if (command.empty()) usage_error("there is no program to start");
    return segment;
}

std::vector<Words> split_at_colons(int count, char** arguments) {
    std::vector<Words> stretches(1);
    for (int i = 1; i < count; ++i) {
        const std::string word = arguments[i];
        if (word == ":") {
            stretches.emplace_back();
        } else {
            stretches.back().push_back(word);
        }
    }
    return stretches;
}

LaunchOptions options_from(const std::vector<Words>& stretches) {
    LaunchOptions options;
    options.speaker = "plexus run";
    for (const Words& stretch : stretches) {
        const bool first = options.programs.empty();
        Segment segment = parse(stretch, first);
        if (first) {
            options.environment = variables_from(segment.environment, "run");
            options.settings = settings_from(segment.settings, "run");
            add_config_files(segment.config_files, options.config_files);
            options.prefix_output = !segment.no_prefix;
            options.bind_to_core = segment.bind_to == "core";
            options.grace =
                std::chrono::milliseconds(static_cast<std::int64_t>(segment.grace_seconds * 1000));
        } else {
            segment.program.environment = variables_from(segment.environment, "run");
            segment.program.settings = settings_from(segment.settings, "run");
        }
        options.programs.push_back(std::move(segment.program));
    }
    return options;
}

} // namespace

int run(int count, char** arguments) {
    try {
        return launch(options_from(split_at_colons(count, arguments)));
    } catch (const Help& help) {
        std::fputs(help.text.c_str(), stdout);
        return kOk;
    }
}

} // namespace plexus::tools
