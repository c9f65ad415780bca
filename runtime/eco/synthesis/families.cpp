// SPDX-License-Identifier: BSD-3-Clause
#include "synthesis/families.h"

#include "synthesis/tabu.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

namespace plexus::eco {
namespace {

/// The way from a terminal to itself through the network, where there is one only.
std::optional<LinkPath> way_to_itself(const Routes& routes, std::uint32_t terminal) {
    const LinkGraph& graph = routes.graph();
    LinkPath path;
    for (std::uint32_t at = graph.terminals[terminal].in; at != graph.terminals[terminal].out;) {
        const auto links = routes.leaving(at);
        const auto next = std::find_if(links.begin(), links.end(),
                                       [&](std::uint32_t link) { return routes.leads(link, terminal); });
        if (next == links.end()) return std::nullopt;
        path.push_back(*next);
        at = graph.links[*next].to;
    }
    return path;
}

/// What each link that enters a switch is joined to in round 0, as a place among the links that leave it.
class Settings {
  public:
    explicit Settings(const Routes& routes)
      : routes_(routes)
      , joined_(routes.graph().links.size()) {
        if (!follow_identity()) follow_numbers();
    }

    std::uint32_t outputs(std::uint32_t link_in) const noexcept {
        return static_cast<std::uint32_t>(routes_.leaving(routes_.graph().links[link_in].to).size());
    }
    /// By how many places `out` is ahead of what `in` is joined to.
    std::uint32_t digit(std::uint32_t in, std::uint32_t out) const {
        const std::uint32_t all = outputs(in);
        return (place(out) + all - joined_[in]) % all;
    }

  private:
    std::uint32_t place(std::uint32_t link) const {
        const auto links = routes_.leaving(routes_.graph().links[link].from);
        return static_cast<std::uint32_t>(std::find(links.begin(), links.end(), link) - links.begin());
    }

    bool follow_identity() {
        std::vector<bool> taken(joined_.size());
        for (std::uint32_t terminal = 0; terminal < routes_.terminals(); ++terminal) {
            const auto path = way_to_itself(routes_, terminal);
            if (!path) return false;
            for (std::size_t hop = 0; hop < path->size(); ++hop) {
                if (taken[(*path)[hop]]) return false;
                taken[(*path)[hop]] = true;
                if (hop > 0) joined_[(*path)[hop - 1]] = place((*path)[hop]);
            }
        }
        return true;
    }

    void follow_numbers() {
        std::vector<std::uint32_t> next(routes_.graph().vertices.size());
        for (std::size_t link = 0; link < joined_.size(); ++link)
            joined_[link] = next[routes_.graph().links[link].to]++;
    }

    const Routes& routes_;
    std::vector<std::uint32_t> joined_;
};

/// One round in which every terminal sends to `receiver(terminal)`. Where a search for ways gets stuck
/// another one from elsewhere succeeds sooner than patience does.
template <typename Receiver>
std::optional<Round> route(const Routes& routes, Receiver receiver, Random& random,
                           const std::function<bool()>& go_on) {
    Placement placement(routes);
    bool choice = false;
    for (std::uint32_t src = 0; src < routes.terminals(); ++src) {
        placement.begin_task();
        choice = placement.add_ways(src, receiver(src), ways_tried(routes.terminals())) > 1 || choice;
    }
    const int attempts = choice ? 300 : 1;
    for (int attempt = 0; attempt < attempts && go_on(); ++attempt) {
        Assignment assignment;
        assignment.round.assign(routes.terminals(), 0);
        for (const Task& task : placement.tasks())
            assignment.way.push_back(task.first_way + (task.ways > 1 ? random.below(task.ways) : 0));
        if (tabu_search(placement, {.rounds = 1, .patience = 300, .keep_rounds = true}, assignment, random,
                        go_on))
            return to_rounds(placement, assignment).front();
    }
    return std::nullopt;
}

} // namespace

std::optional<Assignment> by_stages(const Placement& placement) {
    const Settings settings(placement.routes());
    Assignment out;
    std::map<std::uint64_t, std::uint32_t> rounds; // by the digits of t, as one number
    for (const Task& task : placement.tasks()) {
        if (task.ways != 1) return std::nullopt;
        const Transfer transfer = placement.transfer(task.first_way);
        std::uint64_t digits = 0;
        for (std::size_t hop = 1; hop < transfer.path.size(); ++hop) {
            const std::uint32_t in = transfer.path[hop - 1];
            digits = digits * settings.outputs(in) + settings.digit(in, transfer.path[hop]);
        }
        const auto round =
            rounds.try_emplace(digits, static_cast<std::uint32_t>(rounds.size())).first->second;
        if (rounds.size() > placement.routes().terminals()) return std::nullopt;
        out.round.push_back(round);
        out.way.push_back(task.first_way);
    }
    out.rounds = static_cast<std::uint32_t>(rounds.size());
    if (!is_valid(placement, out)) return std::nullopt;
    return out;
}

std::optional<std::vector<Round>> by_permutations(const Routes& routes, Random& random,
                                                  const std::function<bool()>& go_on) {
    const std::uint32_t n = routes.terminals();
    for (const bool exclusive_or : {false, true}) {
        if (exclusive_or && !std::has_single_bit(n)) break;
        std::vector<Round> out;
        for (std::uint32_t k = 1; k < n; ++k) {
            auto round = route(
                routes, [&](std::uint32_t src) { return exclusive_or ? src ^ k : (src + k) % n; }, random,
                go_on);
            if (!round) break;
            out.push_back(*std::move(round));
        }
        if (out.size() == n - 1) return out;
    }
    return std::nullopt;
}

} // namespace plexus::eco
