// SPDX-License-Identifier: BSD-3-Clause
// Large messages by remote reads: memory of this side that peers may read, and this side's reads of theirs.
// From open() to close() the endpoint takes reads; those that are under way at close() are still told.
//
// Under the endpoint's lock.
#pragma once

#include "libfabric/memory.h"
#include "libfabric/page.h"

#include <deque>
#include <memory>

namespace plexus::libfabric {

class Fetches final : public message_link::Fetching {
  public:
    /// `page`: the own one, on which peers of this host see whether memory is unchanged.
    Fetches(const plexus_host& host, std::shared_ptr<Page> page);

    /// `most_message`: the provider's limit. `on_host`: peers are processes of this host. @thread setup
    void open(fid_ep* endpoint, const MemoryRules& rules, std::size_t most_message, bool on_host);
    void close() noexcept { endpoint_ = nullptr; }

    /// The provider is through with a read; `out.why` says what failed. `out` is its event.
    void completed(Op& op, message_link::Event& out);
    std::size_t under_way() const noexcept { return under_way_; }

    bool may_offer(const message_link::Peer& peer) const override;
    bool offer(const plexus_view& memory, message_link::Registration& out,
               message_link::Stretch& stretch) override;
    std::uint32_t revision(std::uint32_t slot) const override { return page_->revision(slot); }
    void revise(std::uint32_t slot) override { page_->revise(slot); }
    message_link::Outcome prepare(void* memory, std::size_t size, message_link::Registration& out,
                                  void*& handle, std::string& why) override;
    std::size_t most_bytes() const override { return most_bytes_; }
    message_link::Outcome fetch(message_link::Peer& peer, std::byte* where, std::size_t size, void* handle,
                                const message_link::Stretch& from, std::string& why) override;

  private:
    std::uint64_t random_key() const;

    const plexus_host& host_;
    const std::shared_ptr<Page> page_;
    fid_ep* endpoint_ = nullptr; // null: closed
    MemoryRules rules_;
    std::size_t most_bytes_ = 0; // of one read
    bool on_host_ = false;
    std::deque<Op> ops_; // never shrinks: the provider may hold on to them
    std::vector<Op*> free_;
    std::size_t under_way_ = 0;
};

} // namespace plexus::libfabric
