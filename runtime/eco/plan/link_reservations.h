// SPDX-License-Identifier: BSD-3-Clause
// When links are free, for transfers that follow each other by time. A value. Times are in nanoseconds.
#pragma once

#include "plexus/eco/schedule_plan.h"

#include <unordered_map>

namespace plexus::eco {

/// A transfer occupies the first link of its path from its beginning on, and each next one a hop later, all
/// for the same time. Transfers are reserved one by one; none goes before one that was reserved earlier.
class LinkReservations {
  public:
    /// For transfers of this many bytes. `reversed`: they run along their paths from the end.
    /// @error bad_argument the pace is no time, or one above an hour (thrown)
    LinkReservations(const Pace& pace, std::uint64_t bytes, bool reversed);

    /// When a transfer can begin, at `from` at the earliest.
    /// @error bad_argument the path has no link; the transfers take more than a year (thrown)
    std::uint64_t earliest(const LinkPath& path, std::uint64_t from) const;
    /// Reserves the links for a transfer that begins then. Returns when the transfer has arrived.
    std::uint64_t reserve(const LinkPath& path, std::uint64_t begin);

  private:
    std::uint64_t hops_before(const LinkPath& path, std::size_t link) const noexcept {
        return reversed_ ? path.size() - 1 - link : link;
    }

    const bool reversed_;
    std::uint64_t occupied_ = 0;
    std::uint64_t hop_ = 0;
    std::uint64_t guard_ = 0;
    std::unordered_map<std::uint32_t, std::uint64_t> free_from_; ///< by links
};

} // namespace plexus::eco
