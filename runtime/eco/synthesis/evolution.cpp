// SPDX-License-Identifier: BSD-3-Clause
// The paper's search: more rounds until a population gets rid of all conflicts. Pure.
#include "plexus/eco/round_schedule.h"

#include "plexus/error.h"
#include "synthesis/evolution_population.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace plexus::eco {
namespace {

/// Counters of links and rounds that the individuals have together: 1 GiB.
constexpr std::uint64_t kMostCounters = 1U << 28U;
/// A population whose best has kept its conflicts for so many generations per gene has converged: a new one
/// takes its place.
constexpr std::uint32_t kPatience = 20;

[[noreturn]] void refuse(const std::string& why) { throw Error(Status::bad_argument, why); }

class Evolution {
  public:
    Evolution(const LinkGraph& graph, CollectiveKind kind, std::uint32_t root,
              const EvolutionOptions& options)
      : options_(options)
      , result_{.schedule = {kind, root, {}}, .bound = lower_bound(graph, kind, root)}
      , problem_(graph, kind, root)
      , random_(options.seed)
      , mutation_(static_cast<std::uint32_t>(options.mutation * Population::kChances)) {}

    SearchResult run() {
        for (std::uint64_t rounds = std::max<std::uint64_t>(result_.bound.rounds, options_.first_rounds);
             options_.most_rounds == 0 || rounds <= options_.most_rounds; ++rounds) {
            if (rounds * problem_.links() * options_.population > kMostCounters)
                refuse(fmt::format("{} rounds of {} links are too many for a population of {}", rounds,
                                   problem_.links(), options_.population));
            if (!search(static_cast<std::uint32_t>(rounds))) break;
        }
        return std::move(result_);
    }

  private:
    /// False: there is a schedule, or go_on ended the search.
    bool search(std::uint32_t rounds) {
        std::uint32_t left = options_.generations;
        do {
            if (!goes_on()) return false;
            Population population(problem_, rounds, options_.population, mutation_, random_);
            std::uint64_t fewest = population.best().conflicts();
            std::uint32_t stalled = 0;
            while (fewest > 0 && left > 0 && stalled < kPatience * problem_.genes()) {
                if (!goes_on()) return false;
                population.next_generation();
                ++result_.tries;
                --left;
                const std::uint64_t now = population.best().conflicts();
                stalled = now < fewest ? 0 : stalled + 1;
                fewest = now;
            }
            if (fewest > 0) continue;
            result_.schedule = problem_.schedule(population.best().genes(), rounds);
            return false;
        } while (left > 0);
        return true;
    }

    bool goes_on() const {
        return !options_.go_on || options_.go_on({0, result_.bound.rounds, result_.tries});
    }

    const EvolutionOptions& options_;
    SearchResult result_; ///< first: its bound refuses what is no graph
    const EvolutionProblem problem_;
    Random random_;
    std::uint32_t mutation_; ///< of Population::kChances
};

} // namespace

SearchResult evolve_schedule(const LinkGraph& graph, CollectiveKind kind, std::uint32_t root,
                             const EvolutionOptions& options) {
    if (options.population < 4)
        refuse(fmt::format("a population of {} has no better half to choose from: 4 is the least",
                           options.population));
    if (!(options.mutation >= 0 && options.mutation <= 1))
        refuse(fmt::format("mutation is a probability, not {}", options.mutation));
    return Evolution(graph, kind, root, options).run();
}

} // namespace plexus::eco
