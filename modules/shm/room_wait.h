// SPDX-License-Identifier: BSD-3-Clause
// The waiting of a send that found no room: what it waits for, and that the host hears of the room once.
//
// [blocked] As [gate] in gate.h, with the peer's counters in Direction and its `waiting`. Whoever takes the
// flag back, send() or the poller, acts on it: so `writable` comes once.
#pragma once

#include "shm/gate.h"
#include "shm/layout.h"
#include "shm/posted_sends.h"

namespace plexus::shm {

class RoomWait {
  public:
    static constexpr std::size_t kFlagBytes =
        sizeof(std::atomic<bool>); ///< at its start: what is_waiting() reads

    /// The values of counters from which on a send gets further; 0: it does not wait for that counter.
    struct Wants {
        std::uint64_t consumed = 0; ///< Direction::consumed
        std::uint64_t released = 0; ///< Direction::released
        std::uint64_t ended = 0;    ///< PostedSends::ended
    };

    RoomWait(const Gate& gate, const PostedSends& posted) noexcept
      : gate_(gate)
      , posted_(posted) {}
    /// Before the gate is opened. @thread progress
    void attach(Direction& out) noexcept { out_ = &out; }

    /// True: the send is turned away, and the poller calls `writable` later. False: it has to try again.
    /// @thread send()
    bool begin(const Wants& wants) noexcept;

    // @thread progress

    bool is_waiting(std::memory_order order = std::memory_order_seq_cst) const noexcept {
        return blocked_.load(order);
    }
    /// What the send waits for is there.
    bool may_go_on() const noexcept;
    /// True: the caller calls `writable`. False: send() was faster.
    bool end() noexcept { return blocked_.exchange(false, std::memory_order_seq_cst); }
    /// From now on the peer tells of progress. Look for progress after the call.
    void ask_for_progress() const noexcept;

  private:
    // Written by begin(). [blocked] The flag is first: see Sender.
    std::atomic<bool> blocked_{false};
    std::atomic<std::uint64_t> consumed_{0}, released_{0}, ended_{0};

    const Gate& gate_;
    const PostedSends& posted_;
    Direction* out_ = nullptr;
};

} // namespace plexus::shm
