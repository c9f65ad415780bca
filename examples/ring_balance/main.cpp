// SPDX-License-Identifier: BSD-3-Clause
// Load balancing over a ring: rows of the Mandelbrot set move to neighbours with less load. Every row is
// computed once in each iteration, as by a single member.
//
//     plexus run -n 4 -- ring_balance
//     plexus run -n 4 -- ring_balance --slow 1:3
#include "even_out.h"
#include "options.h"
#include "report.h"
#include "worker.h"

#include <plexus/context.h>
#include <plexus/eco/grid.h>
#include <plexus/eco/group.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <span>
#include <vector>

namespace {

namespace eco = plexus::eco;

/// The result of a single member.
balance::Total alone(const balance::Options& options) {
    balance::Total total;
    const balance::Picture picture(options.rows, options.columns);
    for (std::uint32_t number = 0; number < options.rows; ++number) {
        balance::Row row = picture.fresh(number);
        for (int iteration = 0; iteration < options.iterations; ++iteration) {
            picture.advance(row, options.passes);
            total.work += row.head.cost;
        }
        ++total.rows;
        total.checksum += digest(row);
    }
    return total;
}

bool run(const eco::Group& all, const balance::Options& options) {
    const bool speaks = all.rank() == 0;
    const eco::Ring ring = all.ring();
    const eco::Rank place = ring.coordinates()[0];
    const balance::Picture picture(options.rows, options.columns);
    balance::Worker worker(picture, options.slowness[all.rank()], options.counts_work);
    const auto first = [&](std::uint64_t at) {
        return static_cast<std::uint32_t>(at * options.rows / all.size());
    };
    for (std::uint32_t row = first(place); row < first(std::uint64_t{place} + 1); ++row)
        worker.rows().push_back(picture.fresh(row));
    if (speaks) balance::print_head(options, ring);

    balance::Total mine;
    std::chrono::duration<double> balancing{0};
    std::vector<balance::Turn> turns(speaks ? all.size() : 0);
    for (int iteration = 1; iteration <= options.iterations; ++iteration) {
        balance::Turn turn;
        turn.rows = worker.rows().size();
        turn.load = worker.advance(options.passes);
        mine.work += worker.work();
        all.barrier(); // waiting for the slowest is not balancing
        const auto begin = std::chrono::steady_clock::now();
        if (options.balances && iteration < options.iterations)
            turn.given = balance::even_out(ring, worker, turn.load, options.columns);
        balancing += std::chrono::steady_clock::now() - begin;
        all.gather(std::span(&turn, 1), std::span(turns));
        if (speaks) balance::print_turn(iteration, options, turns);
    }

    mine.rows = worker.rows().size();
    for (const balance::Row& row : worker.rows()) mine.checksum += digest(row);
    const auto total =
        all.all_reduce(mine, eco::Commuting{[](const balance::Total& a, const balance::Total& b) {
                           return balance::Total{a.rows + b.rows, a.work + b.work, a.checksum + b.checksum};
                       }});
    if (!speaks) return true;
    return balance::print_end(total, alone(options), balancing.count() / options.iterations);
}

/// Every context ends for the same reason: one context prints the reason before any context leaves.
int end(plexus::Context& here, const balance::Ending& ending) {
    if (here.rank() == 0) {
        std::FILE* const where = ending.code == 0 ? stdout : stderr;
        std::fprintf(where, "%s%s\n", ending.code == 0 ? "" : "ring_balance: ", ending.text.c_str());
        std::fflush(where);
    }
    here.fence().get();
    return ending.code;
}

int run(plexus::Context& here) {
    try {
        const balance::Options options = balance::read_options(here.arguments(), here.size());
        eco::GroupOptions with;
        with.map_file = options.map;
        const eco::Group all = eco::Group::world(here, with);
        const bool good = run(all, options);
        all.barrier(); // no context leaves while others still send to it
        return good ? 0 : 1;
    } catch (const balance::Ending& ending) { return end(here, ending); }
}

} // namespace

int main(int argc, char** argv) {
    try {
        plexus::Context here(argc, argv);
        return run(here);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "ring_balance: %s\n", error.what());
        return 1;
    }
}
