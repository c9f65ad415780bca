// SPDX-License-Identifier: BSD-3-Clause
// Operations along a tree: what is for a subtree goes down its edge, what is of it goes up.
#include "plan/tree.h"

#include <algorithm>

namespace plexus::eco {
namespace {

/// A tree with its nodes in preorder: each subtree is a run of them.
class Walk {
  public:
    explicit Walk(const Tree& tree)
      : tree_(tree)
      , place_(tree.children.size())
      , end_(tree.children.size())
      , depth_(tree.children.size()) {
        std::vector<Rank> open{tree.root};
        while (!open.empty()) {
            const Rank node = open.back();
            open.pop_back();
            place_[node] = static_cast<Rank>(order_.size());
            order_.push_back(node);
            const auto& children = tree.children[node];
            for (const Rank child : children) depth_[child] = depth_[node] + 1;
            open.insert(open.end(), children.rbegin(), children.rend());
        }
        for (auto node = order_.rbegin(); node != order_.rend(); ++node) {
            end_[*node] = place_[*node] + 1;
            for (const Rank child : tree.children[*node]) end_[*node] = std::max(end_[*node], end_[child]);
        }
    }

    Rank root() const { return tree_.root; }
    const std::vector<Rank>& order() const { return order_; }
    const std::vector<Rank>& children(Rank node) const { return tree_.children[node]; }
    std::uint64_t depth(Rank node) const { return depth_[node]; }
    std::span<const Rank> subtree(Rank node) const {
        return std::span(order_).subspan(place_[node], end_[node] - place_[node]);
    }
    /// A block for each member of the subtree; one for each of all the others.
    Blocks of_members(Rank node) const {
        const auto members = subtree(node);
        return blocks_in({members.begin(), members.end()});
    }
    Blocks of_others(Rank node) const {
        return others(of_members(node), static_cast<std::uint32_t>(order_.size()));
    }

    /// Calls edge(parent, child), parents' edges before those of their children.
    template <class Edge>
    void down(Edge&& edge) const {
        for (const Rank node : order_)
            for (const Rank child : tree_.children[node]) edge(node, child);
    }

    /// Calls edge(parent, child), children's edges before those of their parents.
    template <class Edge>
    void up(Edge&& edge) const {
        for (auto node = order_.rbegin(); node != order_.rend(); ++node) {
            const auto& children = tree_.children[*node];
            if (tree_.collect_first_to_last) {
                for (const Rank child : children) edge(*node, child);
            } else {
                for (auto child = children.rbegin(); child != children.rend(); ++child) edge(*node, *child);
            }
        }
    }

  private:
    const Tree& tree_;
    std::vector<Rank> order_;
    std::vector<Rank> place_; // in it
    std::vector<Rank> end_;   // of the subtree, in it
    std::vector<std::uint64_t> depth_;
};

/// The two ends of messages, with the blocks that they carry.
class Writer {
  public:
    Writer(std::span<const Tree> trees, const PlanRequest& request, std::uint64_t parts)
      : out_(request, parts)
      , portions_(parts) {
        for (const Tree& tree : trees) walks_.emplace_back(tree);
    }

    Plan run(const PlanRequest& request) {
        const Walk& walk = walks_.front();
        switch (request.operation) {
        case Operation::broadcast:
            for (std::uint32_t part = 0; part < out_.blocks(); ++part)
                of(part).down([&](Rank from, Rank to) { out_.pass(from, to, {{part, 1}}); });
            break;
        case Operation::scatter:
            down([&](Rank node) { return walk.of_members(node); });
            break;
        case Operation::gather:
            up([&](Rank node) { return walk.of_members(node); }, Merge::store);
            break;
        case Operation::reduce:
            for (std::uint32_t part = 0; part < out_.blocks(); ++part) up_part(part);
            break;
        case Operation::all_reduce:
            up_and_down();
            break;
        case Operation::all_gather:
            up([&](Rank node) { return walk.of_members(node); }, Merge::store);
            down_in_portions();
            break;
        case Operation::all_to_all:
            up([&](Rank node) { return leaving(node); }, Merge::store);
            down([&](Rank node) { return entering(node); });
            break;
        case Operation::reduce_scatter:
            up([&](Rank) { return out_.all(); }, Merge::after);
            down([&](Rank node) { return walk.of_members(node); });
            break;
        case Operation::barrier:
            up([](Rank) { return Blocks{}; }, Merge::store);
            down([](Rank) { return Blocks{}; });
            break;
        case Operation::scan:
        case Operation::exclusive_scan: // no tree's: see plan_scan()
            break;
        }
        // A reduction in the order of ranks has its tree at rank 0, wherever its root is.
        if (request.operation == Operation::reduce && walk.root() != request.root)
            out_.pass(walk.root(), request.root, out_.all());
        return out_.finish();
    }

  private:
    const Walk& of(std::uint64_t part) const { return walks_[part % walks_.size()]; }

    template <class Choose>
    void down(Choose&& blocks_for) {
        walks_.front().down([&](Rank from, Rank to) { out_.pass(from, to, blocks_for(to)); });
    }
    template <class Choose>
    void up(Choose&& blocks_of, Merge merge) {
        walks_.front().up([&](Rank to, Rank from) { out_.pass(from, to, blocks_of(from), merge); });
    }
    void up_part(std::uint32_t part) {
        of(part).up([&](Rank to, Rank from) { out_.pass(from, to, {{part, 1}}, Merge::after); });
    }

    /// While later parts go up, earlier ones come down already. A member near the root has little
    /// to wait for between the two; a leaf sends all that it has before it waits for anything.
    void up_and_down() {
        const std::uint64_t parts = out_.blocks();
        const auto lag = [&](const Walk& walk, Rank node) {
            return walk.children(node).empty() ? parts : std::min(parts, 2 * walk.depth(node));
        };
        std::vector<std::uint32_t> posted(out_.members() * parts); // by receiver and part
        for (std::uint64_t turn = 0; turn < 2 * parts; ++turn) {
            if (turn < parts) up_part(static_cast<std::uint32_t>(turn));
            for (std::size_t at = 0; at < walks_.size(); ++at)
                for (const Rank node : walks_[at].order()) {
                    const std::uint64_t behind = lag(walks_[at], node);
                    if (turn < behind || turn - behind >= parts) continue;
                    const auto part = static_cast<std::uint32_t>(turn - behind);
                    if (part % walks_.size() != at) continue;
                    if (node != walks_[at].root()) out_.take(posted[node * parts + part]);
                    for (const Rank child : walks_[at].children(node))
                        posted[child * parts + part] = out_.post(node, child, {{part, 1}});
                }
        }
    }

    /// To each child what is not from it.
    void down_in_portions() {
        const std::uint64_t members = out_.members();
        const Walk& walk = walks_.front();
        std::vector<Blocks> wanted(members);
        walk.down([&](Rank, Rank to) { wanted[to] = walk.of_others(to); });
        const std::uint64_t portions = std::clamp<std::uint64_t>(portions_, 1, members);
        for (std::uint64_t portion = 0; portion < portions; ++portion) {
            const auto first = static_cast<std::uint32_t>(members * portion / portions);
            const auto end = static_cast<std::uint32_t>(members * (portion + 1) / portions);
            walk.down([&](Rank from, Rank to) {
                if (const Blocks blocks = between(wanted[to], first, end); !blocks.empty())
                    out_.pass(from, to, blocks);
            });
        }
    }

    /// Blocks from the subtree to the rest, and from the rest to the subtree.
    Blocks leaving(Rank node) const {
        return rows(walks_.front().of_members(node), walks_.front().of_others(node));
    }
    Blocks entering(Rank node) const {
        return rows(walks_.front().of_others(node), walks_.front().of_members(node));
    }
    Blocks rows(const Blocks& sources, const Blocks& targets) const {
        Blocks out;
        out.reserve(count_of(sources) * targets.size());
        for (const BlockRange& range : sources)
            for (std::uint32_t source = range.first; source < range.first + range.count; ++source)
                for (const BlockRange& each : targets)
                    append(out, {source * out_.members() + each.first, each.count});
        return out;
    }

    Builder out_;
    std::uint64_t portions_;
    std::vector<Walk> walks_;
};

} // namespace

Plan along(const Tree& tree, const PlanRequest& request, std::uint64_t parts) {
    return Writer({&tree, 1}, request, parts).run(request);
}

Plan along(std::span<const Tree> trees, const PlanRequest& request, std::uint64_t parts) {
    return Writer(trees, request, parts).run(request);
}

} // namespace plexus::eco
