// SPDX-License-Identifier: BSD-3-Clause
#include "plan/eco_tree.h"

#include <algorithm>
#include <limits>
#include <map>

namespace plexus::eco {
namespace {

// Choosing the soonest pair takes the cube of their number at worst.
constexpr std::size_t kMostForSoonest = 128;

constexpr Inner kInner[] = {{{}, 2},
                            {Pattern::star, 2},
                            {Pattern::tree, 2},
                            {Pattern::tree, 3},
                            {Pattern::tree, 4},
                            {Pattern::binomial, 2},
                            {Pattern::chain, 2}};

} // namespace

EcoTree::EcoTree(const Network& network, const std::vector<double>& least_us, double bytes, std::size_t fine,
                 Outer outer)
  : network_(network)
  , least_us_(least_us)
  , bytes_(bytes)
  , outer_(outer) {
    const std::vector<Partition>& levels = network.levels();
    for (std::size_t level = 0; level < levels.size(); ++level) {
        if (level >= fine && level + 1 < levels.size()) continue;
        std::vector<std::size_t>& group_of = group_of_.emplace_back(network.size());
        for (std::size_t group = 0; group < levels[level].size(); ++group)
            for (const std::size_t member : levels[level][group]) group_of[member] = group;
    }
}

double EcoTree::arrives_us(Rank from, Rank to) const {
    return link_between(network_, from, to, bytes_, least_us_[from]).arrives_us;
}

Tree EcoTree::build(Rank root, std::optional<Inner> inner) const {
    Tree tree(network_.size());
    tree.root = root;
    tree.collect_first_to_last = false;
    Members all(network_.size());
    for (Rank member = 0; member < network_.size(); ++member) all[member] = member;
    join(tree, group_of_.size() - 1, all, root, inner);
    return tree;
}

// The wider level first, so that the long ways are served before the short ones.
void EcoTree::join(Tree& tree, std::size_t level, const Members& group, Rank root,
                   const std::optional<Inner>& inner) const {
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
    std::vector<std::pair<Rank, const Members*>> below;
    for (const auto& [part, members] : parts) {
        Rank coordinator = root;
        if (part != group_of_[level - 1][root]) {
            coordinator = *std::min_element(members.begin(), members.end(), [&](Rank one, Rank other) {
                return network_.latency_us(root, one) < network_.latency_us(root, other);
            });
            coordinators.push_back(coordinator);
        }
        below.emplace_back(coordinator, &members);
    }
    switch (outer_) {
    case Outer::soonest:
        soonest(tree, std::move(coordinators));
        break;
    case Outer::chain:
        chain(tree, std::move(coordinators));
        break;
    case Outer::farthest_first:
        farthest_first(tree, std::move(coordinators));
        break;
    }
    for (const auto& [coordinator, members] : below) join(tree, level - 1, *members, coordinator, inner);
}

/// The first has it; whoever can get it to another one soonest does, until all have it.
void EcoTree::soonest(Tree& tree, Members members) const {
    if (members.size() > kMostForSoonest) return arrange(tree, members, {Pattern::binomial, 2});
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
            link_between(network_, members[from], members[to], bytes_, least_us_[members[from]]).busy_us;
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
    if (!inner.pattern) return soonest(tree, members);
    const Tree shape = regular_tree(*inner.pattern, inner.arity, static_cast<Rank>(members.size()), 0);
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
            const Link link = link_between(network_, node, child, bytes_, least_us_[node]);
            open.emplace_back(child, now + link.arrives_us);
            now += link.busy_us;
        }
    }
    return last;
}

} // namespace plexus::eco
