// SPDX-License-Identifier: BSD-3-Clause
// Small messages that are sent while the messages of one read are handed over leave together: whoever answers
// many calls at a time makes one system call for all answers on a link. An answer is not to wait for handlers
// that take long, so messages are gathered only while handlers are quick.
#pragma once

#include <algorithm>
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
    /// If handing over took at most this long for each message of a batch, the next batch gathers.
    static constexpr auto kQuick = std::chrono::microseconds(10);
    /// A batch that takes longer gathers no more.
    static constexpr auto kLate = std::chrono::microseconds(100);

    /// The messages of one read, while they are handed over. @thread progress
    class Batch {
      public:
        explicit Batch(Coalescer& of) noexcept;
        /// What was gathered stays where it is if the batch was not ended.
        ~Batch();
        Batch(const Batch&) = delete;
        Batch& operator=(const Batch&) = delete;

        /// What is sent now is gathered.
        bool gathers() const noexcept { return of_ != nullptr && of_->gathers(); }
        /// So many more were handed over. What was gathered is written if it is late.
        void handed_over(std::uint32_t messages);
        /// Writes what was gathered.
        void end();

      private:
        Coalescer* const of_; // null: another batch is under way
        const Clock::time_point begun_;
        std::uint32_t messages_ = 0;
    };

    /// What the calling thread sends now is gathered. @thread any
    bool gathers() const noexcept {
        const std::thread::id gathering = thread_.load(std::memory_order_relaxed);
        return gathering != std::thread::id() && gathering == std::this_thread::get_id();
    }

    // @thread progress
    /// `link` holds what was sent.
    void add(Link& link) {
        if (std::find(links_.begin(), links_.end(), &link) == links_.end()) links_.push_back(&link);
    }
    /// `link` is closed.
    void remove(const Link& link) { std::erase(links_, &link); }
    /// Writes what was gathered.
    void write();

  private:
    void stop() noexcept { thread_.store(std::thread::id(), std::memory_order_relaxed); }

    std::vector<Link*> links_;
    bool under_way_ = false;
    bool quick_ = false;
    std::atomic<std::thread::id>
        thread_{}; // written by the progress thread, compared by each sender with itself
};

} // namespace plexus::stream_link
