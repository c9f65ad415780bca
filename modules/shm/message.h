// SPDX-License-Identifier: BSD-3-Clause
// A message that the host sends: its pieces, which stay the host's, and the host's name for it.
#pragma once

#include "plexus/module/abi.h"

#include <cstddef>
#include <cstdint>

namespace plexus::shm {

struct Message {
    const plexus_view* pieces; ///< at least one
    std::uint32_t count;
    std::size_t size; ///< of all pieces, bytes
    void* token;

    /// Bytes of the first piece, which the receiver's host sees before it names a place for the others.
    std::size_t head_size() const noexcept { return pieces[0].size; }
    /// Bytes behind the head.
    std::size_t rest() const noexcept { return size - head_size(); }
    /// What `eager` counts: all, but for a head of the runtime's.
    std::size_t body_size() const noexcept {
        return count > 1 && head_size() <= PLEXUS_HEAD_MAX ? rest() : size;
    }
};

} // namespace plexus::shm
