// SPDX-License-Identifier: BSD-3-Clause
// Calls that wait for an answer: a small number for each, given back when it comes. The
// number holds a generation, so that a late answer never ends another call.
#pragma once

#include "base/mutex.h"
#include "base/result.h"
#include "plexus/future.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace plexus::comm {
class Peer;
}

namespace plexus::request {

class Calls {
  public:
    struct Entry {
        std::shared_ptr<detail::CallState> state;
        const comm::Peer* peer = nullptr;
        std::span<std::byte> into{}; ///< where the answer's bytes belong; bulk only
    };

    explicit Calls(std::size_t most)
      : most_(std::min<std::size_t>(most, kMost)) {}

    /// @error again as many calls wait as limits.calls allows
    Result<std::uint32_t> add(Entry entry) PLEXUS_EXCLUDES(mutex_);
    /// Takes the call out; an empty entry if there is none of that number for that peer.
    Entry take(std::uint32_t number, const comm::Peer* peer) PLEXUS_EXCLUDES(mutex_);
    /// Where the answer belongs; empty if there is no such call.
    std::span<std::byte> destination(std::uint32_t number, const comm::Peer* peer) const
        PLEXUS_EXCLUDES(mutex_);
    /// Takes out all calls to one peer.
    std::vector<Entry> take_all(const comm::Peer* peer) PLEXUS_EXCLUDES(mutex_);
    bool awaits(const comm::Peer* peer) const PLEXUS_EXCLUDES(mutex_);

  private:
    static constexpr unsigned kSlotBits = 20;
    static constexpr std::size_t kMost = std::size_t{1} << kSlotBits;
    struct Slot {
        Entry entry;
        std::uint32_t generation = 0;
    };
    const Slot* find(std::uint32_t number, const comm::Peer* peer) const PLEXUS_REQUIRES(mutex_);
    Entry free(std::size_t slot) PLEXUS_REQUIRES(mutex_);

    const std::size_t most_;
    mutable RankedSpinlock<40> mutex_;
    std::vector<Slot> slots_ PLEXUS_GUARDED_BY(mutex_);
    std::vector<std::uint32_t> free_ PLEXUS_GUARDED_BY(mutex_);
};

} // namespace plexus::request
