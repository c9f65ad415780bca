// SPDX-License-Identifier: BSD-3-Clause
#include "synthesis/tree_broadcast.h"

#include "synthesis/routes.h"

#include <algorithm>
#include <bit>
#include <map>

namespace plexus::eco {
namespace {

using Number = std::uint32_t;

constexpr Number kNobody = Routes::kUnreachable;
/// More neighbours than a balance has room for.
constexpr std::size_t kMostChildren = 28;

/// A tree seen from the root of the broadcast.
struct RootedTree {
    struct Vertex {
        Number parent = kNobody;
        Number down = kNobody; ///< the link from the parent
        Number up = kNobody;   ///< the link to it
        Number terminal = kNobody;
        Number shape = 0; ///< equal where the subtrees are equal; those of children are less
        std::vector<Number> children;
    };
    std::vector<Vertex> vertices;
    std::vector<Number> order; ///< parents first
};

/// Numbers subtrees by height, then by their children's numbers (Aho, Hopcroft and Ullman).
void number_shapes(RootedTree& tree) {
    std::vector<std::size_t> heights(tree.vertices.size());
    for (auto at = tree.order.rbegin(); at != tree.order.rend(); ++at)
        if (const Number parent = tree.vertices[*at].parent; parent != kNobody)
            heights[parent] = std::max(heights[parent], heights[*at] + 1);
    std::map<std::size_t, std::vector<Number>> by_height;
    for (const Number each : tree.order) by_height[heights[each]].push_back(each);
    Number next = 0;
    for (const auto& [height, vertices] : by_height) {
        std::map<std::pair<bool, std::vector<Number>>, std::vector<Number>> same;
        for (const Number each : vertices) {
            RootedTree::Vertex& vertex = tree.vertices[each];
            std::sort(vertex.children.begin(), vertex.children.end(),
                      [&](Number a, Number b) { return tree.vertices[a].shape < tree.vertices[b].shape; });
            std::vector<Number> shapes;
            for (const Number child : vertex.children) shapes.push_back(tree.vertices[child].shape);
            same[{vertex.terminal != kNobody, std::move(shapes)}].push_back(each);
        }
        for (const auto& [key, equal] : same) {
            for (const Number each : equal) tree.vertices[each].shape = next;
            ++next;
        }
    }
}

RootedTree rooted(const LinkGraph& graph, Number root) {
    RootedTree tree;
    tree.vertices.resize(graph.vertices.size());
    for (Number each = 0; each < graph.terminals.size(); ++each)
        tree.vertices[graph.terminals[each].in].terminal = each;
    std::vector<std::vector<Number>> leaving(graph.vertices.size());
    for (Number link = 0; link < graph.links.size(); ++link) leaving[graph.links[link].from].push_back(link);
    tree.order.push_back(graph.terminals[root].in);
    for (std::size_t at = 0; at < tree.order.size(); ++at) {
        const Number here = tree.order[at];
        for (const Number link : leaving[here]) {
            const Number next = graph.links[link].to;
            if (next == tree.vertices[here].parent) {
                tree.vertices[here].up = link;
                continue;
            }
            tree.vertices[next].parent = here;
            tree.vertices[next].down = link;
            tree.vertices[here].children.push_back(next);
            tree.order.push_back(next);
        }
    }
    number_shapes(tree);
    return tree;
}

/// What a vertex forwards in one round without sending itself: 0 nothing; 1 one neighbour gives and the same
/// one waits, which would be a u-turn; else kEven + neighbours that give - neighbours that wait.
constexpr std::uint64_t kUturn = 1;
constexpr std::uint64_t kEven = 32;
constexpr Number kRoundBits = 6;

std::uint64_t with_neighbour(std::uint64_t balance, bool waits, bool gives) {
    if (!waits && !gives) return balance;
    if (balance == 0 && waits && gives) return kUturn;
    return (balance <= kUturn ? kEven : balance) + (gives ? 1 : 0) - (waits ? 1 : 0);
}

/// The dynamic programme for one number of rounds.
class TreeProgramme {
  public:
    TreeProgramme(const RootedTree& tree, Number rounds, std::uint64_t& work)
      : tree_(tree)
      , rounds_(rounds)
      , work_(work)
      , shapes_(tree.vertices.size()) {}

    /// If a broadcast of so many rounds exists; nothing: more work than there was left.
    std::optional<bool> solve() {
        std::vector<bool> done(shapes_.size());
        for (auto at = tree_.order.rbegin(); at + 1 != tree_.order.rend(); ++at) {
            const Number shape = tree_.vertices[*at].shape;
            if (done[shape]) continue;
            done[shape] = true;
            if (!solve_shape(tree_.vertices[*at])) return std::nullopt;
            if (shapes_[shape].states.empty()) return false;
        }
        return true;
    }
    /// After solve() has said true.
    RoundSchedule schedule(Number root) const {
        const std::vector<State> chosen = choose();
        RoundSchedule out{CollectiveKind::oab, root, std::vector<Round>(rounds_)};
        for (const Number vertex : tree_.order) {
            const Number terminal = tree_.vertices[vertex].terminal;
            if (terminal == kNobody || terminal == root) continue;
            Transfer transfer = traced(chosen, vertex);
            transfer.msg = root;
            out.rounds[chosen[vertex].accepts].push_back(std::move(transfer));
        }
        return out;
    }

  private:
    /// Rounds as bits: a transfer comes down to the subtree, one goes up from it.
    struct State {
        Number in = 0;
        Number out = 0;
        Number accepts = kNobody; ///< the round in which the terminal gets the message
        Number sum = 0;           ///< place in the last of Shape::sums
    };
    /// The balances of all rounds with the first children, kRoundBits each.
    struct Sum {
        std::uint64_t balances = 0;
        Number before = 0; ///< place in the sums without the last child
        Number state = 0;  ///< of the last child
    };
    struct Shape {
        std::vector<std::vector<Sum>> sums; ///< [children]
        std::vector<State> states;          ///< none dominates another
    };
    /// Which neighbour gives what another waits for: 0 the parent, 1 + n the child n, kNobody the terminal.
    struct Forwarding {
        std::map<Number, Number> from;
        Number accepted = kNobody;
    };

    bool spend(std::uint64_t steps) {
        if (steps > work_) return false;
        work_ -= steps;
        return true;
    }

    bool solve_shape(const RootedTree::Vertex& vertex) {
        if (vertex.children.size() > kMostChildren) return false;
        Shape& shape = shapes_[vertex.shape];
        shape.sums = {{Sum{}}};
        for (const Number child : vertex.children) {
            const std::vector<State>& states = shapes_[tree_.vertices[child].shape].states;
            const std::vector<Sum>& before = shape.sums.back();
            if (!spend(before.size() * states.size() * rounds_)) return false;
            std::vector<Sum> sums;
            for (Number sum = 0; sum < before.size(); ++sum)
                for (Number state = 0; state < states.size(); ++state)
                    sums.push_back({added(before[sum].balances, states[state]), sum, state});
            std::stable_sort(sums.begin(), sums.end(),
                             [](const Sum& a, const Sum& b) { return a.balances < b.balances; });
            sums.erase(std::unique(sums.begin(), sums.end(),
                                   [](const Sum& a, const Sum& b) { return a.balances == b.balances; }),
                       sums.end());
            shape.sums.push_back(std::move(sums));
        }
        std::vector<State> all;
        for (Number sum = 0; sum < shape.sums.back().size(); ++sum) {
            const Number first = vertex.terminal == kNobody ? kNobody : 0;
            const Number last = vertex.terminal == kNobody ? kNobody : rounds_ - 1;
            for (Number accepts = first;; ++accepts) {
                const std::size_t before = all.size();
                add_states(shape.sums.back()[sum].balances, {0, 0, accepts, sum}, 0, all);
                if (!spend(all.size() - before + rounds_)) return false;
                if (accepts == last) break;
            }
        }
        return keep_best(std::move(all), shape.states);
    }

    std::uint64_t added(std::uint64_t balances, const State& child) const {
        std::uint64_t out = 0;
        for (Number round = 0; round < rounds_; ++round)
            out |= with_neighbour(of_round(balances, round), child.in >> round & 1, child.out >> round & 1)
                   << round * kRoundBits;
        return out;
    }
    static std::uint64_t of_round(std::uint64_t balances, Number round) {
        return balances >> round * kRoundBits & ((1U << kRoundBits) - 1);
    }

    /// Every pattern of the parent's link from `round` on that none better makes needless.
    void add_states(std::uint64_t balances, State state, Number round, std::vector<State>& all) const {
        if (round == rounds_) {
            all.push_back(state);
            return;
        }
        const auto fits = [&](bool in, bool out) {
            if (state.accepts != kNobody && round > state.accepts) return true;
            const std::uint64_t balance = with_neighbour(of_round(balances, round), out, in);
            if (round == state.accepts) return balance > kEven;
            return balance == 0 || balance >= kEven;
        };
        const auto go_on = [&](bool in, bool out) {
            State next = state;
            next.in |= Number{in} << round;
            next.out |= Number{out} << round;
            add_states(balances, next, round + 1, all);
        };
        if (fits(false, true)) return go_on(false, true);
        const bool idle = fits(false, false);
        const bool busy = fits(true, true);
        if (idle) go_on(false, false);
        if (busy) go_on(true, true);
        if (!idle && !busy && fits(true, false)) go_on(true, false);
    }

    /// A state with fewer rounds in and more rounds out makes another needless.
    bool keep_best(std::vector<State> all, std::vector<State>& best) {
        const auto cost = [](const State& state) {
            return std::popcount(state.in) - std::popcount(state.out);
        };
        std::stable_sort(all.begin(), all.end(),
                         [&](const State& a, const State& b) { return cost(a) < cost(b); });
        for (const State& state : all) {
            if (!spend(best.size())) return false;
            const bool needless = std::any_of(best.begin(), best.end(), [&](const State& other) {
                return (other.in & ~state.in) == 0 && (state.out & ~other.out) == 0;
            });
            if (!needless) best.push_back(state);
        }
        return true;
    }

    /// One state for each vertex, from the root down. All subtrees of the root can have any: the root gives
    /// in every round.
    std::vector<State> choose() const {
        std::vector<State> chosen(tree_.vertices.size());
        for (const Number child : tree_.vertices[tree_.order.front()].children)
            chosen[child] = shapes_[tree_.vertices[child].shape].states.front();
        for (auto at = tree_.order.begin() + 1; at != tree_.order.end(); ++at) {
            const RootedTree::Vertex& vertex = tree_.vertices[*at];
            const Shape& shape = shapes_[vertex.shape];
            Number sum = chosen[*at].sum;
            for (std::size_t child = vertex.children.size(); child > 0; --child) {
                const Sum& here = shape.sums[child][sum];
                const Number below = vertex.children[child - 1];
                chosen[below] = shapes_[tree_.vertices[below].shape].states[here.state];
                sum = here.before;
            }
        }
        return chosen;
    }

    Forwarding forwarding(const std::vector<State>& chosen, Number at, Number round) const {
        const RootedTree::Vertex& vertex = tree_.vertices[at];
        const bool is_root = vertex.parent == kNobody;
        std::vector<Number> wait;
        std::vector<Number> give;
        const auto add = [&](Number slot, bool waits, bool gives) {
            if (waits) wait.push_back(slot);
            if (gives) give.push_back(slot);
        };
        if (!is_root) add(0, chosen[at].out >> round & 1, chosen[at].in >> round & 1);
        for (Number child = 0; child < vertex.children.size(); ++child) {
            const State& state = chosen[vertex.children[child]];
            add(1 + child, state.in >> round & 1, state.out >> round & 1);
        }
        Forwarding out;
        if (is_root || (chosen[at].accepts != kNobody && chosen[at].accepts < round)) {
            for (const Number slot : wait) out.from[slot] = kNobody;
            return out;
        }
        if (chosen[at].accepts == round) {
            // What the only one that waits gives itself serves nobody else.
            auto taken = give.end() - 1;
            if (wait.size() == 1)
                if (const auto own = std::find(give.begin(), give.end(), wait.front()); own != give.end())
                    taken = own;
            out.accepted = *taken;
            give.erase(taken);
        }
        // Those in both lists first, in the same order: then the next one gives, never the same.
        const auto in_both_first = [](std::vector<Number>& list, const std::vector<Number>& other) {
            std::stable_partition(list.begin(), list.end(), [&](Number slot) {
                return std::find(other.begin(), other.end(), slot) != other.end();
            });
        };
        const std::vector<Number> waiting = wait;
        in_both_first(wait, give);
        in_both_first(give, waiting);
        for (std::size_t place = 0; place < wait.size(); ++place)
            out.from[wait[place]] = give[(place + 1) % give.size()];
        return out;
    }

    /// The transfer that the terminal at `vertex` accepts, followed back to where it began.
    Transfer traced(const std::vector<State>& chosen, Number vertex) const {
        const Number round = chosen[vertex].accepts;
        Transfer out;
        out.dst = tree_.vertices[vertex].terminal;
        Number from = forwarding(chosen, vertex, round).accepted;
        while (from != kNobody) {
            const RootedTree::Vertex& here = tree_.vertices[vertex];
            const Number next = from == 0 ? here.parent : here.children[from - 1];
            out.path.push_back(from == 0 ? here.down : tree_.vertices[next].up);
            Number waiting = 0;
            if (from == 0) {
                const auto& all = tree_.vertices[next].children;
                waiting = 1 + static_cast<Number>(std::find(all.begin(), all.end(), vertex) - all.begin());
            }
            from = forwarding(chosen, next, round).from.at(waiting);
            vertex = next;
        }
        std::reverse(out.path.begin(), out.path.end());
        out.src = tree_.vertices[vertex].terminal;
        return out;
    }

    const RootedTree& tree_;
    Number rounds_;
    std::uint64_t& work_;
    std::vector<Shape> shapes_;
};

Number halvings(std::size_t terminals) { return static_cast<Number>(std::bit_width(terminals - 1)); }

/// Terminals in the order in which a tour around the tree comes to them. The tour uses every link once, so
/// transfers within disjoint parts of it share none.
RoundSchedule halved(const LinkGraph& graph, const RootedTree& tree, Number root) {
    std::vector<Number> tour;
    std::vector<Number> open{tree.order.front()};
    while (!open.empty()) {
        const RootedTree::Vertex& vertex = tree.vertices[open.back()];
        open.pop_back();
        if (vertex.terminal != kNobody) tour.push_back(vertex.terminal);
        open.insert(open.end(), vertex.children.begin(), vertex.children.end());
    }
    const Routes routes(graph);
    struct Part {
        std::size_t begin, end;
    };
    RoundSchedule out{CollectiveKind::oab, root, std::vector<Round>(halvings(tour.size()))};
    std::vector<Part> parts{{0, tour.size()}};
    for (Round& round : out.rounds) {
        std::vector<Part> halves;
        for (const auto& [begin, end] : parts) {
            if (end - begin < 2) continue;
            const std::size_t middle = begin + (end - begin + 1) / 2;
            const Number src = tour[begin];
            const Number dst = tour[middle];
            round.push_back({src, dst, root, routes.paths(src, dst, 1).front()});
            halves.push_back({begin, middle});
            halves.push_back({middle, end});
        }
        parts = std::move(halves);
    }
    return out;
}

bool fits(const LinkGraph& graph) {
    return is_tree(graph) && std::all_of(graph.terminals.begin(), graph.terminals.end(),
                                         [](const Terminal& each) { return each.in == each.out; });
}

} // namespace

std::optional<RoundSchedule> tree_broadcast(const LinkGraph& graph, std::uint32_t root,
                                            std::uint32_t most_work) {
    if (!fits(graph)) return std::nullopt;
    const RootedTree tree = rooted(graph, root);
    std::uint64_t work = most_work;
    if (graph.ports == Ports::all)
        for (Number rounds = 1; rounds < halvings(graph.terminals.size()); ++rounds) {
            TreeProgramme programme(tree, rounds, work);
            const std::optional<bool> solved = programme.solve();
            if (!solved) return std::nullopt;
            if (*solved) return programme.schedule(root);
        }
    return halved(graph, tree, root);
}

std::uint32_t least_tree_rounds(const LinkGraph& graph, std::uint32_t root, std::uint32_t most_work) {
    if (!fits(graph)) return 0;
    const Number enough = halvings(graph.terminals.size());
    if (graph.ports == Ports::one) return enough;
    const RootedTree tree = rooted(graph, root);
    std::uint64_t work = most_work;
    for (Number rounds = 1; rounds < enough; ++rounds)
        if (TreeProgramme(tree, rounds, work).solve() != std::optional(false)) return rounds;
    return enough;
}

} // namespace plexus::eco
