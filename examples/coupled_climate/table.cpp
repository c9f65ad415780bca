// SPDX-License-Identifier: BSD-3-Clause
#include "table.h"

#include <algorithm>
#include <cstdio>
#include <functional>

namespace climate {
namespace {

using Rounds = std::vector<Outcome>; // of one row

double median(std::vector<double> values) {
    std::ranges::sort(values);
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double median_of(const Rounds& rounds, double Outcome::*what) {
    std::vector<double> values;
    for (const Outcome& outcome : rounds) values.push_back(outcome.*what);
    return median(std::move(values));
}

/// The median of each round's ratio: what disturbs a whole round cancels.
double ratio(const Rounds& rounds, const Rounds& best_case) {
    std::vector<double> values;
    for (std::size_t k = 0; k < rounds.size(); ++k) values.push_back(rounds[k].step / best_case[k].step);
    return median(std::move(values));
}

void print_table(const Options& options, const Layout& layout, const std::vector<Rounds>& rows) {
    std::printf(
        "%d + %d contexts, atmosphere %d x %d, %d steps, medians of %d rounds; milliseconds a step\n\n",
        layout.members(Model::atmosphere), layout.members(Model::ocean), options.grid.columns,
        options.grid.rows, options.steps, options.repetitions);
    std::printf("No.  %-18s %9s %9s %9s %12s\n", "Experiment", "Total", "inside", "between", "to best case");
    for (std::size_t row = 0; row < rows.size(); ++row)
        std::printf("%2zu   %-18s %9.4f %9.4f %9.4f %12.3f\n", row + 1, options.experiments[row].name.c_str(),
                    median_of(rows[row], &Outcome::step) * 1e3,
                    median_of(rows[row], &Outcome::inside_mean) * 1e3,
                    median_of(rows[row], &Outcome::between_mean) * 1e3, ratio(rows[row], rows[0]));
    std::printf(
        "\nTotal: the slowest context. Inside and between: communication within a model and with the\n"
        "other one, a mean over contexts. The best case is row 1.\n");
}

} // namespace

bool run_table(Simulation& simulation, const Options& options, const Layout& layout) {
    const std::size_t count = options.experiments.size();
    std::vector<Rounds> rows(count);
    simulation.run(options.experiments.front()); // warms up
    for (int round = 0; round < options.repetitions; ++round) {
        // Each round starts with another row, so that none always follows the same one.
        for (std::size_t k = 0; k < count; ++k) {
            const std::size_t row = (k + static_cast<std::size_t>(round)) % count;
            if (const auto outcome = simulation.run(options.experiments[row])) rows[row].push_back(*outcome);
        }
    }
    if (rows[0].empty()) return true; // context 0 has the numbers

    print_table(options, layout, rows);
    const std::uint64_t checksum = rows[0][0].checksum;
    const bool same = std::ranges::all_of(rows, [&](const Rounds& rounds) {
        return std::ranges::all_of(rounds,
                                   [&](const Outcome& outcome) { return outcome.checksum == checksum; });
    });
    if (same)
        std::printf("All %zu runs gave the same numbers, to the bit: checksum %016llx.\n",
                    count * rows[0].size(), static_cast<unsigned long long>(checksum));
    else
        std::printf("The runs did not all give the same numbers.\n");
    return same;
}

} // namespace climate
