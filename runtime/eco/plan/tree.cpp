// SPDX-License-Identifier: BSD-3-Clause
#include "plan/tree.h"

#include <algorithm>

namespace plexus::eco {
namespace {

/// The nodes of a complete k-ary tree have children k i + 1 … k i + k. Renames them in
/// preorder: `next` is the name of `node`, and afterwards the first that is free.
void add_complete(Tree& tree, std::uint64_t node, std::uint32_t arity, Rank& next) {
    const Rank mine = next++;
    for (std::uint64_t child = node * arity + 1; child <= node * arity + arity; ++child) {
        if (child >= tree.children.size()) return;
        tree.children[mine].push_back(next);
        add_complete(tree, child, arity, next);
    }
}

void add_binomial(Tree& tree) {
    const auto members = static_cast<Rank>(tree.children.size());
    for (Rank node = 0; node < members; ++node) {
        // Its lowest set bit bounds a node's subtree; the largest child is served first.
        std::uint64_t span = node == 0 ? std::uint64_t{1} << 32 : node & (~node + 1);
        while (span >>= 1)
            if (node + span < members) tree.children[node].push_back(static_cast<Rank>(node + span));
    }
    tree.collect_first_to_last = false; // that is rising ranks
}

} // namespace

Tree regular_tree(Pattern pattern, std::uint32_t arity, Rank members, Rank root) {
    Tree tree(members);
    if (pattern == Pattern::binomial) {
        add_binomial(tree);
    } else if (pattern == Pattern::chain) {
        for (Rank node = 1; node < members; ++node) tree.children[node - 1].push_back(node);
    } else if (pattern == Pattern::star) {
        for (Rank node = 1; node < members; ++node) tree.children[0].push_back(node);
    } else {
        Rank next = 0;
        if (arity == 1) {
            for (Rank node = 1; node < members; ++node) tree.children[node - 1].push_back(node);
        } else {
            add_complete(tree, 0, arity, next);
        }
    }
    if (root == 0) return tree;
    const auto turned = [&](Rank node) { return static_cast<Rank>((std::uint64_t{node} + root) % members); };
    Tree out(members);
    out.root = root;
    out.collect_first_to_last = tree.collect_first_to_last;
    for (Rank node = 0; node < members; ++node) {
        for (Rank& child : tree.children[node]) child = turned(child);
        out.children[turned(node)] = std::move(tree.children[node]);
    }
    return out;
}

std::uint64_t segments_of(const PlanRequest& request, std::uint64_t segment_bytes) {
    constexpr std::uint64_t kMostSegments = 4096;
    const std::uint64_t bytes = request.elements * request.element_bytes;
    if (segment_bytes == 0 || bytes <= segment_bytes) return 1;
    return std::min({bytes / segment_bytes + (bytes % segment_bytes != 0), request.elements, kMostSegments});
}

std::uint64_t parts_of(const PlanRequest& request, const AlgorithmOptions& options) {
    constexpr std::uint64_t kChainSegments = 16;
    if (options.pattern == Pattern::chain && options.segment_bytes == 0)
        return std::clamp<std::uint64_t>(request.elements, 1, kChainSegments);
    return segments_of(request, options.segment_bytes);
}

} // namespace plexus::eco
