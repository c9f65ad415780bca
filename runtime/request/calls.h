// SPDX-License-Identifier: BSD-3-Clause
// Calls that wait for an answer: a slot for each, given back when the answer comes. An id is the
// slot's index and its generation; no id is given twice, so a late answer never ends another call.
#pragma once

#include "base/mutex.h"
#include "base/result.h"
#include "plexus/future.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace plexus::transport {
class Channel;
class Peer;
} // namespace plexus::transport

namespace plexus::request {

class Calls {
  public:
    using Clock = std::chrono::steady_clock;

    struct Entry {
        std::shared_ptr<detail::CallState> state;
        const transport::Peer* peer = nullptr;
        std::span<std::byte> into{}; ///< where the answer's bytes belong; bulk only
        /// The channel that carries the request. Null: none yet, or a module moves the
        /// bytes by itself.
        const transport::Channel* via = nullptr;
        /// The link that carried the request broke, and the method keeps no copies.
        bool doubted = false;
        std::string_view types{}; ///< of the request, for a refusal of its signature
    };

    /// `first_generation` is the generation of new slots: tests begin near the end.
    explicit Calls(std::size_t most, std::uint32_t first_generation = 0)
      : most_(std::min<std::size_t>(most, UINT32_MAX))
      , first_generation_(first_generation) {}

    /// Gives the call an id. @error again as many calls wait as limits.calls allows
    Result<std::uint64_t> add(Entry entry) PLEXUS_EXCLUDES(mutex_);
    /// Takes the call out; an empty entry if no call to that peer has that id.
    Entry take(std::uint64_t id, const transport::Peer* peer) PLEXUS_EXCLUDES(mutex_);
    /// The request is about to be sent by `via`. False: the call has ended meanwhile.
    bool goes_by(std::uint64_t id, const transport::Peer* peer, const transport::Channel* via)
        PLEXUS_EXCLUDES(mutex_);
    /// The call ends at `when`, unless it has before. True: no other deadline is earlier.
    bool expires(std::uint64_t id, Clock::time_point when) PLEXUS_EXCLUDES(mutex_);
    /// Takes out the calls whose deadline has passed; `next` is the earliest of the others, or max().
    std::vector<Entry> take_expired(Clock::time_point now, Clock::time_point& next) PLEXUS_EXCLUDES(mutex_);
    /// How many of them are remembered: those of calls that wait, and not many more.
    std::size_t deadlines() const PLEXUS_EXCLUDES(mutex_);
    /// Where the answer belongs; empty if there is no such call.
    std::span<std::byte> destination(std::uint64_t id, const transport::Peer* peer) const
        PLEXUS_EXCLUDES(mutex_);
    /// Takes out all calls to one peer.
    std::vector<Entry> take_all(const transport::Peer* peer) PLEXUS_EXCLUDES(mutex_);
    /// Takes out the calls whose request went by `via`: all of them, or those that doubt() named.
    std::vector<Entry> take_all_by(const transport::Channel* via, bool only_doubted = false)
        PLEXUS_EXCLUDES(mutex_);
    /// The requests that `via` carried so far may not have arrived.
    void doubt(const transport::Channel* via) PLEXUS_EXCLUDES(mutex_);
    /// What `from` carried is carried by `to` now.
    void moved(const transport::Channel* from, const transport::Channel* to) PLEXUS_EXCLUDES(mutex_);
    bool awaits(const transport::Peer* peer) const PLEXUS_EXCLUDES(mutex_);
    bool awaits_by(const transport::Channel* via) const PLEXUS_EXCLUDES(mutex_);

  private:
    struct Slot {
        Entry entry;
        std::uint32_t generation = 0;
    };
    struct Deadline {
        Clock::time_point when;
        std::uint64_t id;
    };
    bool present(std::uint64_t id) const noexcept PLEXUS_REQUIRES(mutex_);
    const Slot* find(std::uint64_t id, const transport::Peer* peer) const PLEXUS_REQUIRES(mutex_);
    Entry free(std::size_t slot) PLEXUS_REQUIRES(mutex_);

    const std::size_t most_;
    const std::uint32_t first_generation_;
    mutable RankedSpinlock<40> mutex_;
    std::vector<Slot> slots_ PLEXUS_GUARDED_BY(mutex_);
    std::vector<std::uint32_t> free_ PLEXUS_GUARDED_BY(mutex_);
    // A heap, the earliest first. Calls that were answered stay in it until it is twice as long as needed.
    std::vector<Deadline> deadlines_ PLEXUS_GUARDED_BY(mutex_);
    std::size_t retired_ PLEXUS_GUARDED_BY(mutex_) = 0; ///< slots whose generations are used up
};

} // namespace plexus::request
