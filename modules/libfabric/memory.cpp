// SPDX-License-Identifier: BSD-3-Clause
#include "libfabric/memory.h"

#include <new>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

namespace plexus::libfabric {

int register_memory(const MemoryRules& rules, const void* memory, std::size_t size, std::uint64_t access,
                    std::uint64_t key, MemoryRegion& out) {
    fid_mr* made = nullptr;
    const std::uint64_t wanted = !rules.own_keys ? 0
                                 : rules.key_bytes >= 8
                                     ? key
                                     : key & ((std::uint64_t{1} << 8 * rules.key_bytes) - 1);
    int error = fi_mr_reg(rules.domain, memory, size, access, 0, wanted, 0, &made, nullptr);
    if (error != 0) return error;
    out.reset(made);
    if (rules.endpoint == nullptr) return 0;
    error = fi_mr_bind(made, &rules.endpoint->fid, 0);
    return error != 0 ? error : fi_mr_enable(made);
}

Buffers::Buffers(const MemoryRules& rules, std::size_t bytes, Op::What what)
  : rules_(rules)
  , bytes_((bytes + 63) / 64 * 64)
  , what_(what) {}

Buffers::~Buffers() = default;

Buffer* Buffers::take() {
    if (free_.empty() && !grow()) return nullptr;
    Buffer* const buffer = free_.back();
    free_.pop_back();
    return buffer;
}

void Buffers::forget(const FabricPeer& peer) {
    for (const Slab& slab : slabs_)
        for (std::size_t i = 0; i < kOfSlab; ++i)
            if (slab.buffers[i].peer == &peer) slab.buffers[i].peer = nullptr;
}

bool Buffers::grow() {
    Slab slab;
    slab.memory.reset(
        static_cast<std::byte*>(::operator new (kOfSlab* bytes_, std::align_val_t{64}, std::nothrow)));
    if (!slab.memory) return false;
    if (rules_.local &&
        register_memory(rules_, slab.memory.get(), kOfSlab * bytes_, FI_SEND | FI_RECV,
                        reinterpret_cast<std::uintptr_t>(slab.memory.get()), slab.registration) != 0)
        return false;
    slab.buffers = std::make_unique<Buffer[]>(kOfSlab);
    for (std::size_t i = 0; i < kOfSlab; ++i) {
        Buffer& buffer = slab.buffers[i];
        buffer.what = what_;
        buffer.bytes = slab.memory.get() + i * bytes_;
        buffer.handle = slab.registration ? fi_mr_desc(slab.registration.get()) : nullptr;
        free_.push_back(&buffer);
    }
    slabs_.push_back(std::move(slab));
    return true;
}

} // namespace plexus::libfabric
