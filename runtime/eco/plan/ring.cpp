// SPDX-License-Identifier: BSD-3-Clause
// The ring: in each of P - 1 rounds everyone sends one block to the next. All messages of a
// round are posted before one is taken: that is what makes them a round.
#include "plan/patterns.h"
#include "plan/tree.h"

#include <algorithm>

namespace plexus::eco {
namespace {

/// One after the other, member `first` and those behind it send `block(i)` to the next.
class Rounds {
  public:
    explicit Rounds(Builder& out)
      : out_(out) {}

    template <class BlockOf>
    void run(BlockOf&& block_of, Merge merge) {
        const std::uint64_t members = out_.members();
        std::vector<std::uint32_t> posted(members);
        for (std::uint64_t round = 0; round + 1 < members; ++round) {
            for (std::uint64_t member = 0; member < members; ++member)
                posted[member] =
                    out_.post(static_cast<Rank>(member), static_cast<Rank>((member + 1) % members),
                              {{static_cast<std::uint32_t>(block_of(member, round)), 1}}, merge);
            for (const std::uint32_t message : posted) out_.take(message);
        }
    }

  private:
    Builder& out_;
};

/// The parts of the vector go down a binomial tree, each to its member, then round the ring
/// to those whom they did not pass on the way.
Plan ring_broadcast(const PlanRequest& request) {
    const std::uint64_t members = request.members;
    Builder out(request, members);
    const Tree tree = regular_tree(Pattern::binomial, 2, request.members, 0);
    const auto rank = [&](std::uint64_t place) {
        return static_cast<Rank>((place + request.root) % members);
    };
    // Of each place: one behind the last part that it has from the tree; its own is the first.
    std::vector<std::uint64_t> end(members);
    for (std::uint64_t place = members; place-- > 0;) {
        end[place] = place + 1;
        for (const Rank child : tree.children[place]) end[place] = std::max(end[place], end[child]);
    }
    for (std::uint64_t place = 0; place < members; ++place)
        for (const Rank child : tree.children[place])
            out.pass(rank(place), rank(child), {{child, static_cast<std::uint32_t>(end[child] - child)}});
    std::vector<std::uint32_t> posted;
    for (std::uint64_t round = 0; round + 1 < members; ++round) {
        posted.clear();
        for (std::uint64_t place = 0; place < members; ++place) {
            const std::uint64_t next = (place + 1) % members;
            const std::uint64_t part = (place + members - round) % members;
            if (part < next || part >= end[next])
                posted.push_back(out.post(rank(place), rank(next), {{static_cast<std::uint32_t>(part), 1}}));
        }
        for (const std::uint32_t message : posted) out.take(message);
    }
    return out.finish();
}

} // namespace

Plan plan_ring(const PlanRequest& request) {
    if (request.operation == Operation::broadcast) return ring_broadcast(request);
    const std::uint64_t members = request.members;
    Builder out(request, members);
    Rounds rounds(out);
    if (request.operation == Operation::reduce_scatter) {
        // Block b starts at member b + 1 and gathers contributions until member b has it whole.
        rounds.run([&](std::uint64_t member,
                       std::uint64_t round) { return (member + 2 * members - 1 - round) % members; },
                   Merge::before);
    } else if (request.operation == Operation::all_reduce) {
        // Part p starts at member p and gathers contributions until member p - 1 has it whole.
        rounds.run(
            [&](std::uint64_t member, std::uint64_t round) { return (member + members - round) % members; },
            Merge::before);
        rounds.run([&](std::uint64_t member,
                       std::uint64_t round) { return (member + 1 + members - round) % members; },
                   Merge::store);
    } else {
        rounds.run(
            [&](std::uint64_t member, std::uint64_t round) { return (member + members - round) % members; },
            Merge::store);
    }
    return out.finish();
}

} // namespace plexus::eco
