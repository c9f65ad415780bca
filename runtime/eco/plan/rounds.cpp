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
Plan all_gather(const PlanRequest& request) {
    Builder out(request, 1);
    const std::uint64_t members = request.members;
    for (std::uint64_t distance = 1; distance < members; distance *= 2)
        round_of(out, [&](Rank member) {
            return out.post(member, turned(member, members - distance, members),
                            cyclic(member, std::min(distance, members - distance), members));
        });
    return out.finish();
}

/// A block travels the bits of its distance, the lowest first.
Plan all_to_all(const PlanRequest& request) {
    Builder out(request, 1);
    const std::uint64_t members = request.members;
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
Plan barrier(const PlanRequest& request) {
    Builder out(request, 1);
    for (std::uint64_t distance = 1; distance < request.members; distance *= 2)
        round_of(out, [&](Rank member) {
            return out.post(member, turned(member, distance, request.members), {});
        });
    return out.finish();
}

} // namespace

Plan plan_bruck(const PlanRequest& request) {
    switch (request.operation) {
    case Operation::all_gather:
        return all_gather(request);
    case Operation::all_to_all:
        return all_to_all(request);
    default:
        return barrier(request);
    }
}

namespace {

/// Everyone sends each other member its block. They are combined from the neighbour below down
/// and then from the one above up, so in the order of ranks; where that is free, as they come.
Plan scattered(const PlanRequest& request) {
    Builder out(request, 1);
    const std::uint64_t members = request.members;
    std::vector<std::uint32_t> posted(members * members);
    for (std::uint64_t distance = 1; distance < members; ++distance) {
        for (Rank member = 0; member < members; ++member) {
            const Rank to = turned(member, distance, members);
            posted[member * members + to] =
                out.post(member, to, {{to, 1}}, member < to ? Merge::before : Merge::after);
        }
        if (!request.commutative) continue;
        for (Rank member = 0; member < members; ++member)
            out.take(posted[turned(member, members - distance, members) * members + member]);
    }
    if (request.commutative) return out.finish();
    for (Rank member = 0; member < members; ++member) {
        for (Rank from = member; from-- > 0;) out.take(posted[from * members + member]);
        for (Rank from = member + 1; from < members; ++from) out.take(posted[from * members + member]);
    }
    return out.finish();
}

} // namespace

Plan plan_scan(const PlanRequest& request, bool doubling, std::uint64_t parts) {
    Builder out(request, doubling ? 1 : parts);
    const std::uint64_t members = request.members;
    std::uint64_t first = 0;
    std::vector<std::uint32_t> posted;
    const auto to_those_at = [&](std::uint64_t distance, Merge merge) {
        posted.clear();
        for (std::uint64_t member = first; member + distance < members; ++member)
            posted.push_back(
                out.post(static_cast<Rank>(member), static_cast<Rank>(member + distance), out.all(), merge));
        for (const std::uint32_t message : posted) out.take(message);
    };
    if (request.operation == Operation::exclusive_scan) {
        // Each contribution moves to the next member: from there on it is a scan without the first.
        to_those_at(1, Merge::store);
        first = 1;
    }
    if (doubling) {
        for (std::uint64_t distance = 1; distance < members; distance *= 2)
            to_those_at(distance, Merge::before);
        return out.finish();
    }
    for (std::uint32_t part = 0; part < out.blocks(); ++part)
        for (std::uint64_t member = first; member + 1 < members; ++member)
            out.pass(static_cast<Rank>(member), static_cast<Rank>(member + 1), {{part, 1}}, Merge::before);
    return out.finish();
}

Plan plan_pairwise(const PlanRequest& request) {
    if (request.operation == Operation::reduce_scatter) return scattered(request);
    Builder out(request, 1);
    const std::uint64_t members = request.members;
    const bool partners = (members & (members - 1)) == 0;
    for (std::uint64_t distance = 1; distance < members; ++distance)
        round_of(out, [&](Rank member) {
            const Rank to =
                partners ? member ^ static_cast<Rank>(distance) : turned(member, distance, members);
            Blocks blocks;
            if (request.operation == Operation::all_gather) blocks = {{member, 1}};
            if (request.operation == Operation::all_to_all)
                blocks = {{static_cast<std::uint32_t>(member * members + to), 1}};
            return out.post(member, to, blocks);
        });
    return out.finish();
}

} // namespace plexus::eco
