// SPDX-License-Identifier: BSD-3-Clause
// Small messages that are sent while the messages of one read are handed over leave together: whoever answers
// many calls at a time makes one system call for all answers on a link. An answer is not to wait for handlers
// that take long, so messages are coalesced only while handlers are quick.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace plexus::stream_link {

class Link;

class Coalescer {
  public:
    using Clock = std::chrono::steady_clock;
    /// If handing over took at most this long for each message of a batch, the next batch coalesces. Twice as
    /// long if this batch did not: then a system call for each answer is part of the time.
    static constexpr auto kQuick = std::chrono::microseconds(10);
    /// A batch that takes longer coalesces no more.
    static constexpr auto kLate = std::chrono::microseconds(100);

    /// The messages of one read, while they are handed over. @thread progress
    class Batch {
      public:
        explicit Batch(Coalescer& coalescer) noexcept;
        /// What waits is written by the next turn if the batch was not ended.
        ~Batch();
        Batch(const Batch&) = delete;
        Batch& operator=(const Batch&) = delete;

        /// What is sent now waits.
        bool coalesces() const noexcept { return coalescer_.coalesces(); }
        /// So many more were handed over. What waits is written if it is late.
        void handed_over(std::uint32_t messages);
        /// Writes what waits.
        void end();

      private:
        Coalescer& coalescer_;
        const bool coalesced_; // from its beginning
        const Clock::time_point begun_;
        std::uint32_t messages_ = 0;
    };

    /// What the calling thread sends now waits. @thread any
    bool coalesces() const noexcept {
        const std::thread::id coalescing = thread_.load(std::memory_order_relaxed);
        return coalescing != std::thread::id() && coalescing == std::this_thread::get_id();
    }

    // @thread progress
    /// `link` has messages that wait.
    void add(Link& link);
    /// `link` is closed.
    void remove(Link& link);
    bool holds() const noexcept { return !links_.empty(); }
    /// Writes what waits, of the link first that was added first.
    void write();

  private:
    void stop() noexcept { thread_.store(std::thread::id(), std::memory_order_relaxed); }

    std::vector<Link*> links_; ///< null: it is closed
    bool quick_ = false;
    // Written by the progress thread. Each sender compares it with itself.
    std::atomic<std::thread::id> thread_{};
};

} // namespace plexus::stream_link
