// SPDX-License-Identifier: BSD-3-Clause
// Lower bounds on rounds, each with its reason. The simplest reason of the greatest bound is told.
#include "synthesis/bound.h"

#include "plexus/error.h"
#include "synthesis/routes.h"
#include "synthesis/tree_broadcast.h"
#include "synthesis/weights.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <functional>

namespace plexus::eco {
namespace {

std::uint64_t divided_up(std::uint64_t a, std::uint64_t b) noexcept { return (a + b - 1) / b; }

std::string link_text(const LinkGraph& graph, std::size_t link) {
    return fmt::format("{} -> {}", graph.vertices[graph.links[link].from],
                       graph.vertices[graph.links[link].to]);
}

/// "1 round", "2 rounds".
std::string counted(std::uint64_t number, const char* what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

class Bounds {
  public:
    Bounds(const Routes& routes, std::uint32_t root, const std::function<bool()>& go_on)
      : graph_(routes.graph())
      , routes_(routes)
      , go_on_(go_on)
      , root_(root)
      , others_(graph_.terminals.size() - 1)
      , entering_(graph_.vertices.size())
      , leaving_(graph_.vertices.size()) {
        for (const DirectedLink& each : graph_.links) {
            ++leaving_[each.from];
            ++entering_[each.to];
        }
    }

    RoundBound broadcast() {
        ports_of_broadcast();
        if (!go_on_()) return best_;
        const std::uint64_t least = least_tree_rounds(graph_, root_, kTreeWork);
        if (least > best_.rounds)
            consider(least,
                     fmt::format("the terminals are not reached in {}, however each link of the tree is used",
                                 counted(least - 1, "round")));
        return best_;
    }

    RoundBound all_broadcast() {
        accepting();
        for (std::uint32_t centre = 0;
             graph_.ports == Ports::all && centre < graph_.terminals.size() && go_on_(); ++centre)
            surroundings(centre);
        if (go_on_()) prove(WeightedLinks(routes_, std::nullopt, go_on_).search_forwarded());
        return best_;
    }

    RoundBound scatter() {
        sending(root_);
        links(root_);
        return best_;
    }

    RoundBound all_scatter() {
        accepting();
        for (std::uint32_t each = 0; each < graph_.terminals.size(); ++each) sending(each);
        links(std::nullopt);
        return best_;
    }

  private:
    /// About two seconds.
    static constexpr std::uint64_t kMostWork = 200'000'000;

    void consider(std::uint64_t rounds, const std::string& reason) {
        if (rounds > best_.rounds) best_ = {rounds, reason};
    }

    std::uint32_t out_links(std::uint32_t terminal) const {
        return graph_.ports == Ports::one ? 1 : leaving_[graph_.terminals[terminal].in];
    }
    std::uint32_t in_links(std::uint32_t terminal) const {
        return graph_.ports == Ports::one ? 1 : entering_[graph_.terminals[terminal].out];
    }

    std::string through(std::uint32_t links) const {
        if (links == 1) return "on one link";
        return graph_.ports == Ports::one ? "on one port" : fmt::format("on {} links", links);
    }

    void accepting() {
        for (std::uint32_t each = 0; each < graph_.terminals.size(); ++each)
            consider(divided_up(others_, in_links(each)),
                     fmt::format("terminal {} accepts {} {}", each, counted(others_, "message"),
                                 through(entering_[graph_.terminals[each].out])));
    }

    void sending(std::uint32_t terminal) {
        consider(divided_up(others_, out_links(terminal)),
                 fmt::format("terminal {} sends {} {}", terminal, counted(others_, "message"),
                             through(leaving_[graph_.terminals[terminal].in])));
    }

    /// Who has the message sends it on all ports; those with the most links have it first.
    void ports_of_broadcast() {
        if (graph_.ports == Ports::one) {
            const auto rounds = static_cast<std::uint64_t>(std::bit_width(others_));
            consider(rounds,
                     fmt::format("a round at most doubles those of {} terminals that have the message",
                                 others_ + 1));
            return;
        }
        std::vector<std::uint32_t> links;
        for (std::uint32_t each = 0; each < graph_.terminals.size(); ++each)
            if (each != root_) links.push_back(out_links(each));
        std::sort(links.begin(), links.end(), std::greater<>());
        std::uint64_t have = 1;
        std::uint64_t sends = out_links(root_);
        std::uint64_t rounds = 0;
        for (; have <= others_; ++rounds) {
            const std::uint64_t then = std::min<std::uint64_t>(have + sends, others_ + 1);
            for (; have < then; ++have) sends += links[have - 1];
        }
        consider(rounds,
                 fmt::format("{} terminals are not reached in {}, even if those with the most links have "
                             "the message first",
                             others_ + 1, counted(rounds - 1, "round")));
    }

    /// Vertices up to some distance before the one where terminal `centre` accepts. Messages that begin
    /// outside come in over links, or are accepted outside by a terminal that begins inside and passes them
    /// on. Only where `centre` alone ends inside, its own message has not to come in.
    void surroundings(std::uint32_t centre) {
        for (std::uint32_t radius = 0; work_ < kMostWork; ++radius) {
            work_ += graph_.terminals.size() + graph_.links.size();
            const auto near = [&](std::uint32_t vertex) {
                return routes_.distance(vertex, centre) <= radius;
            };
            std::uint64_t outside = 0;
            std::uint64_t acceptors = 0; // that end inside
            std::uint64_t accepted = 0;  // in a round by those that end outside and begin inside
            for (std::uint32_t each = 0; each < graph_.terminals.size(); ++each) {
                const bool begins_near = near(graph_.terminals[each].in);
                const bool ends_near = near(graph_.terminals[each].out);
                if (!begins_near) ++outside;
                if (ends_near) ++acceptors;
                if (begins_near && !ends_near) accepted += in_links(each);
            }
            if (acceptors == 1 && !near(graph_.terminals[centre].in)) --outside;
            const auto entering = static_cast<std::uint64_t>(
                std::count_if(graph_.links.begin(), graph_.links.end(),
                              [&](const DirectedLink& each) { return !near(each.from) && near(each.to); }));
            if (outside == 0 || entering == 0) return;
            consider(divided_up(outside, entering + accepted),
                     fmt::format("{} come over {} to the terminals up to {} from terminal {}{}",
                                 counted(outside, "message"), counted(entering, "link"),
                                 counted(radius, "link"), centre,
                                 accepted == 0 ? ""
                                               : fmt::format(", or over {} to terminals that send inside",
                                                             counted(accepted, "link"))));
        }
    }

    void links(std::optional<std::uint32_t> root) {
        if (go_on_()) prove(WeightedLinks(routes_, root, go_on_).search());
    }

    void prove(const WeightedLinks::Proof& proof) {
        if (proof.rounds <= best_.rounds) return;
        std::vector<std::size_t> heavy;
        for (std::size_t link = 0; link < proof.weights.size(); ++link)
            if (proof.weights[link] > 0) heavy.push_back(link);
        const bool alike = std::all_of(heavy.begin(), heavy.end(), [&](std::size_t link) {
            return proof.weights[link] == proof.weights[heavy.front()];
        });
        if (heavy.size() == 1) {
            consider(proof.rounds,
                     fmt::format("{} the link {}",
                                 proof.rounds == 1 ? "1 message crosses"
                                                   : fmt::format("{} messages cross", proof.rounds),
                                 link_text(graph_, heavy[0])));
        } else if (alike) {
            consider(proof.rounds,
                     fmt::format("messages cross {} links, the first {}, {} times in all", heavy.size(),
                                 link_text(graph_, heavy[0]), proof.ways / proof.weights[heavy[0]]));
        } else {
            consider(proof.rounds,
                     fmt::format("by weights of {} links (sum {}) the lightest ways of all messages weigh {}",
                                 heavy.size(), proof.links, proof.ways));
        }
    }

    const LinkGraph& graph_;
    const Routes& routes_;
    const std::function<bool()>& go_on_;
    std::uint32_t root_;
    std::uint64_t others_;
    std::vector<std::uint32_t> entering_; ///< links, of each vertex
    std::vector<std::uint32_t> leaving_;
    RoundBound best_;
    std::uint64_t work_ = 0; ///< terminals and links looked at around terminals
};

} // namespace

RoundBound bound_within(const Routes& routes, CollectiveKind kind, std::uint32_t root,
                        const std::function<bool()>& go_on) {
    if (root >= routes.terminals())
        throw Error(Status::bad_argument, fmt::format("the root is terminal {}, but terminals are 0 to {}",
                                                      root, routes.terminals() - 1));
    Bounds bounds(routes, root, go_on);
    switch (kind) {
    case CollectiveKind::oab:
        return bounds.broadcast();
    case CollectiveKind::aab:
        return bounds.all_broadcast();
    case CollectiveKind::oas:
        return bounds.scatter();
    case CollectiveKind::aas:
        break;
    }
    return bounds.all_scatter();
}

RoundBound lower_bound(const LinkGraph& graph, CollectiveKind kind, std::uint32_t root) {
    check(graph);
    return bound_within(Routes(graph), kind, root, [] { return true; });
}

} // namespace plexus::eco
