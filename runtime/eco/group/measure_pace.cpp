// SPDX-License-Identifier: BSD-3-Clause
#include "plexus/eco/pace.h"

#include "topology/refuse.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <utility>
#include <vector>

namespace plexus::eco {
namespace {

constexpr int kRepetitions = 3;
constexpr std::uint64_t kTrainBytes = std::uint64_t{256} << 10;

/// A way between two members. No links: there is none.
struct Way {
    Rank from;
    Rank to;
    std::uint32_t links;
};

/// Seconds until the answer to one message, and to a train of them.
struct Trains {
    double one = std::numeric_limits<double>::infinity();
    double all = std::numeric_limits<double>::infinity();
    double messages = 1; ///< in the train

    double gap() const { return std::max(0.0, (all - one) / (messages - 1)); }
};

struct WayTimes {
    Trains small; ///< of one byte
    Trains large;
};

std::array<Way, 2> longest_and_shortest(const GroupSchedule& how, Rank members) {
    std::array<Way, 2> out{Way{0, 0, 0}, Way{0, 0, UINT32_MAX}};
    for (const Round& round : how.schedule.rounds)
        for (const Transfer& each : round) {
            const auto& ranks = how.ranks_of_terminals;
            const auto rank_at = [&](std::uint32_t terminal) {
                return terminal < ranks.size() ? ranks[terminal] : terminal;
            };
            const Way way{rank_at(each.src), rank_at(each.dst), static_cast<std::uint32_t>(each.path.size())};
            if (way.links == 0 || way.from == way.to || way.from >= members || way.to >= members) continue;
            if (way.links > out[0].links) out[0] = way;
            if (way.links < out[1].links) out[1] = way;
        }
    return out;
}

/// From member 0 of the pair to member 1, who answers. The time is right on member 0.
double train_s(const Group& pair, std::vector<std::byte>& message, std::uint64_t messages) {
    std::byte answer{};
    pair.barrier();
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t each = 0; each < messages; ++each) pair.broadcast(std::span(message), 0);
    pair.broadcast(std::span(&answer, 1), 1);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Trains trains_of(const Group& pair, std::uint64_t bytes) {
    std::vector<std::byte> message(bytes);
    const std::uint64_t messages = std::clamp<std::uint64_t>(kTrainBytes / bytes, 2, 8);
    Trains out;
    out.messages = static_cast<double>(messages);
    for (int repetition = 0; repetition < kRepetitions; ++repetition) {
        out.one = std::min(out.one, train_s(pair, message, 1));
        out.all = std::min(out.all, train_s(pair, message, messages));
    }
    return out;
}

/// So that the first call does not wait for connections in the middle of its schedule.
void open_connections(const Group& all) {
    std::vector<std::byte> out(all.size());
    std::vector<std::byte> in(all.size());
    all.with(Algorithm(Pattern::pairwise)).all_to_all(std::span(std::as_const(out)), std::span(in));
}

/// Known to all members at the end.
WayTimes times_of(const Group& group, const Way& way, std::uint64_t bytes) {
    const bool inside = group.rank() == way.from || group.rank() == way.to;
    const Group pair = group.split(inside ? 0 : Group::kNoColour, group.rank() == way.from ? 0 : 1);
    WayTimes out;
    if (pair) out = {trains_of(pair, 1), trains_of(pair, bytes)};
    group.broadcast(out, way.from);
    return out;
}

/// By the gaps between messages of one byte and of `bytes`.
Pace occupancy(const WayTimes& far, const WayTimes& near, std::uint64_t bytes) {
    const double small = std::max(far.small.gap(), near.small.gap());
    const double large = std::max({far.large.gap(), near.large.gap(), small});
    const double byte_s = (large - small) / static_cast<double>(bytes - 1);
    if (small < byte_s) return {0, large / static_cast<double>(bytes), 0};
    return {small - byte_s, byte_s, 0};
}

/// A message passes `links` more than in `large`, and so does its answer, which is as long as a message of
/// one byte and its answer take in half of their time.
double hop_s(const WayTimes& far, double large, double small, std::uint32_t links) {
    return std::max(0.0, (far.large.one - large - (far.small.one - small) / 2) / links);
}

} // namespace

Pace measure_pace(const Group& group, const GroupSchedule& how, std::uint64_t bytes, Rank from) {
    const Group all = group.with(Algorithm());
    std::array<Way, 2> ways = longest_and_shortest(how, all.size());
    all.broadcast(ways, from);
    if (ways[0].links == 0) refuse(Status::bad_argument, "a schedule without transfers has no pace");
    bytes = std::max<std::uint64_t>(bytes, 2);
    const WayTimes far = times_of(all, ways[0], bytes);
    const WayTimes near = times_of(all, ways[1], bytes);
    open_connections(all);
    Pace pace = occupancy(far, near, bytes);
    pace.hop_s =
        ways[0].links > ways[1].links
            ? hop_s(far, near.large.one, near.small.one, ways[0].links - ways[1].links)
            : hop_s(far, pace.message_s + pace.byte_s * static_cast<double>(bytes), 0, ways[0].links);
    return pace;
}

} // namespace plexus::eco
