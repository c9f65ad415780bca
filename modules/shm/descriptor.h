// SPDX-License-Identifier: BSD-3-Clause
// The bytes by which others reach a context over shared memory, and the method's own
// criterion: same boot of the same machine, same network namespace (the socket on which
// peers meet lives there), same user. Pure functions.
#pragma once

#include "common/surroundings.h"
#include "plexus/module/module.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace plexus::shm {

/// Name of an abstract socket, random.
using SocketName = std::array<std::uint8_t, 16>;

struct Descriptor {
    module::Surroundings place;
    std::uint32_t user = 0;
    SocketName socket{};
};

std::vector<std::uint8_t> encode(const Descriptor& descriptor);
/// Empty: damaged, or of another version.
std::optional<Descriptor> decode(plexus_view bytes);

/// Null: messages can go from `here` to `there`; else the reason why not.
const char* why_not(const Descriptor& here, const Descriptor& there);

} // namespace plexus::shm
