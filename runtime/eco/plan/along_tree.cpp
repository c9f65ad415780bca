// SPDX-License-Identifier: BSD-3-Clause
// Operations along a tree: what is for a subtree goes down its edge, what is of it goes up.
#include "plan/tree.h"

#include <algorithm>
#include <numeric>

namespace plexus::eco {
namespace {

class Walk {
  public:
    Walk(const Tree& tree, const Task& task, std::uint64_t parts)
      : tree_(tree)
      , out_(task, parts)
      , place_(task.members)
      , end_(task.members) {
        visit();
    }

    Plan run(const Task& task) {
        switch (task.operation) {
        case Operation::broadcast:
            down_parts();
            break;
        case Operation::scatter:
            down([&](Rank node) { return of_members(node); });
            break;
        case Operation::gather:
            up([&](Rank node) { return of_members(node); }, Merge::store);
            break;
        case Operation::reduce:
            up_parts();
            break;
        case Operation::all_reduce:
            up_parts();
            down_parts();
            break;
        case Operation::all_gather:
            up([&](Rank node) { return of_members(node); }, Merge::store);
            down([&](Rank node) { return others(of_members(node), out_.blocks()); });
            break;
        case Operation::all_to_all:
            up([&](Rank node) { return leaving(node); }, Merge::store);
            down([&](Rank node) { return entering(node); });
            break;
        case Operation::reduce_scatter:
            up([&](Rank) { return out_.all(); }, Merge::after);
            down([&](Rank node) { return of_members(node); });
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
        if (task.operation == Operation::reduce && tree_.root != task.root)
            out_.pass(tree_.root, task.root, out_.all());
        return out_.finish();
    }

  private:
    void visit() {
        std::vector<Rank> open{tree_.root};
        while (!open.empty()) {
            const Rank node = open.back();
            open.pop_back();
            place_[node] = static_cast<Rank>(order_.size());
            order_.push_back(node);
            const auto& children = tree_.children[node];
            open.insert(open.end(), children.rbegin(), children.rend());
        }
        for (auto node = order_.rbegin(); node != order_.rend(); ++node) {
            end_[*node] = place_[*node] + 1;
            for (const Rank child : tree_.children[*node]) end_[*node] = std::max(end_[*node], end_[child]);
        }
    }

    std::vector<std::uint32_t> subtree(Rank node) const {
        return {order_.begin() + place_[node], order_.begin() + end_[node]};
    }
    bool inside(Rank member, Rank node) const {
        return place_[member] >= place_[node] && place_[member] < end_[node];
    }
    Blocks of_members(Rank node) const { return blocks_in(subtree(node)); }

    /// Blocks from the subtree to the rest, and from the rest to the subtree.
    Blocks leaving(Rank node) const {
        std::vector<std::uint32_t> blocks;
        for (const Rank source : subtree(node))
            for (Rank target = 0; target < out_.members(); ++target)
                if (!inside(target, node)) blocks.push_back(source * out_.members() + target);
        return blocks_in(std::move(blocks));
    }
    Blocks entering(Rank node) const {
        std::vector<std::uint32_t> blocks;
        for (const Rank target : subtree(node))
            for (Rank source = 0; source < out_.members(); ++source)
                if (!inside(source, node)) blocks.push_back(source * out_.members() + target);
        return blocks_in(std::move(blocks));
    }

    template <class Choose>
    void down(Choose&& blocks_for) {
        for (const Rank node : order_)
            for (const Rank child : tree_.children[node]) out_.pass(node, child, blocks_for(child));
    }
    void down_parts() {
        for (std::uint32_t part = 0; part < out_.blocks(); ++part)
            down([&](Rank) { return Blocks{{part, 1}}; });
    }

    template <class Choose>
    void up(Choose&& blocks_of, Merge merge) {
        const auto collect = [&](Rank node, Rank child) { out_.pass(child, node, blocks_of(child), merge); };
        for (auto node = order_.rbegin(); node != order_.rend(); ++node) {
            const auto& children = tree_.children[*node];
            if (tree_.collect_first_to_last) {
                for (const Rank child : children) collect(*node, child);
            } else {
                for (auto child = children.rbegin(); child != children.rend(); ++child)
                    collect(*node, *child);
            }
        }
    }
    void up_parts() {
        for (std::uint32_t part = 0; part < out_.blocks(); ++part)
            up([&](Rank) { return Blocks{{part, 1}}; }, Merge::after);
    }

    const Tree& tree_;
    Builder out_;
    std::vector<Rank> order_; // preorder
    std::vector<Rank> place_; // in it
    std::vector<Rank> end_;   // of the subtree, in it
};

} // namespace

Plan along(const Tree& tree, const Task& task, std::uint64_t parts) {
    return Walk(tree, task, parts).run(task);
}

} // namespace plexus::eco
