// SPDX-License-Identifier: BSD-3-Clause
// The context that measures, against one responder. Main thread only, except where a line says otherwise.
#pragma once

#include "tools/benchmark/options.h"
#include "tools/benchmark/ping_pong.h"
#include "tools/benchmark/progress.h"
#include "tools/benchmark/report.h"

#include <string>
#include <string_view>
#include <utility>

namespace plexus::tools::benchmark {

class Initiator {
  public:
    Initiator(Context& here, const PairOptions& options);
    /// Lets the responder go.
    ~Initiator();
    Initiator(const Initiator&) = delete;
    Initiator& operator=(const Initiator&) = delete;

    Context& here() noexcept { return end_.here(); }
    Participant& end() noexcept { return end_; }
    const PairOptions& options() const noexcept { return options_; }
    Progress& progress() noexcept { return progress_; }
    /// True at the first call: the handlers of streams are to be registered.
    bool begins_streams() noexcept { return !std::exchange(streams_, true); }

    /// Meets the responder's echo number `at`, in both directions by `methods` (empty: as selection finds).
    /// One player for an echo.
    void meet(Player& player, std::size_t at, const std::string& methods);

    /// The best of several rounds of `run(n)`, which returns the seconds of n iterations; `what` is shown
    /// meanwhile.
    Best best_of(const std::string& what, std::uint64_t fewest,
                 const std::function<double(std::uint64_t)>& run);

    /// Of both contexts. nullopt: auto.
    void skip_poll(const std::string& method, SkipPoll turns);
    void confine(const std::string& method, bool confined);
    /// Of this context now; nullopt: auto.
    SkipPoll skip_poll_of(const std::string& method) const;

  private:
    Participant end_;
    const PairOptions& options_;
    Progress progress_;
    bool streams_ = false;
    GlobalPointer<Control> far_;
};

/// Latency for each size; no percentiles in haste.
std::vector<Row> measure_latency(Initiator& end, const std::vector<std::uint64_t>& sizes);

} // namespace plexus::tools::benchmark
