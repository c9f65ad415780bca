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
    void serve(transport::Transport& transport);

    /// See Lender. @thread any
    std::shared_ptr<request::Attached> allocate(std::size_t bytes, void*& memory) {
        return lender_.allocate(*endpoint_, bytes, memory);
    }
    /// Any way that suits; `in_order`: before what is sent after it. @thread any
    void start(detail::Route& route, Transfer transfer, bool in_order, Deadline deadline,
               std::shared_ptr<detail::CallState> state);

    // request::Extension
    void peer_lost(const transport::Peer& peer) override;
    void calls_lost(const transport::Channel& via) override { borrower_.asked_in_vain(via); }
    void calls_moved(const transport::Channel& from, transport::Channel& to) override {
        borrower_.asks_by(from, to);
    }
    bool awaits(const transport::Channel& via) override { return borrower_.awaits(via); }

    // Borrower::Carrier
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
    transport::Endpoint* endpoint_ = nullptr; ///< set by serve()
    Lender lender_;
    Borrower borrower_;
};

} // namespace plexus::bulk
