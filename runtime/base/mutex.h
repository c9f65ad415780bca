// SPDX-License-Identifier: BSD-3-Clause
// Mutexes with ranks and thread-safety annotations. Locks are taken in rising rank (debug builds abort
// otherwise). Mutexes of modules and tools (base/lock.h) have no rank. Ranks in use (the lint test `ranks`
// compares):
// 9 eco/group/mailbox.cpp: contexts that have groups
// 10 eco/group/mailbox.h, eco/group/monitor.h, eco/group/group_state.h, eco/group/planner.h: groups
// 10 eco/group/call_table.h, eco/group/failure_detector.h: a group's calls, members asked after
// 11 eco/host/shared_memory.cpp, eco/group/adaptation.h: what this process has mapped, what a group measured
// 13 context/added_modules.h: settings of modules that came later, refused modules
// 14 transport/route.h: a pointer's preferences
// 15 forward/hub.cpp: the hubs of this process
// 16 context/closing_actions.h, context/shown_groups.h: what happens before a context closes, its groups
// 17 bootstrap/manager/managed_job.cpp: what the process manager said
// 18 transport/endpoint.h: table of peers, policy of the context
// 19 bootstrap/job.cpp: the job's key
// 20 transport/peer.h, bootstrap/registry.h, bootstrap/local_directory.cpp, bootstrap/server.cpp: states
// 21 request/handler_table.h, request/reporter.h: what the program has installed
// 22 request/names.cpp: numbers of request names
// 24 request/objects.h: handles of bound objects
// 25 forward/hub.h, forward/renewals.h: what may be relayed, who relays now
// 26 memory/remote_key_cache.h: remote keys of peers' memory
// 27 memory/region_leases.h: leases of bound memory to peers
// 30 transport/channel.h: a channel
// 31 forward/sender.h: messages that wait to leave
// 32 forward/module.h: links of the method
// 33 forward/receiver.h: where a message's bytes go
// 34 transport/datagrams.h: links of a method that loses messages
// 35 transport/endpoint.h: channels that want attention, the own table
// 36 transport/memory_regions.h: memory that peers may reach
// 40 request/calls.h: calls that wait
// 41 request/waiting_requests.h: requests that have not begun
// 50 poll/followers.h: what threads that follow a leader have heard
// 51 poll/scheduler.h: who polls next
// 52 request/pool.cpp: tasks of threaded handlers
// 60 base/log.cpp: where lines of the log go
// 70 base/crypto.cpp: OpenSSL
// 90 base/buffer.cpp: memory kept for reuse
#pragma once

#include "base/lock.h"

#include <atomic>

namespace plexus {

#if defined(NDEBUG)
inline void rank_taken(int) noexcept {}
inline void rank_released(int) noexcept {}
#else
/// Aborts with a message if this thread already holds a lock of the same or a higher rank.
__attribute__((visibility("default"))) void rank_taken(int rank) noexcept;
__attribute__((visibility("default"))) void rank_released(int rank) noexcept;
#endif

class ConditionVariable;

template <int Rank>
class PLEXUS_CAPABILITY("mutex") RankedMutex {
  public:
    void lock() PLEXUS_ACQUIRE() {
        rank_taken(Rank);
        mutex_.lock();
    }
    void unlock() PLEXUS_RELEASE() {
        mutex_.unlock();
        rank_released(Rank);
    }

  private:
    friend class ConditionVariable;
    std::mutex mutex_;
};

/// Held for tens of nanoseconds only. Spins, then gives the processor away.
template <int Rank>
class PLEXUS_CAPABILITY("mutex") RankedSpinlock {
  public:
    void lock() noexcept PLEXUS_ACQUIRE() {
        rank_taken(Rank);
        // [take] pairs with [give] in unlock(): what the last holder wrote is seen here.
        while (taken_.exchange(true, std::memory_order_acquire)) wait();
    }
    void unlock() noexcept PLEXUS_RELEASE() {
        taken_.store(false, std::memory_order_release); // [give]
        rank_released(Rank);
    }

  private:
    void wait() noexcept;
    std::atomic<bool> taken_{false};
};

/// Yields the processor after a short spin: the holder may have lost its core.
void spin_pause(unsigned& round) noexcept;

template <int Rank>
void RankedSpinlock<Rank>::wait() noexcept {
    unsigned round = 0;
    while (taken_.load(std::memory_order_relaxed)) spin_pause(round);
}

} // namespace plexus
