// SPDX-License-Identifier: BSD-3-Clause
// Remote memory access: UCX moves bytes between our memory and a peer's, by a key that the peer
// has packed. A key as it travels: the address of the memory over there, then UCX's part.
#pragma once

#include "message_link/port.h"

#include <ucp/api/ucp.h>
#include <vector>

namespace plexus::ucx {

class Worker;
struct Op;
struct UcxPeer;

/// Memory that peers may reach.
struct MemoryRegion {
    ucp_mem_h handle = nullptr;
};

class RemoteKeys final : public message_link::RemoteMemory {
  public:
    RemoteKeys(Worker& worker, std::uint64_t least)
      : worker_(worker)
      , least_(least) {}

    // As in abi.h. @thread any
    std::int32_t register_memory(void*& data, std::size_t size, plexus_text& key, MemoryRegion*& region);
    void deregister_memory(MemoryRegion& region);

    // Under the port's lock.
    std::unique_ptr<message_link::RemoteKey> attach(message_link::Peer& peer, plexus_view key,
                                                    std::int32_t& status) override;
    message_link::Outcome get(message_link::Peer& peer, message_link::RemoteKey& remote, std::uint64_t offset,
                              void* into, std::size_t size, void* token) override;
    message_link::Outcome put(message_link::Peer& peer, message_link::RemoteKey& remote, std::uint64_t offset,
                              const void* from, std::size_t size, void* token) override;
    std::uint64_t least_bytes() const override;
    void end(); ///< destroys all keys: UCX is about to close

  private:
    struct Key;
    message_link::Outcome begin(Op& op, std::initializer_list<ucs_status_ptr_t> requests);

    Worker& worker_;
    const std::uint64_t least_;
    std::vector<Key*> keys_;
};

} // namespace plexus::ucx
