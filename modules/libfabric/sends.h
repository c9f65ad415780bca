// SPDX-License-Identifier: BSD-3-Clause
// Messages from one endpoint: how their bytes are put together, and which of them are under way. A small
// message is out when the call returns. A larger one has a buffer until its completion, and counts as sending
// for its peer and for the peer's contact until then.
//
// Under the endpoint's lock.
#pragma once

#include "libfabric/memory.h"
#include "libfabric/peer.h"

#include <optional>

namespace plexus::libfabric {

class Sends {
  public:
    /// `bytes`: of the largest message with its header. `inject`: the most that the provider copies during
    /// the call. @thread setup
    void open(const MemoryRules& rules, std::size_t bytes, std::size_t inject);

    /// Sends a header and `size` bytes in pieces, copying them. Zero, or an error code of libfabric's.
    int send(fid_ep* from, FabricPeer& peer, const message_link::Header& header, const plexus_view* pieces,
             std::uint32_t count, std::size_t size);
    /// The provider is through with `buffer`; `out.why` says what failed. True: `out` is an event for its
    /// peer. The contact may be tidied up now.
    bool completed(Buffer& buffer, message_link::Event& out);
    /// The peer is about to be freed; what is under way for it stays counted for its contact.
    void forget(const FabricPeer& peer);
    std::size_t under_way() const noexcept { return under_way_; }

  private:
    std::optional<Buffers> buffers_;
    std::vector<std::byte> block_; // where small messages are put together
    std::size_t under_way_ = 0;
};

} // namespace plexus::libfabric
