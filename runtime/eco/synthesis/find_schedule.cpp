// SPDX-License-Identifier: BSD-3-Clause
// The fast search: what follows from a network's structure first, then attempts at random until one meets the
// bound.
#include "plexus/eco/round_schedule.h"
#include "plexus/error.h"
#include "synthesis/all_broadcast.h"
#include "synthesis/bound.h"
#include "synthesis/broadcast.h"
#include "synthesis/families.h"
#include "synthesis/list_schedule.h"
#include "synthesis/ring.h"
#include "synthesis/symmetry.h"
#include "synthesis/tabu.h"
#include "synthesis/tree_broadcast.h"

#include <algorithm>

namespace plexus::eco {
namespace {

/// So many attempts in a row without a shorter schedule are enough.
constexpr std::uint64_t kAttempts = 1000;
constexpr double kMostPatience = 100;

class Finder {
  public:
    Finder(const LinkGraph& graph, CollectiveKind kind, std::uint32_t root, const SearchOptions& options)
      : routes_(graph)
      , random_(options.seed)
      , root_(root)
      , callback_(options.go_on) {
        result_.schedule = {kind, root, {}};
        result_.bound = bound_within(routes_, kind, root, go_on());
    }

    SearchResult run() {
        try {
            search();
        } catch (const Error& error) { // what was found before counts
            if (error.status() != Status::too_large || result_.schedule.rounds.empty()) throw;
        }
        return std::move(result_);
    }

  private:
    void search() {
        switch (result_.schedule.kind) {
        case CollectiveKind::oab:
            broadcast();
            break;
        case CollectiveKind::aab:
            all_broadcast();
            break;
        case CollectiveKind::oas:
            scatter(Placement::of_root(routes_, root_, go_on()));
            break;
        case CollectiveKind::aas:
            all_scatter();
            break;
        }
    }

    bool done() const noexcept { return result_.schedule.rounds.size() == result_.bound.rounds; }

    bool ask() {
        stopped_ =
            stopped_ ||
            (callback_ && !callback_({result_.schedule.rounds.size(), result_.bound.rounds, result_.tries}));
        return !stopped_;
    }

    /// What parts of the search ask.
    std::function<bool()> go_on() {
        return [this] { return ask(); };
    }

    void keep(std::vector<Round> rounds) {
        std::vector<Round>& best = result_.schedule.rounds;
        if (rounds.empty() || (!best.empty() && rounds.size() >= best.size())) return;
        best = std::move(rounds);
        last_success_ = result_.tries;
    }

    /// True while another attempt makes sense.
    bool again() {
        ++result_.tries;
        return !done() && ask() && result_.tries - last_success_ <= kAttempts;
    }

    void broadcast() {
        if (ask())
            if (auto exact = tree_broadcast(routes_.graph(), root_, kTreeWork))
                keep(std::move(exact->rounds));
        if (done()) return;
        do {
            keep(broadcast_backwards(routes_, root_, result_.bound.rounds, random_, go_on()));
        } while (again());
        if (result_.schedule.rounds.empty()) // straight from the root
            attempt_scatter(Placement::of_root(routes_, root_, go_on()), 1);
    }

    /// A ring, and each terminal's own message straight to all others, take N - 1 rounds or more.
    void all_broadcast() {
        const std::size_t of_ring = routes_.terminals() - 1;
        const auto is_longer = [this, of_ring] {
            const std::size_t rounds = result_.schedule.rounds.size();
            return rounds == 0 || rounds > of_ring;
        };
        const auto go_round = [this](auto find) {
            if (const auto ring = find(routes_, random_, go_on())) keep(all_round(*ring));
        };
        const bool ring_meets = result_.bound.rounds >= of_ring;
        go_round(simple_ring);
        if (!done() && ring_meets) go_round(search_ring);
        if (done()) return;
        const Placement placement = Placement::of_pairs(routes_, go_on());
        if (!ring_meets) {
            keep(spread(placement, random_, go_on()));
            if (is_longer()) go_round(search_ring);
        }
        if (!done() && is_longer()) structured(placement);
        if (!done() && is_longer()) attempt_scatter(placement, 1);
        while (again()) {
            keep(spread(placement, random_, go_on()));
            if (result_.tries % 16 == 0 && !done()) attempt_scatter(placement, 1);
        }
    }

    void all_scatter() {
        const Placement placement = Placement::of_pairs(routes_, go_on());
        structured(placement);
        if (!done()) scatter(placement);
    }

    /// An attempt at the bound with the images of every transfer in its round.
    void scatter_symmetrically() {
        constexpr std::size_t kMostVertices = 512;
        constexpr std::size_t kMostElements = 64;
        if (routes_.graph().vertices.size() > kMostVertices) return;
        std::vector<GraphSymmetry> generators;
        for (std::uint32_t left = 1 + random_.below(4); left > 0; --left)
            if (auto drawn = random_symmetry(routes_, random_, 10000))
                generators.push_back(*std::move(drawn));
        auto group = free_group(routes_, generators, kMostElements);
        if (!group || group->size() == 1) return;
        const SymmetricScatter scatter(routes_, *std::move(group), go_on());
        if (scatter.placement().tasks().empty()) return;
        const auto bound = static_cast<std::uint32_t>(result_.bound.rounds);
        Assignment attempt = list_schedule(scatter.placement(), bound, random_, go_on());
        const TabuOptions options{.rounds = bound, .patience = moves(scatter.placement(), bound, 0.1)};
        if (tabu_search(scatter.placement(), options, attempt, random_, go_on()))
            keep(scatter.rounds(attempt));
    }

    void structured(const Placement& placement) {
        if (!ask()) return;
        if (const auto found = by_stages(placement)) keep(to_rounds(placement, *found));
        if (done() || result_.bound.rounds != routes_.terminals() - 1) return;
        if (auto found = by_permutations(routes_, random_, go_on())) keep(*std::move(found));
    }

    void scatter(const Placement& placement) {
        double patience = 1;
        do {
            attempt_scatter(placement, patience);
            patience = std::min(1.1 * patience, kMostPatience);
            for (int left = 8;
                 left > 0 && placement.tasks().size() >= routes_.terminals() && !done() && ask(); --left)
                scatter_symmetrically();
        } while (again());
    }

    /// At the bound, or at one round less than the best; what finds no place then has further rounds.
    void attempt_scatter(const Placement& placement, double patience) {
        const auto bound = static_cast<std::uint32_t>(result_.bound.rounds);
        const auto best = static_cast<std::uint32_t>(result_.schedule.rounds.size());
        const std::uint32_t wanted = result_.tries % 2 == 0 || best == 0 ? bound : best - 1;
        Assignment attempt = list_schedule(placement, wanted, random_, go_on());
        tabu_search(placement, {.rounds = wanted, .patience = moves(placement, wanted, patience)}, attempt,
                    random_, go_on());
        // Without any schedule the first one is finished, also when the time is over.
        if (add_rounds(placement, attempt, go_on(), best == 0 ? InHaste::finish : InHaste::give_up))
            keep(to_rounds(placement, attempt));
    }

    /// A move costs about as many looks as there are rounds and ways of a task.
    static std::uint64_t moves(const Placement& placement, std::uint32_t rounds, double patience) {
        const double ways =
            static_cast<double>(placement.ways()) / static_cast<double>(placement.tasks().size());
        return 100 + static_cast<std::uint64_t>(patience * 1e6 / (rounds * ways));
    }

    Routes routes_;
    Random random_;
    std::uint32_t root_;
    SearchCallback callback_;
    SearchResult result_;
    std::uint64_t last_success_ = 0;
    bool stopped_ = false;
};

} // namespace

SearchResult find_schedule(const LinkGraph& graph, CollectiveKind kind, std::uint32_t root,
                           const SearchOptions& options) {
    check(graph);
    return Finder(graph, kind, root, options).run();
}

} // namespace plexus::eco
