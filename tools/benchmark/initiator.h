// SPDX-License-Identifier: BSD-3-Clause
// The end of a measurement that measures: its context, what it knows of the far one, and
// waiting that ends when something has failed. Main thread only, unless a line says other.
#pragma once

#include "tools/benchmark/options.h"
#include "tools/benchmark/progress.h"
#include "tools/benchmark/requests.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>

namespace plexus::tools::bench {

using Clock = std::chrono::steady_clock;

inline double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

class NearEnd {
  public:
    NearEnd(Context& here, const Wish& wish);
    /// Lets the far end go.
    ~NearEnd();
    NearEnd(const NearEnd&) = delete;
    NearEnd& operator=(const NearEnd&) = delete;

    Context& here() noexcept { return here_; }
    const Wish& wish() const noexcept { return wish_; }
    Progress& progress() noexcept { return progress_; }

    /// Makes progress until `done()`. @error what an end could not deliver (thrown)
    void until(const std::function<bool()>& done);

    /// Makes progress for so long. @error as until()
    void run_for(double seconds);

    /// Both ends. nullopt: auto.
    void skip_poll(const std::string& method, SkipPoll turns);
    void confine(const std::string& method, bool confined);
    /// As it is now at this end; nullopt: auto.
    SkipPoll skip_poll_of(const std::string& method) const;

  private:
    void check();

    Context& here_;
    const Wish& wish_;
    Progress progress_;
    GlobalPointer<Control> far_;
    std::mutex mutex_;
    std::string failure_;             // under mutex_
    std::atomic<bool> failed_{false}; // [set] by on_error after failure_
};

/// How many of what `run(n)` does take about one round; `run` gives seconds. The
/// user's own number, after some that are not counted, where there is one.
std::uint64_t warm_up(const Wish& wish, std::uint64_t smallest,
                      const std::function<double(std::uint64_t)>& run);

} // namespace plexus::tools::bench
