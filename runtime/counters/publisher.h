// SPDX-License-Identifier: BSD-3-Clause
// Shows the counters of one context to whoever of its user asks: a thread that sleeps until somebody does,
// then has the counters read and written into the memory. Who polls and who sends has no part in it, and
// notices nothing. Knows no counter.
#pragma once

#include "base/clock.h"
#include "counters/area.h"

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

namespace plexus::counters {

class Publisher {
  public:
    using Work = std::function<void(Sample&)>;

    /// `work` writes one sample, on the publisher's thread. What it throws is logged, and ends the sample.
    /// @error runtime_lost there is no memory for it, or no thread
    static Result<std::unique_ptr<Publisher>> start(const ContextLabel& label,
                                                    std::span<const TableSpec> tables, Work work);
    /// Stops. It must not be destroyed in a process that was forked from its own: its thread does not exist
    /// there.
    ~Publisher();
    Publisher(const Publisher&) = delete;
    Publisher& operator=(const Publisher&) = delete;

    /// A new sample, for readers in other processes that have this one's word only: the words that decode()
    /// reads, without zeros at the end. @thread any
    /// @error peer_lost after stop() @error timed_out
    Result<std::vector<std::uint64_t>> words(Clock::time_point deadline);
    /// When it returns `work` does not run any more. @thread one
    void stop();

  private:
    Publisher(Area area, Work work);
    void loop() noexcept;
    void answer() noexcept;

    Area area_;
    const Work work_;
    std::atomic<bool> stop_{false};       // pairs with the load in loop()
    std::atomic<std::uint32_t> ended_{0}; // 1: the thread's last word, which ~Publisher() waits for
    std::thread thread_;
};

} // namespace plexus::counters
