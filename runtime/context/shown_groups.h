// SPDX-License-Identifier: BSD-3-Clause
// Who knows the groups that a context shows among its counters. The runtime has none: a library above does.
#pragma once

#include "base/mutex.h"
#include "plexus/shown_group.h"

namespace plexus::detail {

class ShownGroups {
  public:
    /// Replaces the source. @thread any
    void set(GroupSource source) PLEXUS_EXCLUDES(mutex_) {
        const Lock hold(mutex_);
        source_ = std::move(source);
    }
    /// Calls `show` for each group; what the source throws goes on. @thread any
    void ask(const ShowGroup& show) const PLEXUS_EXCLUDES(mutex_) {
        GroupSource source;
        {
            const Lock hold(mutex_);
            source = source_;
        }
        if (source) source(show);
    }

  private:
    mutable RankedMutex<16> mutex_;
    GroupSource source_ PLEXUS_GUARDED_BY(mutex_);
};

} // namespace plexus::detail
