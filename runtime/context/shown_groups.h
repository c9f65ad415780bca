// SPDX-License-Identifier: BSD-3-Clause
// Who knows the groups that a context shows among its counters. The runtime has none: libraries above do.
#pragma once

#include "base/mutex.h"
#include "plexus/shown_group.h"

#include <memory>
#include <utility>
#include <vector>

namespace plexus::detail {

class ShownGroups {
  public:
    /// @thread any
    void add(GroupSource source) PLEXUS_EXCLUDES(mutex_) {
        auto added = std::make_shared<const GroupSource>(std::move(source)); // ends outside of the lock
        const Lock hold(mutex_);
        if (!cleared_) sources_.push_back(added);
    }
    /// Calls `show` for each group of each source; what a source throws goes on. @thread any
    void ask(const ShowGroup& show) const PLEXUS_EXCLUDES(mutex_) {
        for (const auto& source : sources()) (*source)(show);
    }
    /// Lets go of all sources, and takes no others. @thread any
    void clear() noexcept PLEXUS_EXCLUDES(mutex_) {
        Sources over; // they end outside of the lock
        const Lock hold(mutex_);
        over.swap(sources_);
        cleared_ = true;
    }

  private:
    using Sources = std::vector<std::shared_ptr<const GroupSource>>;
    Sources sources() const PLEXUS_EXCLUDES(mutex_) {
        const Lock hold(mutex_);
        return sources_;
    }

    mutable RankedMutex<16> mutex_;
    Sources sources_ PLEXUS_GUARDED_BY(mutex_);
    bool cleared_ PLEXUS_GUARDED_BY(mutex_) = false;
};

} // namespace plexus::detail
