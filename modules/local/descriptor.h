// SPDX-License-Identifier: BSD-3-Clause
// The bytes by which contexts of one process know each other: boot id, process token,
// context id. Pure values.
#pragma once

#include "common/surroundings.h"
#include "local/registry.h"

namespace plexus::local {

struct Descriptor {
    static constexpr std::size_t kBytes = 48;

    std::array<std::uint8_t, 16> boot{};
    ProcessToken process{};
    plexus_id context{};

    static Descriptor of(const plexus_id& context) {
        return {module::surroundings().boot, Registry::of_process().token(), context};
    }
    /// False: these bytes are no descriptor.
    static bool read(plexus_view bytes, Descriptor& out) {
        if (bytes.size != kBytes) return false;
        const auto* from = static_cast<const std::uint8_t*>(bytes.data);
        std::memcpy(out.boot.data(), from, 16);
        std::memcpy(out.process.data(), from + 16, 16);
        std::memcpy(out.context.bytes, from + 32, 16);
        return true;
    }
    void write(char* out) const {
        std::memcpy(out, boot.data(), 16);
        std::memcpy(out + 16, process.data(), 16);
        std::memcpy(out + 32, context.bytes, 16);
    }
};

} // namespace plexus::local
