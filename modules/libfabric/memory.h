// SPDX-License-Identifier: BSD-3-Clause
// Memory that a provider may use: registrations, and buffers of one size that are cut from
// registered slabs. Buffers are also what the provider's contexts are kept in: it hands them
// back with each completion. Not thread-safe; the port's lock covers it.
#pragma once

#include "message_link/port.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <rdma/fi_domain.h>
#include <string>
#include <vector>

namespace plexus::libfabric {

class FabricPeer;
struct Contact;

struct CloseFid {
    template <class Fid>
    void operator()(Fid* fid) const noexcept {
        fi_close(&fid->fid);
    }
};
template <class Fid>
using Owned = std::unique_ptr<Fid, CloseFid>;
using MemoryRegion = Owned<fid_mr>;

/// What a provider carries from a call to its completion.
struct Op {
    enum class What : std::uint8_t { receive, send, fetch };

    fi_context2 context{}; // the provider's, while it has the operation
    What what = What::receive;
    FabricPeer* peer = nullptr; ///< of sends and fetches; null: it is gone
    Contact* contact = nullptr; ///< of sends; it lives as long as they are under way
    std::size_t size = 0;       ///< of what is fetched

    static Op& of(void* handed_back) noexcept { return *static_cast<Op*>(handed_back); }
};
static_assert(offsetof(Op, context) == 0);

struct Buffer : Op, message_link::Message {
    std::byte* bytes = nullptr; ///< 64-byte aligned
    void* handle = nullptr;     ///< the provider's, where memory must be registered to be used
};

/// How a provider wants its memory registered (FI_MR_*).
struct MemoryRules {
    fid_domain* domain = nullptr;
    fid_ep* endpoint = nullptr; ///< to bind registrations to; null: not wanted
    bool local = false;         ///< also what only we use
    bool virtual_addresses = false;
    bool own_keys = true; ///< we choose them
    std::size_t key_bytes = 8;
};

/// Zero and a registration, or an error code of libfabric's.
int register_memory(const MemoryRules& rules, const void* memory, std::size_t size, std::uint64_t access,
                    std::uint64_t key, MemoryRegion& out);

class Buffers {
  public:
    Buffers(const MemoryRules& rules, std::size_t bytes, Op::What what);
    ~Buffers();

    /// Null: no more memory can be had, or registered.
    Buffer* take();
    void give_back(Buffer* buffer) { free_.push_back(buffer); }
    /// No buffer names that peer any more.
    void forget(const FabricPeer& peer);

  private:
    struct FreeMemory {
        void operator()(std::byte* memory) const noexcept {
            ::operator delete (memory, std::align_val_t{64});
        }
    };
    struct Slab {
        std::unique_ptr<std::byte, FreeMemory> memory;
        MemoryRegion registration; // ends before the memory does
        std::unique_ptr<Buffer[]> buffers;
    };
    static constexpr std::size_t kOfSlab = 16;
    bool grow();

    const MemoryRules rules_;
    const std::size_t bytes_; // of one, a multiple of 64
    const Op::What what_;
    std::vector<Slab> slabs_;
    std::vector<Buffer*> free_;
};

} // namespace plexus::libfabric
