// SPDX-License-Identifier: BSD-3-Clause
#include "tools/schedule/search.h"

#include "tools/common/usage.h"

#include <future>
#include <stop_token>

namespace plexus::tools::schedule {
namespace {

using Clock = std::chrono::steady_clock;

/// Numbers of rounds that the evolutionary search tries; 0: from the bound, as many as it takes.
struct Rounds {
    std::uint32_t first = 0;
    std::uint32_t most = 0;
};

eco::SearchResult run(const SearchTask& task, std::uint64_t seed, const eco::SearchCallback& go_on,
                      Rounds rounds = {}) {
    if (task.search == Search::umda) {
        eco::EvolutionOptions options;
        options.seed = seed;
        options.go_on = go_on;
        options.first_rounds = rounds.first;
        options.most_rounds = rounds.most;
        return eco::evolve_schedule(task.graph, task.kind, task.root, options);
    }
    return eco::find_schedule(task.graph, task.kind, task.root, {.seed = seed, .go_on = go_on});
}

/// Seeds of later searches are far from those of other tasks, whose seeds often are neighbours.
constexpr std::uint64_t kNextSeed = 0x9e3779b97f4a7c15;

/// The evolutionary search again and again: each search after a success is for one round less.
eco::SearchResult repeat(const SearchTask& task, Clock::time_point start) {
    const auto has_time = [&task, start] { return Clock::now() - start < task.time; };
    const auto go_on = [&has_time](const eco::SearchProgress&) { return has_time(); };
    const auto rounds_of = [](const eco::SearchResult& found) {
        return static_cast<std::uint32_t>(found.schedule.rounds.size());
    };
    std::uint64_t seed = task.seed;
    Rounds tried{task.enough, task.enough};
    eco::SearchResult best = run(task, seed, go_on, tried);
    while (!best.optimal() && has_time()) {
        if (const std::uint32_t found = rounds_of(best); found > 0) {
            if (found <= task.enough) break;
            tried = {found - 1, found - 1};
        }
        seed += kNextSeed;
        eco::SearchResult next = run(task, seed, go_on, tried);
        if (rounds_of(next) > 0) best = std::move(next);
    }
    return best;
}

bool is_shorter(const eco::RoundSchedule& a, const eco::RoundSchedule& b) {
    return !a.rounds.empty() && (b.rounds.empty() || a.rounds.size() < b.rounds.size());
}

} // namespace

std::string_view to_string(Search search) noexcept { return search == Search::fast ? "fast" : "umda"; }

Search search_of(const std::string& text, Search usual) {
    if (text.empty()) return usual;
    if (text == "fast") return Search::fast;
    if (text == "umda") return Search::umda;
    usage_error("schedule", "--search takes umda or fast, not \"" + text + "\"");
}

Found search_once(const SearchTask& task) {
    const auto start = Clock::now();
    const auto go_on = [&task, start](const eco::SearchProgress&) {
        return Clock::now() - start < task.time;
    };
    eco::SearchResult result =
        task.search == Search::umda ? repeat(task, start) : run(task, task.seed, go_on);
    return {std::move(result), Clock::now() - start};
}

Found search_best(const SearchTask& task) {
    if (task.search == Search::umda) return search_once(task);
    const auto start = Clock::now();
    std::stop_source at_bound;
    const auto attempt = [&](std::uint64_t seed) {
        eco::SearchResult out = run(task, seed, [&](const eco::SearchProgress&) {
            return !at_bound.stop_requested() && Clock::now() - start < task.time;
        });
        if (out.optimal()) at_bound.request_stop();
        return out;
    };
    std::future<eco::SearchResult> other = std::async(std::launch::async, attempt, 2 * task.seed + 1);
    eco::SearchResult low = attempt(2 * task.seed);
    eco::SearchResult high = other.get();
    // A search that ran out of time may have proved less than the other one.
    const eco::RoundBound bound = low.bound.rounds >= high.bound.rounds ? low.bound : high.bound;
    Found best{is_shorter(high.schedule, low.schedule) ? std::move(high) : std::move(low),
               Clock::now() - start};
    best.result.bound = bound;
    return best;
}

} // namespace plexus::tools::schedule
