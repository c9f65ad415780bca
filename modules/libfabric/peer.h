// SPDX-License-Identifier: BSD-3-Clause
// The far end of a link over an endpoint: its address in the endpoint's table, and its page if it is a
// process of this host.
#pragma once

#include "libfabric/contacts.h"
#include "libfabric/page.h"
#include "message_link/port.h"

namespace plexus::libfabric {

class Endpoint;

class FabricPeer final : public message_link::Peer {
  public:
    FabricPeer(message_link::Link& its_link, Endpoint& endpoint, Address its_address,
               const PageAddress& page_address);
    ~FabricPeer() override;

    /// Every peer of an endpoint is one of these.
    static FabricPeer& of(message_link::Peer& peer) noexcept { return static_cast<FabricPeer&>(peer); }
    static const FabricPeer& of(const message_link::Peer& peer) noexcept {
        return static_cast<const FabricPeer&>(peer);
    }

    bool is_seen() const override { return page.is_open(); }
    bool has_ended() const override { return page.process_ended(); }
    std::uint32_t revision(std::uint32_t slot) const override { return page.revision(slot); }

    PeerPage page;
    Contact* contact = nullptr; ///< null: its address is not in the table
    std::size_t sending = 0;    ///< see Sends; under the endpoint's lock

  private:
    Endpoint& endpoint_;
    const Address address_;
    const PageAddress page_address_;
};

} // namespace plexus::libfabric
