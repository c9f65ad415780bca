// SPDX-License-Identifier: BSD-3-Clause
// Remote memory access: UCX moves bytes between our memory and a peer's, by a key that the peer
// has packed. A key as it travels: the address of the memory over there, then UCX's part.
#pragma once

#include "ucx/operations.h"

namespace plexus::ucx {

/// Memory that peers may reach.
struct MemoryRegion {
    ucp_mem_h handle = nullptr;
};

class RemoteKeys final : public message_link::RemoteMemory {
  public:
    /// `port`: whose lock this is under. `least`: bytes from which on UCX moves memory; 0: never.
    RemoteKeys(const plexus_host& host, message_link::Port& port, const Library& library,
               Operations& operations, std::uint64_t least)
      : host_(host)
      , port_(port)
      , library_(library)
      , operations_(operations)
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

    const plexus_host& host_;
    message_link::Port& port_;
    const Library& library_;
    Operations& operations_;
    const std::uint64_t least_;
    std::vector<Key*> keys_;
};

} // namespace plexus::ucx
