// SPDX-License-Identifier: BSD-3-Clause
// The requester's half of remote memory access: the remote keys of peers' memory, each under a
// lease. The first transfer to a region requests a lease; this transfer and later ones are moved by the
// module with its key. When no transfer is under way the lease is returned, except one that may stay.
// If a lease or a transfer fails, the transfer is carried by messages.
#pragma once

#include "transport/remote_key.h"

#include "base/mutex.h"
#include "plexus/pointer.h"
#include "transport/transport.h"

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

namespace plexus::memory {

/// One get or put; its memory stays valid until its call is over.
struct Transfer {
    wire::Kind kind = wire::Kind::get;
    wire::BulkHeader header; ///< as in the message that may carry it
    std::byte* memory = nullptr;
    std::chrono::steady_clock::time_point expires = std::chrono::steady_clock::time_point::max();
};

class RemoteKeyCache {
  public:
    /// Ends a transfer's call, or carries the transfer by messages.
    class Carrier {
      public:
        virtual ~Carrier() = default;
        /// The bytes may move from now until is_over() or has_failed(). False: the call has ended, nothing
        /// may move.
        virtual bool begins(const transport::Peer& peer, std::uint64_t call) = 0;
        virtual void is_over(const transport::Peer& peer, std::uint64_t call) = 0;
        /// Some bytes may not have moved; by_message() follows.
        virtual void has_failed(const transport::Peer& peer, std::uint64_t call) = 0;
        virtual void by_message(transport::Channel& to, const Transfer& transfer) = 0;
    };

    explicit RemoteKeyCache(Carrier& carrier) noexcept
      : carrier_(carrier) {}
    RemoteKeyCache(const RemoteKeyCache&) = delete;
    RemoteKeyCache& operator=(const RemoteKeyCache&) = delete;

    /// True: the transfer will be ended by the Carrier. False: the caller sends it as a message. @thread any
    bool start(transport::Channel& by, const Transfer& transfer) PLEXUS_EXCLUDES(mutex_);

    // @thread progress
    void take_lease(transport::Link& from, wire::View frame) PLEXUS_EXCLUDES(mutex_);
    void take_recall(transport::Link& from, wire::View frame) PLEXUS_EXCLUDES(mutex_);
    void peer_lost(const transport::Peer& peer) PLEXUS_EXCLUDES(mutex_);
    /// Requests that `via` carried may not have arrived: the transfers that wait for them go as messages.
    void requests_lost(const transport::Channel& via) PLEXUS_EXCLUDES(mutex_);
    void requests_moved(const transport::Channel& from, const transport::Channel& to) PLEXUS_EXCLUDES(mutex_);
    bool awaits(const transport::Channel& via) PLEXUS_EXCLUDES(mutex_);

  private:
    /// After so many transfers a lease that may not stay is returned and requested again: unbinding the
    /// memory need not wait until a long series of transfers ends.
    static constexpr std::uint32_t kMostServed = 256;
    static constexpr std::size_t kMostLeases = 512; ///< above it, unused leases are returned

    struct Lease {
        enum class State : std::uint8_t { requested, held, retired };
        std::uint64_t call = 0;   ///< our number of the request
        std::uint32_t number = 0; ///< the owner's number of the lease
        std::shared_ptr<transport::Peer> peer;
        transport::Channel* channel = nullptr;
        const transport::Channel* requested_by = nullptr; ///< carries the request
        wire::BulkHeader memory;
        State state = State::requested;
        bool stays = false;
        transport::RemoteKey remote_key;
        std::uint32_t served = 0;
        std::uint32_t moving = 0;
        std::vector<Transfer> waiting;
    };
    /// A transfer on its way, piece by piece.
    struct Move : transport::Completion {
        RemoteKeyCache* cache = nullptr;
        Lease* lease = nullptr;
        Transfer transfer;
        // [move] the thread that ends the last piece sees what all other threads have written here.
        std::atomic<std::uint64_t> pieces{1}; ///< under way, plus one while pieces are begun
        std::atomic<bool> failed{false};
    };
    using Name =
        std::tuple<const transport::Channel*, std::uint32_t, std::uint32_t>; ///< channel, handle, generation

    Lease* find(const transport::Channel& channel, const wire::BulkHeader& memory) PLEXUS_REQUIRES(mutex_);
    void request(transport::Channel& by, const Transfer& first, std::uint64_t call) PLEXUS_EXCLUDES(mutex_);
    std::list<Lease> take_out(std::uint64_t call, const transport::Peer& peer) PLEXUS_REQUIRES(mutex_);
    void by_messages(const std::list<Lease>& leases);
    void move(Lease& lease, const Transfer& transfer) PLEXUS_EXCLUDES(mutex_);
    static void piece_over(transport::Completion* posted, Status status);
    void moved(Lease& lease) PLEXUS_EXCLUDES(mutex_);
    std::vector<Transfer> admit(Lease& lease) PLEXUS_REQUIRES(mutex_);
    static void serve(Lease& lease);
    void return_lease(const std::list<Lease>& leases);
    static void return_lease(transport::Channel& to, std::uint32_t number);

    Carrier& carrier_;
    RankedMutex<26> mutex_;
    std::list<Lease> leases_ PLEXUS_GUARDED_BY(mutex_);
    std::map<Name, const transport::Peer*>
        refused_ PLEXUS_GUARDED_BY(mutex_); ///< regions that have no lease by that channel
    std::uint64_t next_ PLEXUS_GUARDED_BY(mutex_) = 0;
};

} // namespace plexus::memory
