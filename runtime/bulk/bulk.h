// SPDX-License-Identifier: BSD-3-Clause
// Bulk memory: put and get on bound spans. Where the method can, it moves the bytes by itself, with
// a key that the owner lends; else they travel as messages whose rest lands in place. Nothing of
// the owner's program runs.
#pragma once

#include "bulk/borrower.h"
#include "bulk/lender.h"
#include "request/dispatcher.h"

namespace plexus::bulk {

/// Answers for one context's bound memory. @thread progress
class Bulk final : public request::Extension, public Borrower::Carrier {
  public:
    explicit Bulk(request::Dispatcher& dispatcher)
      : dispatcher_(dispatcher)
      , lender_(dispatcher.objects())
      , borrower_(*this) {}

    /// Registers the kinds that it understands. @thread setup
    void serve(comm::Exchange& exchange);

    /// See Lender. @thread any
    std::shared_ptr<request::Attached> allocate(std::size_t bytes, void*& memory) {
        return lender_.allocate(*exchange_, bytes, memory);
    }
    /// Any way that suits; `in_order`: before what is sent after it. @thread any
    void start(detail::Route& route, Transfer transfer, bool in_order,
               std::shared_ptr<detail::CallState> state);

    void peer_lost(const comm::Peer& peer) override;

    // Borrower::Carrier
    void is_over(const comm::Peer& peer, std::uint32_t call) override;
    void by_message(comm::Object& to, const Transfer& transfer) override;

  private:
    using Slot = request::Objects::Slot;

    Slot* enter(comm::Connection& from, const wire::BulkHeader& header);
    void take_put(comm::Connection& from, wire::View frame);
    void take_get(comm::Connection& from, wire::View frame);
    void take_data(comm::Connection& from, wire::View frame);
    bool place_put(comm::Connection& from, wire::View head, std::size_t rest, comm::Placement& placement,
                   void** where);
    bool place_data(comm::Connection& from, wire::View head, std::size_t rest, comm::Placement& placement,
                    void** where);
    void answer(comm::Object& to, std::uint32_t call, Status status, std::string_view why);

    request::Dispatcher& dispatcher_;
    comm::Exchange* exchange_ = nullptr; ///< set by serve()
    Lender lender_;
    Borrower borrower_;
};

} // namespace plexus::bulk
