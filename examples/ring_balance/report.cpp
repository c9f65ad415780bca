// SPDX-License-Identifier: BSD-3-Clause
#include "report.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <string>

namespace balance {

void print_head(const Options& options, const plexus::eco::Ring& ring) {
    std::string order;
    for (std::uint32_t place = 0; place < ring.shape().lengths[0]; ++place)
        order += " " + std::to_string(ring.rank_at(std::span(&place, 1)));
    std::printf("%-12s %u of %u points, %u passes an iteration\n", "rows", options.rows, options.columns,
                options.passes);
    std::printf("%-12s%s\n", "ring", order.c_str());
    for (std::size_t rank = 0; rank < options.slowness.size(); ++rank)
        if (options.slowness[rank] > 1)
            std::printf("%-12s rank %zu, by %g\n", "slow", rank, options.slowness[rank]);
    std::printf("\n%9s  %9s  %10s  %6s  %s\n", "iteration", "imbalance", "most", "moved",
                "rows of each rank");
}

void print_turn(int iteration, const Options& options, std::span<const Turn> turns) {
    double sum = 0, most = 0;
    std::uint64_t given = 0;
    std::string rows;
    for (const Turn& each : turns) {
        sum += each.load;
        most = std::max(most, each.load);
        given += each.given;
        rows += std::to_string(each.rows) + " ";
    }
    rows.pop_back();
    std::printf("%9d  %9.3f  %7.3f %s  %6" PRIu64 "  %s\n", iteration,
                sum > 0 ? most * static_cast<double>(turns.size()) / sum : 1,
                options.counts_work ? most / 1e6 : most * 1e3, options.counts_work ? "M " : "ms", given,
                rows.c_str());
    std::fflush(stdout);
}

bool print_end(const Total& found, const Total& alone, double balancing_s) {
    std::printf("\n%-12s %.0f us an iteration\n", "balancing", balancing_s * 1e6);
    std::printf("%-12s %" PRIu64 " passes over points; alone %" PRIu64 "\n", "work", found.work, alone.work);
    std::printf("%-12s %016" PRIx64 "; alone %016" PRIx64 "\n", "checksum", found.checksum, alone.checksum);
    const bool same =
        found.rows == alone.rows && found.work == alone.work && found.checksum == alone.checksum;
    std::printf("%s\n", same ? "Every row was worked on once in each iteration."
                             : "Rows got lost, or were worked on twice.");
    return same;
}

} // namespace balance
