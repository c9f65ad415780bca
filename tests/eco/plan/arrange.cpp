// SPDX-License-Identifier: BSD-3-Clause
// Members in the places of a ring, a mesh or a torus: which grids there are, and that neighbours are near.
#include "support/catch.h"

#include "plexus/eco/arrange.h"
#include "plexus/error.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace arrange_test {

using namespace plexus;
using namespace plexus::eco;
using Catch::Matchers::Contains;
using Costs = std::vector<std::vector<double>>;

namespace {

/// Pairs of places that are neighbours, by their coordinates. Two dimensions at most.
std::vector<std::pair<Rank, Rank>> edges_of(const GridShape& shape) {
    const Rank rows = shape.lengths.size() == 1 ? 1 : shape.lengths.front();
    const Rank columns = shape.lengths.back();
    const auto goes_round = [&](std::size_t dimension) {
        return !shape.periodic.empty() && shape.periodic[dimension] && shape.lengths[dimension] > 2;
    };
    std::vector<std::pair<Rank, Rank>> out;
    for (Rank row = 0; row < rows; ++row)
        for (Rank column = 0; column < columns; ++column) {
            const Rank here = row * columns + column;
            if (column + 1 < columns) out.emplace_back(here, here + 1);
            if (row + 1 < rows) out.emplace_back(here, here + columns);
            if (column + 1 == columns && goes_round(shape.lengths.size() - 1))
                out.emplace_back(here, row * columns);
            if (rows > 1 && row + 1 == rows && goes_round(0)) out.emplace_back(here, column);
        }
    return out;
}

double cost_of(const GridShape& shape, const std::vector<Rank>& who, const Costs& costs) {
    double sum = 0;
    for (const auto& [a, b] : edges_of(shape)) sum += costs[who[a]][who[b]];
    return sum;
}

std::vector<Rank> arranged(const GridShape& shape, const Costs& costs) {
    return arrange(shape, static_cast<Rank>(costs.size()), [&](Rank a, Rank b) { return costs[a][b]; });
}

std::vector<Rank> in_order(Rank members) {
    std::vector<Rank> out(members);
    std::iota(out.begin(), out.end(), Rank{0});
    return out;
}

/// Members that suit the grid with `who` at its places: neighbours cost 1, all others from 2 to 3.
Costs suiting(const GridShape& shape, const std::vector<Rank>& who, std::minstd_rand& random) {
    std::uniform_real_distribution<double> far(2, 3);
    Costs out(who.size(), std::vector<double>(who.size()));
    for (std::size_t a = 0; a < who.size(); ++a)
        for (std::size_t b = 0; b < a; ++b) out[a][b] = out[b][a] = far(random);
    for (const auto& [a, b] : edges_of(shape)) out[who[a]][who[b]] = out[who[b]][who[a]] = 1;
    return out;
}

} // namespace

TEST_CASE("a grid has one to three dimensions and one place for each member, or is refused") {
    const auto refused = [](const GridShape& shape, Rank members, const char* why) {
        CHECK_THROWS_WITH(arrange(shape, members, [](Rank, Rank) { return 1.0; }), Contains(why));
    };
    refused({{2, 3}, {}}, 7, "the grid has 6 places for 7 members");
    refused({{2, 3}, {}}, 5, "the grid has at least 6 places for 5 members");
    refused({{1'000'000'000, 1'000'000'000, 1'000'000'000}, {}}, 5, "places for 5 members");
    refused({{0, 5}, {}}, 5, "the grid has 0 places for 5 members");
    refused({{}, {}}, 1, "one to three dimensions, not 0");
    refused({{1, 1, 1, 1}, {}}, 1, "one to three dimensions, not 4");
    refused({{2, 3}, {true}}, 6, "2 dimensions, and 1 of them");
    const auto alone = arrange({{1, 1, 1}, {}}, 1, [](Rank, Rank) { return 1.0; });
    CHECK(alone == std::vector<Rank>{0});
}

TEST_CASE("the last link of a ring counts as well, that of an open row does not") {
    // A row from 0 to 3 is cheap, and its ends are far from each other.
    const Costs costs{{0, 1, 2, 100}, {1, 0, 1, 2}, {2, 1, 0, 1}, {100, 2, 1, 0}};
    const GridShape ring{{4}, {true}};
    const GridShape row{{4}, {false}};
    CHECK(cost_of(ring, arranged(ring, costs), costs) == 6);
    CHECK(arranged(row, costs) == in_order(4));
}

TEST_CASE("a ring that is hidden among other ways is found") {
    std::minstd_rand random(5);
    for (const Rank members : {5u, 16u, 40u}) {
        const GridShape ring{{members}, {true}};
        std::vector<Rank> who = in_order(members);
        std::shuffle(who.begin(), who.end(), random);
        const Costs costs = suiting(ring, who, random);
        CAPTURE(members);
        CHECK(cost_of(ring, arranged(ring, costs), costs) == members);
    }
}

TEST_CASE("members who stand well in the order of their ranks stay where they are") {
    std::minstd_rand random(7);
    for (const GridShape& shape : {GridShape{{3, 4}, {}}, GridShape{{4, 4}, {true, true}},
                                   GridShape{{4, 6}, {true, false}}, GridShape{{7}, {true}}}) {
        const Rank members =
            std::accumulate(shape.lengths.begin(), shape.lengths.end(), Rank{1}, std::multiplies<>());
        for (int round = 0; round < 10; ++round) {
            const Costs costs = suiting(shape, in_order(members), random);
            CHECK(cost_of(shape, arranged(shape, costs), costs) ==
                  static_cast<double>(edges_of(shape).size()));
        }
    }
}

TEST_CASE("places that no order of ranks suits are exchanged until no exchange helps") {
    std::minstd_rand random(11);
    const GridShape mesh{{4, 5}, {}};
    for (int round = 0; round < 10; ++round) {
        std::vector<Rank> who = in_order(20);
        std::shuffle(who.begin(), who.end(), random);
        const Costs costs = suiting(mesh, who, random);
        std::vector<Rank> found = arranged(mesh, costs);
        CHECK(std::is_permutation(found.begin(), found.end(), who.begin()));
        const double least = cost_of(mesh, found, costs);
        CHECK(least <= cost_of(mesh, in_order(20), costs));
        for (std::size_t a = 0; a < found.size(); ++a)
            for (std::size_t b = 0; b < a; ++b) {
                std::swap(found[a], found[b]);
                CHECK(cost_of(mesh, found, costs) >= least * (1 - 1e-6));
                std::swap(found[a], found[b]);
            }
    }
}

} // namespace arrange_test
