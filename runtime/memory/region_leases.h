// SPDX-License-Identifier: BSD-3-Clause
// The owner's half of remote memory access: gives peers the remote keys of bound memory under leases. A
// lease of the program's own memory pins it, so that unbinding waits for the peers' transfers and for
// nothing else. Memory that was allocated here is ours: its leases may stay while nothing moves, and it
// lives until the last lease is returned, also after its binding has ended.
#pragma once

#include "base/mutex.h"
#include "request/objects.h"
#include "transport/transport.h"

#include <cstdlib>
#include <memory>
#include <unordered_map>
#include <vector>

namespace plexus::memory {

class RegionLeases;

/// The registrations of one piece of memory with modules, at most one for each module.
class Registrations final : public request::Attached {
  public:
    Registrations(RegionLeases& leases, transport::Endpoint& endpoint) noexcept
      : leases_(leases)
      , endpoint_(endpoint) {}
    ~Registrations() override;
    Registrations(const Registrations&) = delete;
    Registrations& operator=(const Registrations&) = delete;

    /// Registers the memory on first use; `data` null: the module allocates it. One thread at a time.
    /// @error as the module's
    Result<const transport::MemoryRegion*> with(transport::Interface& method, void* data, std::size_t size);
    void unbound() noexcept override;

    bool ours = false; ///< the memory was allocated here
    /// The memory, if it was allocated here and by no method.
    std::unique_ptr<std::byte, void (*)(void*)> heap{nullptr, std::free};

  private:
    RegionLeases& leases_;
    transport::Endpoint& endpoint_;
    std::vector<transport::MemoryRegion> regions_;
};

class RegionLeases {
  public:
    explicit RegionLeases(request::Objects& objects) noexcept
      : objects_(objects) {}

    /// New memory, all zero, from the first method that allocates memory, else from the heap.
    /// @error too_large (thrown) @thread any
    std::shared_ptr<request::Attached> allocate(transport::Endpoint& endpoint, std::size_t bytes,
                                                void*& memory);
    /// Asks all peers to return their leases of `memory`. @thread any
    void recall(const Registrations& memory) noexcept PLEXUS_EXCLUDES(mutex_);

    // @thread progress
    void take_request(transport::Link& from, wire::View frame) PLEXUS_EXCLUDES(mutex_);
    void take_return(transport::Link& from, wire::View frame) PLEXUS_EXCLUDES(mutex_);
    /// Ends the peer's leases: none of its transfers reaches our memory any more.
    void peer_lost(const transport::Peer& peer) PLEXUS_EXCLUDES(mutex_);

  private:
    struct Lease {
        request::Objects::Slot* pinned; ///< null: `memory` is kept alive instead
        std::shared_ptr<Registrations> memory;
        std::shared_ptr<transport::Peer> peer;
        transport::Channel* channel;
    };
    Result<Lease> grant(transport::Link& from, request::Objects::Slot& slot,
                        const transport::MemoryRegion*& region);
    static void end(Lease& lease) noexcept;

    request::Objects& objects_;
    RankedMutex<27> mutex_;
    std::unordered_map<std::uint32_t, Lease> leases_ PLEXUS_GUARDED_BY(mutex_);
    std::unordered_map<const transport::Peer*, std::size_t>
        counts_;             ///< leases of each peer; progress thread only
    std::uint32_t next_ = 0; ///< the next lease's number; ditto
};

} // namespace plexus::memory
