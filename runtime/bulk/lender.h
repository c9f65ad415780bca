// SPDX-License-Identifier: BSD-3-Clause
// The owner's half of remote memory access: bound memory is lent to a peer that has transfers
// under way there. Memory of the program's own is pinned meanwhile, so that unbinding waits for
// those transfers and for nothing else. What was allocated here is ours: it may stay lent while
// nothing moves, and lives until the last loan has come back, also after its binding.
#pragma once

#include "base/mutex.h"
#include "request/objects.h"
#include "transport/transport.h"

#include <cstdlib>
#include <memory>
#include <unordered_map>
#include <vector>

namespace plexus::bulk {

class Lender;

/// The ways by which some memory is known to modules, once each.
class Exposures final : public request::Attached {
  public:
    Exposures(Lender& lender, transport::Endpoint& endpoint) noexcept
      : lender_(lender)
      , endpoint_(endpoint) {}
    ~Exposures() override;
    Exposures(const Exposures&) = delete;
    Exposures& operator=(const Exposures&) = delete;

    /// Made on first use; `data` null: allocated. One thread at a time. @error what the module says
    Result<const transport::MemoryRegion*> by(transport::Interface& method, void* data, std::size_t size);
    void unbound() noexcept override;

    bool ours = false;                                                    ///< the memory, too
    std::unique_ptr<std::byte, void (*)(void*)> heap{nullptr, std::free}; ///< where no method allocated it

  private:
    Lender& lender_;
    transport::Endpoint& endpoint_;
    std::vector<transport::MemoryRegion> known_;
};

class Lender {
  public:
    explicit Lender(request::Objects& objects) noexcept
      : objects_(objects) {}

    /// New memory, all zero, by the first method that allocates some, else from the heap.
    /// @error too_large (thrown) @thread any
    std::shared_ptr<request::Attached> allocate(transport::Endpoint& endpoint, std::size_t bytes,
                                                void*& memory);
    /// Asks for the loans of it. @thread any
    void recall(const Exposures& memory) noexcept PLEXUS_EXCLUDES(mutex_);

    // @thread progress
    void take_borrow(transport::Link& from, wire::View frame) PLEXUS_EXCLUDES(mutex_);
    void take_give_back(transport::Link& from, wire::View frame) PLEXUS_EXCLUDES(mutex_);
    /// Nothing of it reaches us any more.
    void peer_lost(const transport::Peer& peer) PLEXUS_EXCLUDES(mutex_);

  private:
    struct Loan {
        request::Objects::Slot* pinned; ///< null: `memory` is kept instead
        std::shared_ptr<Exposures> memory;
        std::shared_ptr<transport::Peer> peer;
        transport::Channel* channel;
    };
    Result<Loan> lend(transport::Link& from, request::Objects::Slot& slot,
                      const transport::MemoryRegion*& exposed);
    static void come_back(Loan& loan) noexcept;

    request::Objects& objects_;
    RankedMutex<27> mutex_;
    std::unordered_map<std::uint32_t, Loan> loans_ PLEXUS_GUARDED_BY(mutex_);
    std::unordered_map<const transport::Peer*, std::size_t> counts_; ///< of its loans; the leader's own
    std::uint32_t next_ = 0;                                         ///< ditto
};

} // namespace plexus::bulk
