// SPDX-License-Identifier: BSD-3-Clause
// Memory of this context that peers may reach by a module's own remote access. When they may
// is the memory room's business.
#pragma once

#include "base/mutex.h"
#include "base/result.h"
#include "transport/interface.h"
#include "wire/bytes.h"

#include <utility>
#include <vector>

namespace plexus::transport {

struct MemoryRegion {
    Interface* interface = nullptr;
    void* data = nullptr;
    plexus_memory_region* memory = nullptr;
    wire::Bytes key; ///< for peers
};

/// @thread any
class MemoryRegions {
  public:
    /// `data` null: the module allocates it. @error what the module says
    Result<MemoryRegion> add(Interface& interface, void* data, std::size_t size) PLEXUS_EXCLUDES(mutex_);
    /// Nobody uses it any more; frees what the module allocated. remove_all() does it for what is left.
    void remove(const MemoryRegion& region) noexcept PLEXUS_EXCLUDES(mutex_);
    void remove_all() noexcept PLEXUS_EXCLUDES(mutex_);

  private:
    RankedMutex<36> mutex_;
    std::vector<std::pair<Interface*, plexus_memory_region*>> regions_ PLEXUS_GUARDED_BY(mutex_);
};

} // namespace plexus::transport
