// SPDX-License-Identifier: BSD-3-Clause
// Rounds without partners: in round k everyone sends to the member at distance k (pairwise) or
// 2^k (Bruck), and takes from the one at the same distance on the other side. Any number of
// members.
#include "plan/builder.h"
#include "plan/patterns.h"

#include <algorithm>

namespace plexus::eco {
namespace {

/// Posts `message(member)` for every member, then takes all.
template <class Post>
void round_of(Builder& out, Post&& post) {
    std::vector<std::uint32_t> posted;
    for (Rank member = 0; member < out.members(); ++member) posted.push_back(post(member));
    for (const std::uint32_t message : posted) out.take(message);
}

Rank turned(std::uint64_t member, std::uint64_t by, std::uint64_t members) {
    return static_cast<Rank>((member + by) % members);
}

/// Everyone has as many blocks as the distance, and gets as many from there.
Plan all_gather(const Task& task) {
    Builder out(task, 1);
    const std::uint64_t members = task.members;
    for (std::uint64_t distance = 1; distance < members; distance *= 2)
        round_of(out, [&](Rank member) {
            return out.post(member, turned(member, members - distance, members),
                            cyclic(member, std::min(distance, members - distance), members));
        });
    return out.finish();
}

/// A block travels the bits of its distance, the lowest first.
Plan all_to_all(const Task& task) {
    Builder out(task, 1);
    const std::uint64_t members = task.members;
    for (std::uint64_t bit = 1; bit < members; bit *= 2)
        round_of(out, [&](Rank member) {
            std::vector<std::uint32_t> blocks;
            for (std::uint64_t distance = bit; distance < members; ++distance) {
                if ((distance & bit) == 0) continue;
                const Rank source = turned(member, members - (distance & (bit - 1)), members);
                blocks.push_back(
                    static_cast<std::uint32_t>(source * members + turned(source, distance, members)));
            }
            return out.post(member, turned(member, bit, members), blocks_in(std::move(blocks)));
        });
    return out.finish();
}

/// Who knows of all at distances below 2^k hears of as many more.
Plan barrier(const Task& task) {
    Builder out(task, 1);
    for (std::uint64_t distance = 1; distance < task.members; distance *= 2)
        round_of(out,
                 [&](Rank member) { return out.post(member, turned(member, distance, task.members), {}); });
    return out.finish();
}

} // namespace

Plan plan_bruck(const Task& task) {
    switch (task.operation) {
    case Operation::all_gather:
        return all_gather(task);
    case Operation::all_to_all:
        return all_to_all(task);
    default:
        return barrier(task);
    }
}

Plan plan_pairwise(const Task& task) {
    Builder out(task, 1);
    const std::uint64_t members = task.members;
    const bool partners = (members & (members - 1)) == 0;
    for (std::uint64_t distance = 1; distance < members; ++distance)
        round_of(out, [&](Rank member) {
            const Rank to =
                partners ? member ^ static_cast<Rank>(distance) : turned(member, distance, members);
            Blocks blocks;
            if (task.operation == Operation::all_gather) blocks = {{member, 1}};
            if (task.operation == Operation::all_to_all)
                blocks = {{static_cast<std::uint32_t>(member * members + to), 1}};
            return out.post(member, to, blocks);
        });
    return out.finish();
}

} // namespace plexus::eco
