// SPDX-License-Identifier: BSD-3-Clause
#include "transport/memory_regions.h"

#include "base/log.h"

#include <algorithm>

namespace plexus::transport {

Result<MemoryRegion> MemoryRegions::add(Interface& interface, void* data, std::size_t size) {
    MemoryRegion made{&interface, data, nullptr, {}};
    made.key.resize(PLEXUS_KEY_MAX);
    plexus_text key{reinterpret_cast<char*>(made.key.data()), made.key.size(), 0};
    const auto status = static_cast<Status>(
        interface.ops.register_memory(interface.instance, &made.data, size, &key, &made.memory));
    if (status != Status::ok)
        return fail(status, "{} can't make {} bytes of memory known to peers: {}", interface.name, size,
                    to_string(status));
    made.key.resize(std::min<std::size_t>(key.size, PLEXUS_KEY_MAX));
    Lock hold(mutex_);
    regions_.push_back({&interface, made.memory});
    return made;
}

void MemoryRegions::remove(const MemoryRegion& region) noexcept {
    {
        Lock hold(mutex_);
        const auto found =
            std::find(regions_.begin(), regions_.end(), std::pair(region.interface, region.memory));
        if (found == regions_.end()) return; // it went with the module
        regions_.erase(found);
    }
    region.interface->ops.deregister_memory(region.interface->instance, region.memory);
}

void MemoryRegions::remove_all() noexcept {
    std::vector<std::pair<Interface*, plexus_memory_region*>> left;
    {
        Lock hold(mutex_);
        left.swap(regions_);
    }
    for (const auto& [interface, memory] : left)
        interface->ops.deregister_memory(interface->instance, memory);
}

} // namespace plexus::transport
