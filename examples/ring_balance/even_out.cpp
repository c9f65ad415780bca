// SPDX-License-Identifier: BSD-3-Clause
#include "even_out.h"

#include <algorithm>
#include <span>
#include <vector>

namespace balance {
namespace {

enum Side { lower, upper };

struct Load {
    double load = 0;
    double of_a_pass = 0; ///< 0: not known, there was no work
};

/// What goes to one neighbour, or came from it.
struct Parcel {
    std::vector<RowHead> heads;
    std::vector<Point> points;
};

/// Both ways at once with both neighbours; `in` has the lengths that will come.
template <class T>
void swap_with_neighbours(const plexus::eco::Ring& ring, const std::vector<T> (&out)[2],
                          std::vector<T> (&in)[2]) {
    ring.exchange(0, std::span<const T>(out[lower]), std::span<const T>(out[upper]), std::span<T>(in[lower]),
                  std::span<T>(in[upper]));
}

/// How many passes to give away so that, of two alone, both would have the same load: the
/// giver loses what they cost him, the taker gains what they cost there.
double evens_out(const Load& mine, const Load& other) {
    const double costs = mine.of_a_pass > 0 && other.of_a_pass > 0
                             ? mine.of_a_pass + other.of_a_pass
                             : 2 * std::max(mine.of_a_pass, other.of_a_pass);
    return costs > 0 ? std::max(0.0, (mine.load - other.load) / costs) : 0;
}

/// Takes rows of `passes` together at most, the most costly first. `rows` rise in cost.
Parcel take(std::vector<Row>& rows, double passes) {
    Parcel parcel;
    for (std::size_t k = rows.size(); k-- > 0 && rows.size() > 1;) {
        const auto cost = static_cast<double>(rows[k].head.cost);
        if (cost == 0) break; // it would not help to move these
        if (cost > passes) continue;
        passes -= cost;
        parcel.heads.push_back(rows[k].head);
        parcel.points.insert(parcel.points.end(), rows[k].points.begin(), rows[k].points.end());
        rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(k));
    }
    return parcel;
}

} // namespace

std::uint64_t even_out(const plexus::eco::Ring& ring, Worker& worker, double load, std::uint32_t columns) {
    const plexus::eco::Rank members = ring.shape().lengths[0];
    if (members == 1) return 0;
    const auto work = static_cast<double>(worker.work());
    const Load mine{load, work > 0 ? load / work : 0};
    const std::vector<Load> loads_out[2] = {{mine}, {mine}};
    std::vector<Load> loads_in[2] = {std::vector<Load>(1), std::vector<Load>(1)};
    swap_with_neighbours(ring, loads_out, loads_in);

    // With two edges a member must not answer each as if it were the only one. Two members
    // have the same neighbour on both sides.
    const double share = members == 2 ? 1.0 / 2 : 2.0 / 3;
    double give[2];
    for (const Side side : {lower, upper}) give[side] = share * evens_out(mine, loads_in[side][0]);

    std::vector<Row>& rows = worker.rows();
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
        return a.head.cost != b.head.cost ? a.head.cost < b.head.cost : a.head.number < b.head.number;
    });
    const Side first = give[lower] > give[upper] ? lower : upper;
    Parcel out[2];
    out[first] = take(rows, give[first]);
    out[1 - first] = take(rows, give[1 - first]);

    const std::vector<std::uint64_t> counts_out[2] = {{out[lower].heads.size()}, {out[upper].heads.size()}};
    std::vector<std::uint64_t> counts_in[2] = {std::vector<std::uint64_t>(1), std::vector<std::uint64_t>(1)};
    swap_with_neighbours(ring, counts_out, counts_in);

    const std::vector<RowHead> heads_out[2] = {out[lower].heads, out[upper].heads};
    const std::vector<Point> points_out[2] = {std::move(out[lower].points), std::move(out[upper].points)};
    std::vector<RowHead> heads_in[2];
    std::vector<Point> points_in[2];
    for (const Side side : {lower, upper}) {
        heads_in[side].resize(counts_in[side][0]);
        points_in[side].resize(counts_in[side][0] * columns);
    }
    swap_with_neighbours(ring, heads_out, heads_in);
    swap_with_neighbours(ring, points_out, points_in);
    for (const Side side : {lower, upper}) {
        const Point* from = points_in[side].data();
        for (const RowHead& head : heads_in[side]) {
            rows.push_back({head, std::vector<Point>(from, from + columns)});
            from += columns;
        }
    }
    return counts_out[lower][0] + counts_out[upper][0];
}

} // namespace balance
