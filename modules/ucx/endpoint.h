// SPDX-License-Identifier: BSD-3-Clause
// The endpoint to one other worker, with a connection to the peer's liveness socket, and the far end of each
// link that uses it. All links to that worker share one endpoint, because UCX pairs the endpoints of two
// workers by itself, in the order of their creation. It stays until it fails or the port is shut.
#pragma once

#include "base/unique_fd.h"
#include "ucx/op_pool.h"

#include <string>

namespace plexus::ucx {

class Endpoints;

/// For tables of endpoints.
inline std::string key_of(const std::vector<std::uint8_t>& address) {
    return {address.begin(), address.end()};
}

struct Endpoint {
    Endpoint(Endpoints& its_table, std::vector<std::uint8_t> to)
      : table(its_table)
      , address(std::move(to)) {}

    Endpoints& table;
    const std::vector<std::uint8_t> address;

    // Under the port's lock.
    ucp_ep_h handle = nullptr; ///< null once it is being closed
    bool failed = false;
    ucs_status_t status = UCS_OK;
    std::vector<UcxPeer*> peers;

    // The progress thread's.
    UniqueFd liveness;       ///< connection to the peer's LivenessSocket
    bool cut = false;        ///< its owner has gone; what it had sent is still taken
    std::uint32_t asked = 0; ///< how often UCX was asked for news since then
};

/// The far end of a link over an endpoint, with the operations that UCX has for it.
struct UcxPeer final : message_link::Peer {
    UcxPeer(message_link::Link& its_link, Endpoint& its_endpoint)
      : Peer(its_link)
      , endpoint(its_endpoint) {}
    ~UcxPeer() override;

    bool has_ended() const override { return endpoint.cut; }

    void enlist(Op& op) noexcept;
    void take_off(Op& op) noexcept; ///< the reverse of enlist()

    Endpoint& endpoint;
    Op* ops = nullptr;
    std::uint32_t copies = 0; ///< small messages that UCX has yet to send
    std::uint64_t copied_bytes = 0;
    std::uint32_t receiving = 0; ///< receives that write to the host's memory
};

inline UcxPeer& ours(message_link::Peer& peer) { return static_cast<UcxPeer&>(peer); }
inline const UcxPeer& ours(const message_link::Peer& peer) { return static_cast<const UcxPeer&>(peer); }

} // namespace plexus::ucx
