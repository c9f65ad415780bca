// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bench/session.h"

#include "tools/bench/dual.h"
#include "tools/bench/idle.h"
#include "tools/bench/survey.h"
#include "tools/benchmark/cores.h"
#include "tools/benchmark/initiator.h"
#include "tools/benchmark/responder.h"
#include "tools/benchmark/stream.h"
#include "tools/benchmark/transfer.h"

#include "plexus/launch.h"
#include <cstdio>
#include <fmt/format.h>
#include <thread>

namespace plexus::tools::benchmark {

namespace {

std::string numbers(const std::vector<int>& cores) { return fmt::format("{}", fmt::join(cores, ",")); }

std::string methods_of(const Context& here) {
    std::string names;
    for (const LaneReport& lane : here.lanes()) names += (names.empty() ? "" : ", ") + lane.method;
    return names;
}

std::vector<Row> measure(Initiator& end) {
    switch (end.options().kind) {
    case Kind::latency:
        return measure_latency(end, end.options().sizes);
    case Kind::bandwidth:
    case Kind::rate:
        return measure_stream(end, end.options().kind, end.options().sizes);
    case Kind::put:
    case Kind::get:
        return measure_transfer(end);
    case Kind::dual:
        return measure_dual(end);
    case Kind::idle:
        return measure_idle(end);
    case Kind::survey: {
        SurveyRows survey = measure_survey(end);
        if (!survey.learned.empty()) write_learned(survey.learned);
        return std::move(survey.rows);
    }
    }
    return {};
}

void show(std::vector<Row> rows, const PairOptions& options, const Context& here) {
    for (Row& row : rows) row.methods = methods_of(here);
    if (options.kind == Kind::survey) return write_survey(rows);
    if (options.json) {
        for (const Row& row : rows) std::printf("%s\n", to_json(row).c_str());
        return;
    }
    print(rows);
    if (options.kind == Kind::dual) std::printf("\n%s", judge_dual(rows).c_str());
    if (options.kind == Kind::idle) std::printf("\n%s", judge_idle(rows, here.lanes()).c_str());
}

int initiate(Context& here, const PairOptions& options) {
    Initiator end(here, options);
    std::vector<Row> rows = measure(end);
    end.progress().clear();
    show(std::move(rows), options, here);
    return 0;
}

/// Answers until the initiator is done, or has failed and the scope ends.
class ResponderThread {
  public:
    ResponderThread(Context& there, const PairOptions& options, const std::vector<int>& cores)
      : there_(there)
      , thread_([this, &options, cores] {
          settle_on(cores);
          try {
              respond(there_, options, abandoned_);
          } catch (const Error& error) { std::fprintf(stderr, "plexus bench: %s\n", error.what()); }
      }) {}
    ~ResponderThread() {
        abandoned_.store(true,
                         std::memory_order_relaxed); // alone; stop() makes the responder look
        there_.stop();
        thread_.join();
    }
    ResponderThread(const ResponderThread&) = delete;
    ResponderThread& operator=(const ResponderThread&) = delete;

  private:
    Context& there_;
    std::atomic<bool> abandoned_{false};
    std::thread thread_;
};

} // namespace

int start_pair(const PairOptions& options, const std::vector<std::string>& command) {
    const std::optional<Cores> cores = options.pin ? choose_cores(options.threads) : std::nullopt;
    if (options.pin && !cores)
        std::fprintf(stderr, "plexus bench: both ends share one core, as this process may use no other: the "
                             "figures say little\n");
    LaunchOptions job;
    job.prefix_output = false;
    job.speaker = "plexus bench";
    for (const bool near : {true, false}) {
        LaunchProgram& program = job.programs.emplace_back();
        program.command = command;
        program.command.emplace_back("--inside");
        if (cores)
            program.command.insert(program.command.end(),
                                   {"--cores", numbers(near ? cores->near : cores->far)});
    }
    if (!options.json) {
        std::printf("plexus bench %s, %s\n", name_of(options.kind),
                    cores ? fmt::format("cores {} and {}", numbers(cores->near), numbers(cores->far)).c_str()
                          : "not pinned");
        std::fflush(stdout);
    }
    return launch(job);
}

void settle_on(const std::vector<int>& cores) {
    if (cores.empty()) return;
    if (const std::string why = pin_to(cores); !why.empty())
        std::fprintf(stderr, "plexus bench: not pinned to core %s: %s\n", numbers(cores).c_str(),
                     why.c_str());
}

int run_end(Context& here, const PairOptions& options) {
    if (here.size() != 2)
        throw Error(Status::bad_config, fmt::format("a measurement needs a job of two contexts and this one "
                                                    "has {}: use plexus run -n 2, or leave "
                                                    "--inside out and both are started",
                                                    here.size()));
    if (here.rank() == 0) return initiate(here, options);
    const std::atomic<bool> never{false};
    respond(here, options, never);
    return 0;
}

int run_both(const std::function<Context()>& start, const PairOptions& options) {
    const Cores cores = options.pin ? choose_cores(1).value_or(Cores{}) : Cores{};
    settle_on(cores.far); // before a context starts its threads
    Context there = start();
    settle_on(cores.near);
    Context here = start();
    const ResponderThread far(there, options, cores.far);
    return initiate(here, options);
}

} // namespace plexus::tools::benchmark
