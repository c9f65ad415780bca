// SPDX-License-Identifier: BSD-3-Clause
// The right to copy into the memory that the host's place() gave for messages of one link. The host revokes
// it when it gives the link up, and may then use the memory for something else.
#pragma once

#include "base/lock.h"

#include <cstddef>
#include <cstring>

namespace plexus::message_link {

class WriteAccess {
  public:
    /// Copies `size` bytes to the host's memory `to`, unless access was revoked. @thread progress
    void copy(std::byte* to, const std::byte* from, std::size_t size) {
        const Lock hold(mutex_);
        if (!revoked_) std::memcpy(to, from, size);
    }
    /// When it returns no copy is under way, and none begins any more. @thread any
    void revoke() {
        const Lock hold(mutex_);
        revoked_ = true;
    }

  private:
    Mutex mutex_; // held while bytes are copied, so that revoke() waits for them
    bool revoked_ PLEXUS_GUARDED_BY(mutex_) = false;
};

} // namespace plexus::message_link
