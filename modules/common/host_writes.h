// SPDX-License-Identifier: BSD-3-Clause
// What a link's method writes into memory that the host named for its messages, until the host gives the link
// up. After `disconnect` the host may free that memory at once, so the two sides take one lock.
#pragma once

#include "base/lock.h"

namespace plexus::module {

class HostWrites {
  public:
    /// Calls `write`, which writes to memory of the host. False: it was stopped, and `write` was not called.
    /// @thread progress
    template <class Write>
    [[nodiscard]] bool try_write(Write&& write) {
        const Lock hold(mutex_);
        if (stopped_) return false;
        write();
        return true;
    }

    /// Returns when no write is under way; none begins afterwards. What the caller stored before is seen by
    /// whoever finds that the writes were stopped. @thread any
    void stop() {
        const Lock hold(mutex_);
        stopped_ = true;
    }

  private:
    Mutex mutex_;
    bool stopped_ PLEXUS_GUARDED_BY(mutex_) = false;
};

} // namespace plexus::module
