// SPDX-License-Identifier: BSD-3-Clause
// Requests that were taken and have not begun: who waits for a thread or for room may hear that nobody
// waits for the answer any more.
#pragma once

#include "base/mutex.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>

namespace plexus::request {

/// The calls of one peer. @thread any
class WaitingRequests {
  public:
    /// Of so many that were cancelled at a time the ids are known. The handlers of others run.
    static constexpr std::size_t kMostCancelled = 65'536;

    void enter() PLEXUS_EXCLUDES(mutex_) {
        Lock hold(mutex_);
        ++waiting_;
    }
    /// The request begins, or is dropped. False: the peer has cancelled it.
    bool leave(std::uint64_t call) PLEXUS_EXCLUDES(mutex_) {
        Lock hold(mutex_);
        const bool wanted = cancelled_.erase(call) == 0;
        if (--waiting_ == 0) cancelled_.clear(); // the others had begun
        return wanted;
    }
    /// The same of a request that is no call.
    bool leave() PLEXUS_EXCLUDES(mutex_) {
        Lock hold(mutex_);
        if (--waiting_ == 0) cancelled_.clear();
        return true;
    }
    void cancel(std::span<const std::uint64_t> calls) PLEXUS_EXCLUDES(mutex_) {
        Lock hold(mutex_);
        if (waiting_ == 0) return;
        for (const std::uint64_t call : calls)
            if (cancelled_.size() < kMostCancelled) cancelled_.insert(call);
    }
    /// For tests.
    std::size_t remembered() const PLEXUS_EXCLUDES(mutex_) {
        Lock hold(mutex_);
        return cancelled_.size();
    }

  private:
    mutable RankedMutex<41> mutex_;
    std::size_t waiting_ PLEXUS_GUARDED_BY(mutex_) = 0;
    std::unordered_set<std::uint64_t> cancelled_ PLEXUS_GUARDED_BY(mutex_);
};

} // namespace plexus::request
