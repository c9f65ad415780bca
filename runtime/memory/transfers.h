// SPDX-License-Identifier: BSD-3-Clause
// Bulk memory: put and get on bound spans. If the method can, it moves the bytes by itself, with a remote key
// that the owner has leased; otherwise they travel in messages, whose data is received in place. No code of
// the owner's program runs.
#pragma once

#include "memory/region_leases.h"
#include "memory/remote_key_cache.h"
#include "request/dispatcher.h"

namespace plexus::memory {

/// Answers for one context's bound memory. @thread progress
class Transfers final : public request::Extension, public RemoteKeyCache::Carrier {
  public:
    explicit Transfers(request::Dispatcher& dispatcher)
      : dispatcher_(dispatcher)
      , client_(dispatcher.client())
      , objects_(dispatcher.server().objects())
      , leases_(objects_)
      , remote_keys_(*this) {}

    /// Registers the handlers of the frame kinds of transfers and leases. @thread setup
    void serve(transport::Transport& transport);

    /// See RegionLeases. @thread any
    std::shared_ptr<request::Attached> allocate(std::size_t bytes, void*& memory) {
        return leases_.allocate(*endpoint_, bytes, memory);
    }
    /// Starts a transfer by remote key or by message; `in_order`: it arrives before later messages. @thread
    /// any
    void start(detail::Route& route, Transfer transfer, bool in_order, Deadline deadline,
               std::shared_ptr<detail::CallState> state);

    // request::Extension
    void peer_lost(const transport::Peer& peer) override;
    void calls_lost(const transport::Channel& via) override { remote_keys_.requests_lost(via); }
    void calls_moved(const transport::Channel& from, transport::Channel& to) override {
        remote_keys_.requests_moved(from, to);
    }
    bool awaits(const transport::Channel& via) override { return remote_keys_.awaits(via); }

    // RemoteKeyCache::Carrier
    bool begins(const transport::Peer& peer, std::uint64_t call) override;
    void has_failed(const transport::Peer& peer, std::uint64_t call) override;
    void is_over(const transport::Peer& peer, std::uint64_t call) override;
    void by_message(transport::Channel& to, const Transfer& transfer) override;

  private:
    using Slot = request::Objects::Slot;

    Slot* enter(transport::Link& from, const wire::BulkHeader& header);
    void take_put(transport::Link& from, wire::View frame);
    void take_get(transport::Link& from, wire::View frame);
    void take_data(transport::Link& from, wire::View frame);
    bool place_put(transport::Link& from, wire::View head, std::size_t rest, transport::Placement& placement,
                   void** where);
    bool place_data(transport::Link& from, wire::View head, std::size_t rest, transport::Placement& placement,
                    void** where);
    void take_from_lost(transport::Link& from, std::uint64_t call);
    void answer(transport::Channel& to, std::uint64_t call, Status status, std::string_view why);

    request::Dispatcher& dispatcher_;
    request::Client& client_;
    request::Objects& objects_;
    transport::Endpoint* endpoint_ = nullptr; ///< set by serve()
    RegionLeases leases_;
    RemoteKeyCache remote_keys_;
};

} // namespace plexus::memory
