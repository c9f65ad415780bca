// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bench/collective/run.h"

#include "tools/bench/collective/report.h"
#include "tools/benchmark/cores.h"
#include "tools/benchmark/progress.h"
#include "tools/common/quantity.h"
#include "tools/verb.h"

#include "plexus/eco/pace.h"
#include "plexus/launch.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <numeric>
#include <utility>

namespace plexus::tools::benchmark {
namespace {

using eco::Operation;
using eco::Rank;

/// The job's ranks by their places in an order. Own arithmetic (splitmix64), so that
/// tools/limits/mpi_collective.c has the same order.
std::vector<Rank> shuffled(Rank members, const std::optional<std::uint64_t>& seed) {
    std::vector<Rank> ranks(members);
    std::iota(ranks.begin(), ranks.end(), Rank{0});
    if (!seed) return ranks;
    std::uint64_t state = *seed;
    for (std::size_t at = ranks.size(); at > 1; --at) {
        std::uint64_t word = state += 0x9e3779b97f4a7c15u;
        word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
        word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
        std::swap(ranks[at - 1], ranks[(word ^ (word >> 31)) % at]);
    }
    return ranks;
}

std::uint32_t longest_way(const eco::RoundSchedule& schedule) {
    std::size_t links = 0;
    for (const eco::Round& round : schedule.rounds)
        for (const eco::Transfer& each : round) links = std::max(links, each.path.size());
    return static_cast<std::uint32_t>(links);
}

/// One context's part in the whole run.
class Member {
  public:
    Member(Context& here, const CollectiveOptions& options)
      : here_(here)
      , options_(options)
      , world_(eco::Group::world(here))
      , clock_(here, world_) {}

    int run() {
        std::vector<Rank> sizes = options_.members;
        if (sizes.empty()) sizes.push_back(here_.size());
        for (const auto& order : options_.orders) {
            const std::vector<Rank> ranks = shuffled(here_.size(), order);
            for (const Rank size : sizes)
                if (!measure_group({ranks.data(), size}, order)) return kNo;
        }
        if (progress_) progress_->clear();
        if (first() && !options_.json) print(rows_);
        return kOk;
    }

  private:
    bool first() const { return here_.rank() == 0; }

    bool measure_group(std::span<const Rank> ranks, const std::optional<std::uint64_t>& order) {
        eco::Group group;
        if (std::find(ranks.begin(), ranks.end(), here_.rank()) != ranks.end()) {
            eco::GroupOptions more;
            more.map_file = options_.map_file;
            group = eco::Group::of(here_, ranks, more);
        }
        CollectiveRow row;
        row.contexts = static_cast<Rank>(ranks.size());
        row.root = options_.root;
        row.order = order;
        for (const TimedBy clock : options_.clocks)
            for (const Operation operation : options_.operations)
                for (const std::uint64_t size : sizes_of(operation))
                    for (const NamedPattern& pattern : options_.patterns) {
                        if (!pattern.supports(operation)) continue;
                        row.operation = operation;
                        row.pattern = pattern.name;
                        row.size_bytes = size;
                        row.clock = clock;
                        if (!measure(group ? by(group, pattern, row) : group, row)) return false;
                    }
        return true;
    }

    /// The one that was made before, or the best that is found in kSearchTime.
    eco::RoundSchedule schedule_for(const ScheduleRequest& request, Operation operation) const {
        if (request.made) return *request.made;
        const auto end = std::chrono::steady_clock::now() + CollectiveOptions::kSearchTime;
        const auto go_on = [end](const eco::SearchProgress&) {
            return std::chrono::steady_clock::now() < end;
        };
        return eco::find_schedule(request.graph, *scheduled_as(operation), options_.root, {1, go_on})
            .schedule;
    }

    /// A schedule is made by one member.
    eco::Group by(const eco::Group& group, const NamedPattern& pattern, const CollectiveRow& row) const {
        if (!pattern.schedule) return group.with(pattern.algorithm);
        eco::GroupSchedule how;
        if (group.rank() == 0) {
            how.overlap = pattern.schedule->overlap;
            how.schedule = schedule_for(*pattern.schedule, row.operation);
        }
        if (pattern.schedule->timing != Timing::permissions) {
            how.pace = eco::measure_pace(group, how, row.size_bytes);
            const double ratio = eco::lockstep_ratio(*how.pace, row.size_bytes, longest_way(how.schedule));
            if (pattern.schedule->timing == Timing::best && ratio < 1.25) how.pace.reset();
        }
        // Member 0's holds: the others have no schedule of their own.
        return group.by(group.rank() == 0 ? how : eco::GroupSchedule{});
    }

    /// A barrier has no size.
    std::vector<std::uint64_t> sizes_of(Operation operation) const {
        return operation == Operation::barrier ? std::vector<std::uint64_t>{0} : options_.sizes;
    }

    bool measure(const eco::Group& group, CollectiveRow& row) {
        alive(row);
        std::optional<CollectiveCall> call;
        std::uint32_t wrong = 0;
        if (group) {
            call.emplace(group, row.operation, row.size_bytes, row.root);
            call->run();
            wrong = call->right() ? 0 : 1;
        }
        wrong = world_.all_reduce(wrong, std::plus<std::uint32_t>{});
        if (wrong > 0) {
            if (first())
                std::fprintf(stderr, "plexus bench: %s of %s by %s brought wrong data to %u of %u members\n",
                             std::string(eco::to_string(row.operation)).c_str(),
                             show_size(row.size_bytes).c_str(), row.pattern.c_str(), wrong, row.contexts);
            return false;
        }
        const bool waits = group && (!begins_at_root(row.operation) || group.rank() == row.root);
        row.completion = time_by(row.clock, {world_, clock_, group, call ? &*call : nullptr, waits,
                                             options_.iterations, [&] { alive(row); }});
        if (first()) take(row);
        return true;
    }

    void alive(const CollectiveRow& row) {
        if (!first()) return;
        if (!progress_) progress_.emplace();
        progress_->show(fmt::format("{} by {}, {}, {} contexts", eco::to_string(row.operation), row.pattern,
                                    show_size(row.size_bytes), row.contexts));
    }

    void take(const CollectiveRow& row) {
        if (!options_.json) return rows_.push_back(row);
        progress_->clear();
        std::printf("%s\n", to_json(row).c_str());
        std::fflush(stdout);
    }

    Context& here_;
    const CollectiveOptions& options_;
    eco::Group world_;
    CommonClock clock_;
    std::optional<Progress> progress_; // of rank 0
    std::vector<CollectiveRow> rows_;
};

} // namespace

void check_members(const CollectiveOptions& options, Rank contexts) {
    if (contexts < 2)
        throw Error(Status::bad_config,
                    "a collective operation needs at least two contexts: add --contexts 4, "
                    "or start it with plexus run -n 4");
    Rank least = contexts;
    for (const Rank members : options.members) {
        if (members > contexts)
            throw Error(
                Status::bad_config,
                fmt::format("--members {} is more than the {} contexts of the job", members, contexts));
        least = std::min(least, members);
    }
    if (options.root >= least)
        throw Error(Status::bad_config, fmt::format("--root {} is none of {} members", options.root, least));
    const std::vector<Rank> counts = options.members.empty() ? std::vector{contexts} : options.members;
    for (const NamedPattern& pattern : options.patterns) {
        if (!pattern.schedule) continue;
        const std::size_t terminals = pattern.schedule->graph.terminals.size();
        for (const Rank members : counts)
            if (members != terminals)
                throw Error(Status::bad_config,
                            fmt::format("{} is for {} members, and {} take part: start {} contexts, or more "
                                        "with --members {}",
                                        pattern.name, terminals, members, terminals, terminals));
    }
}

int start_members(std::uint32_t contexts, std::vector<std::string> command, bool pin) {
    LaunchOptions job;
    job.prefix_output = false;
    job.speaker = "plexus bench";
    const auto cores = choose_cores(contexts);
    job.bind_to_core = pin && cores && cores->near.size() + cores->far.size() >= contexts;
    command.emplace_back("--inside");
    LaunchProgram& program = job.programs.emplace_back();
    program.processes = contexts;
    program.command = std::move(command);
    return launch(job);
}

int run_member(Context& here, const CollectiveOptions& options) {
    check_members(options, here.size());
    return Member(here, options).run();
}

} // namespace plexus::tools::benchmark
