// SPDX-License-Identifier: BSD-3-Clause
// How many counted messages a link may have under way, both ways. The receiver says in every
// header how many it has taken so far; the sender stops when `window` of them are untaken.
// The receiver counts what arrives, so that a peer that does not stop is noticed. All counts are modulo 2^16,
// and a window is at most half of that.
//
// What is sent is counted under the lock of the link's port, what arrives by the progress thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace plexus::message_link {

class Credit {
  public:
    /// The peer's window, once it is known.
    void open(std::uint16_t window) noexcept { window_ = window; }

    // Under the port's lock.
    bool may_send() const noexcept {
        return static_cast<std::uint16_t>(sent_ - acknowledged_.load(std::memory_order_relaxed)) < window_;
    }
    void count_sent() noexcept { ++sent_; }
    std::uint16_t taken() const noexcept { return taken_.load(std::memory_order_relaxed); }
    void told(std::uint16_t taken) noexcept { told_.store(taken, std::memory_order_relaxed); }

    // @thread progress
    /// The peer says how many it has taken. An older value than the last is ignored: ports may
    /// change the order of messages. A peer that says too much gives up its own window.
    void acknowledge(std::uint16_t taken) noexcept {
        const std::uint16_t before = acknowledged_.load(std::memory_order_relaxed);
        if (static_cast<std::uint16_t>(taken - before) < 0x8000)
            acknowledged_.store(taken, std::memory_order_relaxed); // [acknowledged]
    }
    /// One more came. False: the peer has sent more than it was allowed, by what it was told.
    bool arrive(std::uint16_t own_window) noexcept {
        ++arrived_;
        return static_cast<std::uint16_t>(arrived_ - told_.load(std::memory_order_relaxed)) <= own_window;
    }
    /// One more was taken. True: the peer has to be told by a message of its own, because half
    /// of the own window was taken since it was told.
    bool take(std::uint16_t own_window) noexcept {
        const auto taken = static_cast<std::uint16_t>(taken_.load(std::memory_order_relaxed) + 1);
        taken_.store(taken, std::memory_order_relaxed); // [taken]
        const auto untold = static_cast<std::uint16_t>(taken - told_.load(std::memory_order_relaxed));
        return untold >= std::max(own_window / 2, 1);
    }

  private:
    std::uint16_t window_ = 0;
    std::uint16_t sent_ = 0;
    std::uint16_t arrived_ = 0; // written by the progress thread alone
    // [acknowledged] Written by the progress thread, read by senders. Relaxed: an older value means
    // less room, and a sender that found none is looked at again in each turn.
    std::atomic<std::uint16_t> acknowledged_{0};
    // [taken] Ditto, for the next header. Relaxed: an older value is only less.
    std::atomic<std::uint16_t> taken_{0};
    // Written under the port's lock. The progress thread takes that lock to receive, so it sees
    // what the peer was told before the peer could make use of it.
    std::atomic<std::uint16_t> told_{0};
};

} // namespace plexus::message_link
