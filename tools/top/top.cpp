// SPDX-License-Identifier: BSD-3-Clause
// `plexus top`: the counters of contexts that run on this host, or behind a URL.
#include "plexus/counters.h"
#include "plexus/error.h"
#include "tools/common/command_line.h"
#include "tools/common/json.h"
#include "tools/top/seen.h"
#include "tools/verb.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <pthread.h>
#include <unistd.h>

namespace plexus::tools {
namespace {

constexpr char kTopFooter[] =
    "Without an argument: a line for each context of yours on this host. With one: the methods,\n"
    "peers and groups of the contexts of that process or job. On a terminal the figures are per\n"
    "second and renewed until you interrupt; otherwise, and with --once, they are totals since the\n"
    "start.\n"
    "The contexts are not stopped, and need not make progress. One that does not answer is shown\n"
    "with what it told before. The key `counters` says whether a context shows its counters.\n"
    "With a URL (plexus://host:port, where a context listens, or the directory of a job) all ranks\n"
    "are asked over the network: with the job's key (--set job.key_file=FILE), and while they make\n"
    "progress. Exit code 1: there is no such context.";

/// For all contexts behind a URL to answer.
constexpr std::chrono::milliseconds kNetworkTime{2000};

struct TopOptions {
    std::string which; ///< a process's number, a job, or a URL; empty: all of this host
    bool once = false;
    bool prometheus = false;
    double interval = 1;
};

std::optional<std::int32_t> process_in(const std::string& word) {
    std::int32_t number = 0;
    const char* const end = word.data() + word.size();
    const auto read = std::from_chars(word.data(), end, number);
    if (read.ec != std::errc() || read.ptr != end || number <= 0) return {};
    return number;
}

std::vector<RunningContext> find_contexts(const std::string& which, std::vector<std::string>& refused) {
    std::vector<RunningContext> all = RunningContext::all(&refused);
    if (which.empty()) {
        if (all.empty() && refused.empty())
            throw Error(Status::not_found, "no context of yours on this host shows its counters");
        return all;
    }
    std::vector<RunningContext> chosen;
    for (RunningContext& each : all)
        if (each.label().job == which) chosen.push_back(std::move(each));
    if (!chosen.empty()) return chosen;
    refused.clear(); // whatever they are: a process is asked by its number
    if (const auto process = process_in(which)) return RunningContext::of(*process);
    throw Error(Status::not_found,
                fmt::format("no context of a job {} runs on this host", json::quote(which)));
}

bool is_url(const std::string& which) { return which.find("://") != which.npos; }

top::Look look_over_network(Context& here, const std::string& url) {
    top::Look look;
    for (SeenContext& each : read_counters(here, kNetworkTime, look.refused))
        look.contexts.push_back({std::move(each.label), std::move(each.sample)});
    if (look.contexts.empty())
        throw Error(Status::not_found,
                    fmt::format("no context tells its counters at {}: {}", json::printable(url),
                                look.refused.empty() ? "" : look.refused.front()));
    look.at = std::chrono::system_clock::now();
    return look;
}

// All are asked at the same time: those that do not answer take their time together.
top::Look look_at(const std::string& which, Context* network) {
    if (network != nullptr) return look_over_network(*network, which);
    top::Look look;
    std::vector<RunningContext> contexts = find_contexts(which, look.refused);
    for (RunningContext& each : contexts) each.ask();
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    for (RunningContext& each : contexts) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        try {
            look.contexts.push_back({each.label(), each.read(std::max(left, std::chrono::milliseconds(5)))});
        } catch (const Error& error) {
            if (error.status() != Status::peer_lost) // it has ended meanwhile
                look.refused.push_back(fmt::format("process {}: {}", each.label().process, error.what()));
        }
    }
    look.at = std::chrono::system_clock::now();
    return look;
}

void print(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) std::printf("%s\n", line.c_str());
}

void print_once(const TopOptions& options, Context* network, bool as_json) {
    const top::Look look = look_at(options.which, network);
    if (as_json)
        std::fputs(top::show_json(look).c_str(), stdout);
    else if (options.prometheus) {
        std::fputs(top::show_prometheus(look).c_str(), stdout);
        for (const std::string& why : look.refused) // the format has no place for them
            std::fprintf(stderr, "plexus top: not shown: %s\n", json::printable(why).c_str());
    } else
        print(options.which.empty() ? top::show_list(look, nullptr) : top::show_contexts(look, nullptr));
}

/// True as soon as a signal asks this process to end; false when the time is over.
bool is_ended_within(const sigset_t& ends, double seconds) {
    timespec time{};
    time.tv_sec = static_cast<time_t>(seconds);
    time.tv_nsec = static_cast<long>((seconds - static_cast<double>(time.tv_sec)) * 1e9);
    return ::sigtimedwait(&ends, nullptr, &time) > 0 || (errno != EAGAIN && errno != EINTR);
}

// Before a context starts its threads: they inherit that.
sigset_t block_ends() {
    sigset_t ends;
    sigemptyset(&ends);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ends, signal);
    ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
    return ends;
}

void show_until_ended(const TopOptions& options, Context* network, const sigset_t& ends) {
    std::unique_ptr<top::Look> before;
    do {
        auto look = std::make_unique<top::Look>(look_at(options.which, network));
        std::fputs("\x1b[H\x1b[J", stdout); // to the top, and nothing below
        print(options.which.empty() ? top::show_list(*look, before.get())
                                    : top::show_contexts(*look, before.get()));
        std::fflush(stdout);
        before = std::move(look);
    } while (!is_ended_within(ends, options.interval));
}

} // namespace

int top_verb(int count, char** arguments) {
    CommonHelp help;
    help.set = "With a URL: a key of the configuration; may be repeated";
    help.ending = "Exit codes: 0 ok, 1 the answer is no, 2 usage, 3 environment.";
    CommandLine line("top", "Shows the counters of contexts that run.", "[OPTIONS] [PID|JOB|URL]", kTopFooter,
                     help);
    TopOptions options;
    line.app()
        .add_option("which", options.which, "A process or a job by its number or name, or a URL")
        ->type_name("PID|JOB|URL");
    line.app().add_flag("--once", options.once, "Print once and end, as where output is no terminal");
    line.app().add_flag("--prometheus", options.prometheus, "Print the text format of Prometheus, once");
    line.app()
        .add_option("--interval", options.interval, "Seconds between two looks (default: 1)")
        ->type_name("SECONDS");
    if (!line.parse(count, arguments)) return kOk;
    if (line.json() && options.prometheus) usage_error("top", "--json and --prometheus: choose one");
    if (!(options.interval >= 0.05 && options.interval <= 86'400))
        usage_error("top", "--interval takes seconds from 0.05 to 86400");
    if (!is_url(options.which) && (!line.settings().empty() || line.plexus_arguments().size() > 1))
        usage_error("top", "keys of the configuration go with a URL: contexts of this host are read without");
    const bool once = options.once || line.json() || options.prometheus || ::isatty(STDOUT_FILENO) == 0;
    try {
        const sigset_t ends = once ? sigset_t{} : block_ends();
        std::optional<Context> network;
        if (is_url(options.which)) {
            Options more;
            more.url = options.which;
            more.set["counters"] = "false";                  // its own are of no interest
            more.defaults["progress.lookup_timeout"] = "5s"; // somebody waits for the answer
            network.emplace(line.start(std::move(more)));
        }
        Context* const over = network ? &*network : nullptr;
        if (once)
            print_once(options, over, line.json());
        else
            show_until_ended(options, over, ends);
    } catch (const Error& error) {
        if (error.status() != Status::not_found) throw;
        std::fprintf(stderr, "plexus top: %s\n", error.what());
        return kNo;
    }
    return kOk;
}

} // namespace plexus::tools
