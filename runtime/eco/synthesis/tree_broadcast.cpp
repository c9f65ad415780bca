// SPDX-License-Identifier: BSD-3-Clause
#include "synthesis/tree_broadcast.h"

#include <algorithm>
#include <map>

namespace plexus::eco {
namespace {

using Rounds = std::uint32_t; // a bit a round

constexpr std::uint32_t kNone = 0xffffffff;
constexpr std::uint32_t kMostRounds = 16;

/// What is possible at a vertex: transfers come in over its parent's link in the rounds `in` and go out over
/// it in the rounds `out`, its own terminal accepts in round `accepts`, its children do what their
/// possibilities say.
struct Possibility {
    Rounds in;
    Rounds out;
    std::uint32_t accepts;               ///< a round; kNone: there is no terminal
    std::vector<std::uint32_t> children; ///< places among the possibilities of each child's kind
};

/// Subtrees that look alike are of one kind.
struct Kind {
    bool terminal;
    std::vector<std::uint32_t> children; ///< their kinds, rising
    std::vector<Possibility> possible;
};

/// The tree as seen from the root's vertex.
class RootedTree {
  public:
    RootedTree(const LinkGraph& graph, std::uint32_t root)
      : parent_(graph.vertices.size(), kNone)
      , terminal_(graph.vertices.size(), kNone)
      , children_(graph.vertices.size())
      , kind_(graph.vertices.size()) {
        for (std::uint32_t link = 0; link < graph.links.size(); ++link) link_[graph.links[link]] = link;
        for (std::uint32_t each = 0; each < graph.terminals.size(); ++each)
            terminal_[graph.terminals[each].in] = each;
        order_.push_back(graph.terminals[root].in);
        std::vector<std::vector<std::uint32_t>> next(graph.vertices.size());
        for (const DirectedLink& each : graph.links) next[each.from].push_back(each.to);
        for (std::size_t at = 0; at < order_.size(); ++at)
            for (const std::uint32_t vertex : next[order_[at]]) {
                if (vertex == parent_[order_[at]]) continue;
                parent_[vertex] = order_[at];
                children_[order_[at]].push_back(vertex);
                order_.push_back(vertex);
            }
        for (auto vertex = order_.rbegin(); vertex != order_.rend(); ++vertex) find_kind(*vertex);
    }

    const std::vector<std::uint32_t>& order() const noexcept { return order_; } ///< parents first
    std::uint32_t parent(std::uint32_t vertex) const noexcept { return parent_[vertex]; }
    std::uint32_t terminal(std::uint32_t vertex) const noexcept { return terminal_[vertex]; }
    /// By rising kinds.
    const std::vector<std::uint32_t>& children(std::uint32_t vertex) const noexcept {
        return children_[vertex];
    }
    std::uint32_t kind(std::uint32_t vertex) const noexcept { return kind_[vertex]; }
    std::uint32_t link(std::uint32_t from, std::uint32_t to) const { return link_.at({from, to}); }
    std::vector<Kind>& kinds() noexcept { return kinds_; }

  private:
    void find_kind(std::uint32_t vertex) {
        std::sort(children_[vertex].begin(), children_[vertex].end(),
                  [this](std::uint32_t a, std::uint32_t b) { return kind_[a] < kind_[b]; });
        Kind kind{terminal_[vertex] != kNone, {}, {}};
        for (const std::uint32_t child : children_[vertex]) kind.children.push_back(kind_[child]);
        const auto known = std::find_if(kinds_.begin(), kinds_.end(), [&kind](const Kind& each) {
            return each.terminal == kind.terminal && each.children == kind.children;
        });
        kind_[vertex] = static_cast<std::uint32_t>(known - kinds_.begin());
        if (known == kinds_.end()) kinds_.push_back(std::move(kind));
    }

    std::map<DirectedLink, std::uint32_t> link_;
    std::vector<std::uint32_t> parent_;
    std::vector<std::uint32_t> terminal_;
    std::vector<std::vector<std::uint32_t>> children_;
    std::vector<std::uint32_t> kind_;
    std::vector<std::uint32_t> order_;
    std::vector<Kind> kinds_;
};

/// Sources and sinks of transfers at a vertex that has not the message yet, all rounds at once. A sink is
/// served by any source but that on its own link: so it fails where there are too few, or where the only
/// source and the only sink are on one link.
class Balance {
  public:
    void add_link(Rounds source, Rounds sink) noexcept {
        count(sources_, source);
        count(sinks_, sink);
        both_ |= source & sink;
    }
    void add_own(Rounds sink) noexcept { count(sinks_, sink); }
    /// The rounds in which all sinks are served. More than three of either are not told apart: see
    /// kMostDegree.
    Rounds served() const noexcept {
        Rounds fewer = 0; // sources than sinks
        Rounds equal = ~Rounds{0};
        for (int bit = kBits - 1; bit >= 0; --bit) {
            fewer |= equal & ~sources_[bit] & sinks_[bit];
            equal &= ~(sources_[bit] ^ sinks_[bit]);
        }
        Rounds one_each = equal & sinks_[0];
        for (int bit = 1; bit < kBits; ++bit) one_each &= ~sinks_[bit];
        return ~fewer & ~(one_each & both_);
    }

  private:
    static constexpr int kBits = 5; // up to 31 links

    static void count(Rounds (&counter)[kBits], Rounds carry) noexcept {
        for (Rounds& bit : counter) {
            const Rounds next = bit & carry;
            bit ^= carry;
            carry = next;
        }
    }

    Rounds sources_[kBits] = {}; ///< a binary counter for each round
    Rounds sinks_[kBits] = {};
    Rounds both_ = 0;
};

constexpr std::size_t kMostDegree = 30; // as Balance counts, with the terminal's own sink

class Programme {
  public:
    Programme(RootedTree& tree, std::uint32_t rounds, std::uint64_t& work)
      : tree_(tree)
      , rounds_(rounds)
      , all_((Rounds{1} << rounds) - 1)
      , work_(work) {}

    /// False: no schedule, or no work left.
    bool solve() {
        const std::uint32_t root = tree_.kind(tree_.order().front());
        for (std::uint32_t kind = 0; kind < tree_.kinds().size(); ++kind) {
            tree_.kinds()[kind].possible.clear();
            if (kind == root) continue;
            combine(tree_.kinds()[kind]);
            if (tree_.kinds()[kind].possible.empty()) return false;
        }
        return work_ > 0;
    }

  private:
    void combine(Kind& kind) {
        std::vector<std::uint32_t> chosen(kind.children.size());
        for (;;) {
            if (work_ == 0) return;
            --work_;
            for (std::uint32_t accepts = 0; accepts < rounds_ && kind.terminal; ++accepts)
                consider(kind, chosen, accepts);
            if (!kind.terminal) consider(kind, chosen, kNone);
            std::size_t at = 0;
            for (; at < chosen.size(); ++at) {
                if (++chosen[at] < tree_.kinds()[kind.children[at]].possible.size()) break;
                chosen[at] = 0;
            }
            if (at == chosen.size()) return;
        }
    }

    void consider(Kind& kind, const std::vector<std::uint32_t>& chosen, std::uint32_t accepts) {
        const Rounds own = accepts == kNone ? 0 : Rounds{1} << accepts;
        const Rounds later =
            accepts == kNone ? 0 : all_ & ~(own | (own - 1)); // the terminal serves all sinks itself
        Balance children;
        for (std::size_t at = 0; at < chosen.size(); ++at) {
            const Possibility& each = tree_.kinds()[kind.children[at]].possible[chosen[at]];
            children.add_link(each.out, each.in);
        }
        children.add_own(own);
        const auto served = [&](Rounds in, Rounds out) {
            Balance balance = children;
            balance.add_link(in, out);
            return (balance.served() | later) & all_;
        };
        const Rounds without = served(0, 0);
        const Rounds needed = all_ & ~without;
        if (~served(all_, 0) & needed) return;
        const Rounds out_without = served(0, all_);
        const Rounds gained = served(all_, all_) & ~out_without & without; // an out for an in
        for (Rounds extra = gained;; extra = (extra - 1) & gained) {
            const Rounds in = needed | extra;
            keep(kind, {in, (out_without & ~in) | (served(all_, all_) & in) | later, accepts, chosen});
            if (extra == 0) break;
        }
    }

    static bool outdoes(const Possibility& a, const Possibility& b) noexcept {
        return (a.in & ~b.in) == 0 && (b.out & ~a.out) == 0;
    }

    static void keep(Kind& kind, Possibility candidate) {
        auto& possible = kind.possible;
        if (std::any_of(possible.begin(), possible.end(),
                        [&](const Possibility& each) { return outdoes(each, candidate); }))
            return;
        std::erase_if(possible, [&](const Possibility& each) { return outdoes(candidate, each); });
        possible.push_back(std::move(candidate));
    }

    RootedTree& tree_;
    std::uint32_t rounds_;
    Rounds all_;
    std::uint64_t& work_;
};

/// Follows every terminal's message back to where it comes from.
class Tracing {
  public:
    Tracing(RootedTree& tree, std::uint32_t rounds)
      : tree_(tree)
      , chosen_(tree.order().size(), nullptr)
      , out_(rounds) {
        const std::uint32_t root = tree.order().front();
        for (const std::uint32_t vertex : tree.order())
            for (std::size_t at = 0; at < tree.children(vertex).size(); ++at) {
                const std::uint32_t child = tree.children(vertex)[at];
                const std::uint32_t place = vertex == root ? 0 : chosen_[vertex]->children[at];
                chosen_[child] = &tree.kinds()[tree.kind(child)].possible[place];
            }
    }

    std::vector<Round> rounds() {
        for (const std::uint32_t vertex : tree_.order())
            if (chosen_[vertex] && chosen_[vertex]->accepts != kNone) trace(vertex, chosen_[vertex]->accepts);
        return std::move(out_);
    }

  private:
    bool has_message(std::uint32_t vertex, std::uint32_t round) const {
        return !chosen_[vertex] || (chosen_[vertex]->accepts != kNone && chosen_[vertex]->accepts < round);
    }

    /// Of the link between `vertex` and its neighbour `other`: does a transfer come in over it, or go out?
    bool comes_in(std::uint32_t vertex, std::uint32_t other, std::uint32_t round) const {
        return ((other == tree_.parent(vertex) ? chosen_[vertex]->in : chosen_[other]->out) >> round & 1) !=
               0;
    }
    bool goes_out(std::uint32_t vertex, std::uint32_t other, std::uint32_t round) const {
        return ((other == tree_.parent(vertex) ? chosen_[vertex]->out : chosen_[other]->in) >> round & 1) !=
               0;
    }

    std::vector<std::uint32_t> neighbours(std::uint32_t vertex) const {
        std::vector<std::uint32_t> out = tree_.children(vertex);
        out.push_back(tree_.parent(vertex));
        return out;
    }

    /// Which neighbour serves each sink of a vertex without the message: neighbours, and the vertex itself.
    std::map<std::uint32_t, std::uint32_t> served_by(std::uint32_t vertex, std::uint32_t round) const {
        std::vector<std::uint32_t> sources;
        std::vector<std::uint32_t> sinks;
        for (const std::uint32_t other : neighbours(vertex)) {
            if (comes_in(vertex, other, round)) sources.push_back(other);
            if (goes_out(vertex, other, round)) sinks.push_back(other);
        }
        if (chosen_[vertex]->accepts == round) sinks.push_back(vertex);
        std::map<std::uint32_t, std::uint32_t> out; // augmenting ways: few sinks
        std::map<std::uint32_t, std::uint32_t> serves;
        for (const std::uint32_t sink : sinks) {
            std::vector<std::uint32_t> tried;
            serve(sink, sources, serves, tried);
        }
        for (const auto& [source, sink] : serves) out[sink] = source;
        return out;
    }

    static bool serve(std::uint32_t sink, const std::vector<std::uint32_t>& sources,
                      std::map<std::uint32_t, std::uint32_t>& serves, std::vector<std::uint32_t>& tried) {
        for (const std::uint32_t source : sources) {
            if (source == sink || std::find(tried.begin(), tried.end(), source) != tried.end()) continue;
            tried.push_back(source);
            const auto held = serves.find(source);
            if (held == serves.end() || serve(held->second, sources, serves, tried)) {
                serves[source] = sink;
                return true;
            }
        }
        return false;
    }

    void trace(std::uint32_t vertex, std::uint32_t round) {
        LinkPath path;
        std::uint32_t sink = vertex;
        std::uint32_t at = vertex;
        while (!has_message(at, round)) {
            const std::uint32_t source = served_by(at, round).at(sink);
            path.push_back(tree_.link(source, at));
            sink = at;
            at = source;
        }
        std::reverse(path.begin(), path.end());
        out_[round].push_back(
            {tree_.terminal(at), tree_.terminal(vertex), tree_.terminal(tree_.order().front()), path});
    }

    RootedTree& tree_;
    std::vector<const Possibility*> chosen_; ///< of each vertex; none of the root
    std::vector<Round> out_;
};

} // namespace

std::optional<RoundSchedule> tree_broadcast(const LinkGraph& graph, std::uint32_t root,
                                            std::uint64_t most_work) {
    if (graph.ports != Ports::all || !is_tree(graph)) return std::nullopt;
    std::vector<std::size_t> links(graph.vertices.size());
    for (const DirectedLink& each : graph.links) ++links[each.from];
    if (*std::max_element(links.begin(), links.end()) > kMostDegree) return std::nullopt;
    for (const Terminal& each : graph.terminals)
        if (each.in != each.out) return std::nullopt;
    RootedTree tree(graph, root);
    for (std::uint32_t rounds = 1; rounds <= kMostRounds; ++rounds) {
        if (Programme(tree, rounds, most_work).solve())
            return RoundSchedule{CollectiveKind::oab, root, Tracing(tree, rounds).rounds()};
        if (most_work == 0) return std::nullopt;
    }
    return std::nullopt;
}

} // namespace plexus::eco
