// SPDX-License-Identifier: BSD-3-Clause
// Back-pressure: calls whose answers would find no room wait here, and with them whatever the same peer
// sends behind them, until answers have left (note 0011). Reading goes on meanwhile, so two
// contexts that wait for each other's room both get it. @thread progress
#pragma once

#include "base/buffer.h"
#include "transport/channel.h"
#include "wire/frame.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace plexus::request {

class ParkedRequests {
  public:
    using Clock = std::chrono::steady_clock;

    struct Request {
        std::shared_ptr<transport::Peer> peer; ///< keeps `from`
        transport::Channel* from = nullptr;
        wire::RequestHeader header;
        Buffer memory;
        wire::View frame;
        Clock::time_point expires{}; ///< with a deadline in the header
        std::size_t cost() const noexcept { return sizeof(Request) + frame.size(); }
    };
    /// Of one peer, in order.
    struct Line {
        std::deque<Request> requests;
        std::size_t bytes = 0;    ///< memory of them
        std::size_t answered = 0; ///< bytes of answers since the room was looked at
    };

    /// `most_bytes`: of one peer, as many answers to it may wait.
    explicit ParkedRequests(std::size_t most_bytes) noexcept
      : most_bytes_(most_bytes) {}

    bool must_wait(Line& line, transport::Channel& from, const wire::RequestHeader& header) const {
        if (!line.requests.empty()) [[unlikely]]
            return true;
        return (header.flags & wire::kWantsReply) != 0 && crowded(line, from);
    }
    /// An answer was given at once.
    static void answered(Line& line, std::size_t bytes) noexcept { line.answered += kRecord + bytes; }
    /// False: so many wait already. `owned`: as Sink::take. @error std::bad_alloc (thrown)
    bool add(Line& line, transport::Channel& from, const wire::RequestHeader& header, wire::View frame,
             Buffer* owned);
    /// Gives those to `begin` whose answers find room. How long until it wants to be asked again.
    std::chrono::nanoseconds run(const std::function<void(Request&)>& begin);
    /// At the end: gives at most `most` to `refuse`, whether there is room or not; how many. What `refuse`
    /// throws is logged, and the next one's turn comes.
    std::size_t give_up(const std::function<void(Request&)>& refuse, std::size_t most);
    /// Forgets what waits; how many requests that were.
    std::size_t clear() noexcept;
    /// How many wait. @thread any
    std::size_t count() const noexcept { return count_.load(std::memory_order_acquire); }

  private:
    /// What an answer costs besides its bytes.
    static constexpr std::size_t kRecord = 256;

    // The room is looked at after each 64th part of it only: that takes the lock of the channel.
    bool crowded(Line& line, transport::Channel& by) const {
        if (line.answered < most_bytes_ / 64) [[likely]]
            return false;
        if (transport::is_crowded(by)) return true;
        line.answered = 0;
        return false;
    }

    void take_first(Line& line, const std::function<void(Request&)>& take);
    /// Forgets the places of lines that are empty.
    void leave_empty_lines();

    struct Place {
        std::shared_ptr<transport::Peer> peer; ///< keeps the line
        Line* line;
    };
    const std::size_t most_bytes_;
    std::vector<Place> places_; ///< of peers with requests that wait
    std::chrono::nanoseconds pause_{};
    // A count; zero is stored with release after the last one has begun.
    std::atomic<std::size_t> count_{0};
};

} // namespace plexus::request
