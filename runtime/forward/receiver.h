// SPDX-License-Identifier: BSD-3-Clause
// Pieces become messages again: small ones are delivered, large ones are put where the host says. Leader
// only, except give_up().
#pragma once

#include "base/mutex.h"
#include "forward/hop.h"
#include "plexus/module/abi.h"

namespace plexus::forward {

class Receiver {
  public:
    Receiver(const plexus_host& host, std::uint64_t max_message)
      : host_(host)
      , max_message_(max_message) {}

    /// Takes the next piece. False: no honest sender sends that now.
    bool take(void* cookie, const Hop& hop) PLEXUS_EXCLUDES(place_mutex_);
    /// Takes a piece without a word to the host: finish() has to follow. False: take() says what to do with
    /// it.
    bool store(const Hop& hop) PLEXUS_EXCLUDES(place_mutex_);
    /// Tells the host of the message whose pieces were stored: that it is whole, or that it comes. True: it
    /// is whole.
    bool finish(void* cookie) PLEXUS_EXCLUDES(place_mutex_);
    /// The host's places are void: nothing is written there any more when this returns. @thread any
    void give_up() PLEXUS_EXCLUDES(place_mutex_);
    /// The link is over: ends a placement.
    void end(void* cookie) PLEXUS_EXCLUDES(place_mutex_);

  private:
    bool begin(void* cookie, const Hop& hop);
    void put(wire::View bytes) PLEXUS_EXCLUDES(place_mutex_);
    void tell(void* cookie, std::int32_t status) PLEXUS_EXCLUDES(place_mutex_);

    const plexus_host& host_;
    const std::uint64_t max_message_;
    std::uint64_t missing_ = 0; ///< bytes of the message under way that have not come
    bool stored_ = false;       ///< pieces that the host does not know of
    RankedMutex<33> place_mutex_;
    std::byte* where_ PLEXUS_GUARDED_BY(place_mutex_) = nullptr; ///< null: the bytes are dropped
    void* token_ PLEXUS_GUARDED_BY(place_mutex_) = nullptr;
    bool placing_ PLEXUS_GUARDED_BY(place_mutex_) = false; ///< `placed` is owed
    bool given_up_ PLEXUS_GUARDED_BY(place_mutex_) = false;
};

} // namespace plexus::forward
