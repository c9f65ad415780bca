// SPDX-License-Identifier: BSD-3-Clause
// The end of a run: every context sends its times and the budgets of its rows to the coordinator (context
// 0), which adds them up in a fixed order. Handlers run on the thread that polls, all else on the model's
// thread.
#pragma once

#include "options.h"
#include "picture.h"
#include "station.h"

#include <mutex>
#include <string>
#include <vector>

namespace climate {

/// The result of a run. Drifts are relative: 0 except for rounding.
struct Outcome {
    double step = 0;                           // s, the slowest context's mean
    double inside_mean = 0, inside_most = 0;   // s a step in halo exchange, over contexts
    double between_mean = 0, between_most = 0; // s a step between the models
    double mass_drift = 0, air_drift = 0, sea_drift = 0, exchange_drift = 0;
    std::uint64_t checksum = 0;
    std::vector<std::string> methods; // one a context
};

class Coordinator {
  public:
    explicit Coordinator(const Layout& layout);

    // Handlers.
    void add(RunSummary summary, std::span<const RowBudget> rows);
    void add_rows(bool of_the_sea, std::uint32_t first_row, std::span<const double> temperatures);

    bool complete() const; ///< all contexts have reported
    bool drawn() const;    ///< all rows of both fields have come
    /// Adds up the reports of a run and forgets them.
    Outcome outcome(int steps);
    Scene scene() const;

  private:
    struct Entry {
        RunSummary summary;
        std::vector<RowBudget> rows;
    };
    const Layout& layout_;
    mutable std::mutex mutex_; // guards all below
    std::vector<Entry> entries_;
    std::size_t reported_ = 0;
    std::vector<double> air_, sea_;
    std::size_t missing_ = 0; // temperatures
};

void print(const Options& options, const Layout& layout, const Experiment& experiment,
           const Outcome& outcome);

} // namespace climate
