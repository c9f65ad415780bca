// SPDX-License-Identifier: BSD-3-Clause
// What has to happen before a context closes, for those who keep threads or calls of their own beside it.
#pragma once

#include "base/mutex.h"

#include <functional>
#include <vector>

namespace plexus::detail {

class ClosingActions {
  public:
    /// @thread any
    void add(std::function<void()> action) PLEXUS_EXCLUDES(mutex_);
    /// Runs them once, the newest first. What an action throws is logged. @thread that closes the context
    void run() noexcept PLEXUS_EXCLUDES(mutex_);

  private:
    RankedMutex<16> mutex_;
    std::vector<std::function<void()>> actions_ PLEXUS_GUARDED_BY(mutex_);
};

} // namespace plexus::detail
