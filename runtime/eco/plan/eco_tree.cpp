// SPDX-License-Identifier: BSD-3-Clause
#include "plan/eco_tree.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace plexus::eco {
namespace {

// Choosing the soonest pair takes the cube of their number at worst.
constexpr std::size_t kMostForSoonest = 128;

constexpr Inner kInner[] = {{{}},
                            {Pattern::star},
                            {Pattern::tree, 2},
                            {Pattern::tree, 3},
                            {Pattern::tree, 4},
                            {Pattern::binomial},
                            {Pattern::chain}};

} // namespace

EcoTree::EcoTree(const Ways& ways, double bytes, std::size_t fine, Outer outer)
  : ways_(ways)
  , network_(ways.network)
  , bytes_(bytes)
  , outer_(outer) {
    const std::vector<Partition>& levels = network_.levels();
    for (std::size_t level = 0; level < levels.size(); ++level) {
        if (level >= fine && level + 1 < levels.size()) continue;
        std::vector<std::size_t>& group_of = group_of_.emplace_back(network_.size());
        for (std::size_t group = 0; group < levels[level].size(); ++group)
            for (const std::size_t member : levels[level][group]) group_of[member] = group;
    }
}

double EcoTree::arrives_us(Rank from, Rank to) const {
    return link_between(network_, from, to, bytes_, ways_.least_us[from]).arrives_us;
}

Tree EcoTree::build(Rank root, std::optional<Inner> inner) const { return build(root, inner, 0); }

Tree EcoTree::build(Rank root, const std::optional<Inner>& inner, std::size_t turn) const {
    Tree tree(network_.size());
    tree.root = root;
    tree.collect_first_to_last = false;
    Members all(network_.size());
    for (Rank member = 0; member < network_.size(); ++member) all[member] = member;
    join(tree, group_of_.size() - 1, all, root, inner, turn);
    return tree;
}

std::vector<Tree> EcoTree::build_several(Rank root, std::optional<Inner> inner, std::size_t count) const {
    // The closest group of the root that is large enough, or else the largest but that of all.
    Members near{root};
    for (std::size_t level = 0; level + 1 < group_of_.size() && near.size() < count; ++level) {
        near.assign(1, root);
        for (Rank member = 0; member < network_.size(); ++member)
            if (member != root && group_of_[level][member] == group_of_[level][root]) near.push_back(member);
    }
    std::vector<Tree> trees;
    for (std::size_t turn = 0; turn < count; ++turn) {
        const Rank first = near[turn % near.size()];
        Tree tree = build(first, inner, turn);
        if (first != root) { // whoever would have sent to the root sends to its children instead
            for (auto& children : tree.children) {
                const auto found = std::find(children.begin(), children.end(), root);
                if (found == children.end()) continue;
                const auto place = children.erase(found);
                children.insert(place, tree.children[root].begin(), tree.children[root].end());
                break;
            }
            tree.children[root] = {first};
            tree.root = root;
        }
        trees.push_back(std::move(tree));
    }
    return trees;
}

/// The one that is nearest to the root; for each further turn, the next one.
Rank EcoTree::coordinator_of(const Members& group, Rank root, std::size_t turn) const {
    const auto nearest = std::min_element(group.begin(), group.end(), [&](Rank one, Rank other) {
        return network_.latency_us(root, one) < network_.latency_us(root, other);
    });
    return group[(static_cast<std::size_t>(nearest - group.begin()) + turn) % group.size()];
}

// The wider level first, so that the long ways are served before the short ones.
void EcoTree::join(Tree& tree, std::size_t level, const Members& group, Rank root,
                   const std::optional<Inner>& inner, std::size_t turn) const {
    if (level == 0) {
        Members members{root};
        for (const Rank member : group)
            if (member != root) members.push_back(member);
        inner ? arrange(tree, members, *inner) : fastest(tree, members);
        return;
    }
    std::map<std::size_t, Members> parts;
    for (const Rank member : group) parts[group_of_[level - 1][member]].push_back(member);
    Members coordinators{root};
    std::vector<Members> groups{parts.at(group_of_[level - 1][root])};
    for (auto& [part, members] : parts) {
        if (part == group_of_[level - 1][root]) continue;
        coordinators.push_back(coordinator_of(members, root, turn));
        groups.push_back(std::move(members));
    }
    switch (outer_) {
    case Outer::soonest:
        soonest(tree, coordinators);
        break;
    case Outer::chain:
        chain(tree, coordinators);
        break;
    case Outer::farthest_first:
        farthest_first(tree, coordinators);
        break;
    case Outer::balanced:
        balanced(tree, coordinators, groups);
        break;
    }
    for (std::size_t at = 0; at < groups.size(); ++at)
        join(tree, level - 1, groups[at], coordinators[at], inner, turn);
}

bool EcoTree::on_one_wire(const Members& members) const {
    const auto wire = network_.shared_wire_of(members.front());
    return wire && std::all_of(members.begin(), members.end(), [&](Rank member) {
               const auto other = network_.shared_wire_of(member);
               return other && other->number == wire->number;
           });
}

/// What a byte costs whatever sends it out of the group: its wire, or the coordinator's own.
double EcoTree::send_us(Rank from, Rank to) const {
    const auto wire = network_.shared_wire_of(from);
    return wire ? wire->us_per_byte : network_.us_per_byte(from, to);
}

/// What a byte costs that until every member has it: each once over a wire that they share;
/// else the coordinator sends it to one of them, who passes it on.
double EcoTree::load_us(Rank coordinator, const Members& group) const {
    if (group.size() < 2) return 0;
    const auto others = static_cast<double>(group.size() - 1);
    if (on_one_wire(group)) return others * network_.shared_wire_of(coordinator)->us_per_byte;
    double least = std::numeric_limits<double>::infinity();
    for (const Rank member : group)
        if (member != coordinator) least = std::min(least, network_.us_per_byte(coordinator, member));
    return least;
}

/// Those with the least to do of their own come first and are loaded up to what the busiest has
/// to do anyway: by whoever of them can get it to the next one soonest.
void EcoTree::balanced(Tree& tree, const Members& coordinators, const std::vector<Members>& groups) const {
    std::vector<double> load(groups.size());
    double unavoidable = 0;
    for (std::size_t at = 0; at < groups.size(); ++at) {
        load[at] = load_us(coordinators[at], groups[at]);
        // What comes in takes a shared wire's time as well.
        if (at > 0 && on_one_wire(groups[at])) load[at] += send_us(coordinators[at], coordinators[at]);
        unavoidable = std::max(unavoidable, load[at]);
    }
    std::vector<std::size_t> order(groups.size() - 1);
    std::iota(order.begin(), order.end(), std::size_t{1});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t one, std::size_t other) { return load[one] < load[other]; });
    std::vector<double> there(groups.size());
    std::vector<std::size_t> have{0};
    for (const std::size_t next : order) {
        const auto rank = [&](std::size_t from) {
            const double more = send_us(coordinators[from], coordinators[next]);
            const double over = std::max(unavoidable, load[from] + more);
            return std::pair(over, there[from] + network_.latency_us(coordinators[from], coordinators[next]));
        };
        const std::size_t from =
            *std::min_element(have.begin(), have.end(),
                              [&](std::size_t one, std::size_t other) { return rank(one) < rank(other); });
        load[from] += send_us(coordinators[from], coordinators[next]);
        there[next] = there[from] + network_.latency_us(coordinators[from], coordinators[next]);
        tree.children[coordinators[from]].push_back(coordinators[next]);
        have.push_back(next);
    }
}

/// The first has it; whoever can get it to another one soonest does, until all have it.
void EcoTree::soonest(Tree& tree, Members members) const {
    if (members.size() > kMostForSoonest) return arrange(tree, members, {Pattern::binomial});
    std::vector<double> free{0};
    for (std::size_t have = 1; have < members.size(); ++have) {
        double soonest = std::numeric_limits<double>::infinity();
        std::size_t from = 0;
        std::size_t to = have;
        for (std::size_t a = 0; a < have; ++a)
            for (std::size_t b = have; b < members.size(); ++b) {
                const double there = free[a] + arrives_us(members[a], members[b]);
                if (there < soonest) {
                    soonest = there;
                    from = a;
                    to = b;
                }
            }
        free[from] +=
            link_between(network_, members[from], members[to], bytes_, ways_.least_us[members[from]]).busy_us;
        tree.children[members[from]].push_back(members[to]);
        free.push_back(soonest);
        std::swap(members[have], members[to]);
    }
}

void EcoTree::chain(Tree& tree, Members members) const {
    for (std::size_t at = 1; at < members.size(); ++at) {
        const Rank last = members[at - 1];
        const auto left = members.begin() + static_cast<std::ptrdiff_t>(at);
        std::iter_swap(left, std::min_element(left, members.end(), [&](Rank one, Rank other) {
                           return arrives_us(last, one) < arrives_us(last, other);
                       }));
        tree.children[last].push_back(members[at]);
    }
}

void EcoTree::farthest_first(Tree& tree, Members members) const {
    const Rank root = members.front();
    std::stable_sort(members.begin() + 1, members.end(),
                     [&](Rank one, Rank other) { return arrives_us(root, one) > arrives_us(root, other); });
    tree.children[root].insert(tree.children[root].end(), members.begin() + 1, members.end());
}

void EcoTree::arrange(Tree& tree, const Members& members, const Inner& inner) const {
    const bool star = inner.star_on_shared_wires && on_one_wire(members);
    if (!star && !inner.pattern) return soonest(tree, members);
    const Tree shape = regular_tree(star ? Pattern::star : *inner.pattern, inner.arity,
                                    static_cast<Rank>(members.size()), 0);
    for (std::size_t place = 0; place < members.size(); ++place)
        for (const Rank child : shape.children[place])
            tree.children[members[place]].push_back(members[child]);
}

void EcoTree::fastest(Tree& tree, const Members& members) const {
    const Inner* best = &kInner[0];
    double least = std::numeric_limits<double>::infinity();
    for (const Inner& each : kInner) {
        Tree alone(network_.size());
        arrange(alone, members, each);
        const double time = time_us(alone, members.front());
        if (time < least) {
            least = time;
            best = &each;
        }
    }
    arrange(tree, members, *best);
}

double EcoTree::time_us(const Tree& tree, Rank root) const {
    double last = 0;
    std::vector<std::pair<Rank, double>> open{{root, 0}};
    while (!open.empty()) {
        auto [node, now] = open.back();
        open.pop_back();
        last = std::max(last, now);
        for (const Rank child : tree.children[node]) {
            const Link link = link_between(network_, node, child, bytes_, ways_.least_us[node]);
            open.emplace_back(child, now + link.arrives_us);
            now += link.busy_us;
        }
    }
    return last;
}

} // namespace plexus::eco
