// SPDX-License-Identifier: BSD-3-Clause
// Small messages that are sent while the messages of one read are handed over leave together at the end of
// the read: whoever answers many calls at a time makes a system call for all answers on a link. An answer is
// not to wait for handlers that take long, so messages are gathered only while handlers are quick.
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
    /// So long may a message take to be handed over, on average, that those sent meanwhile are gathered in
    /// the next read.
    static constexpr auto kQuick = std::chrono::microseconds(10);

    /// What the calling thread sends now is gathered until end(). @thread any
    bool gathers() const noexcept {
        const std::thread::id gathering = thread_.load(std::memory_order_relaxed);
        return gathering != std::thread::id() && gathering == std::this_thread::get_id();
    }

    // @thread progress
    /// Several messages of one read are handed over from now on. False: they are part of such already.
    bool begin();
    /// So many have been. Writes what was gathered.
    void end(std::uint32_t messages);
    /// `link` holds what was sent.
    void add(Link& link) { links_.push_back(&link); }
    /// `link` is closed.
    void remove(const Link& link) { std::erase(links_, &link); }

  private:
    std::vector<Link*> links_;
    Clock::time_point begun_{};
    bool under_way_ = false;
    bool quick_ = false;
    std::atomic<std::thread::id>
        thread_{}; // written by the progress thread, compared by each sender with itself
};

} // namespace plexus::stream_link
