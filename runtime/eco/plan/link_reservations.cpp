// SPDX-License-Identifier: BSD-3-Clause
#include "plan/link_reservations.h"

#include "topology/refuse.h"

#include <algorithm>
#include <cmath>

namespace plexus::eco {
namespace {

/// Transfers share their links with acknowledgements.
constexpr double kSlack = 1.03;
/// And members do not start at the same time: the guard between two transfers, in hops.
constexpr double kGuardHops = 0.5;

constexpr double kMostSeconds = 3600;
constexpr std::uint64_t kMostNs = std::uint64_t{365} * 24 * 3600 * 1'000'000'000;

std::uint64_t ns(double seconds) { return static_cast<std::uint64_t>(std::llround(seconds * 1e9)); }

/// In seconds.
struct LinkTimes {
    double occupied;
    double hop;
    double guard;
};

LinkTimes times_of(const Pace& pace, std::uint64_t bytes) noexcept {
    const double occupied = (pace.message_s + pace.byte_s * static_cast<double>(bytes)) * kSlack;
    // What is shorter than a packet is stored for as long as it occupies a link.
    return {occupied, std::min(pace.hop_s, occupied), pace.hop_s * kGuardHops};
}

} // namespace

double lockstep_ratio(const Pace& pace, std::uint64_t bytes, std::uint32_t links) noexcept {
    const LinkTimes times = times_of(pace, bytes);
    const double paced = times.occupied + times.guard;
    const double permission = links * std::min(pace.hop_s, pace.message_s);
    return paced > 0 ? (times.occupied + (links - 1.0) * times.hop + permission) / paced : 1;
}

LinkReservations::LinkReservations(const Pace& pace, std::uint64_t bytes, bool reversed)
  : reversed_(reversed) {
    for (const double each : {pace.message_s, pace.byte_s * static_cast<double>(bytes), pace.hop_s})
        if (!(each >= 0 && each <= kMostSeconds))
            refuse(Status::bad_argument, "a transfer is paced by {} seconds, not by 0 to {}", each,
                   kMostSeconds);
    const LinkTimes times = times_of(pace, bytes);
    occupied_ = ns(times.occupied);
    hop_ = ns(times.hop);
    guard_ = ns(times.guard);
}

std::uint64_t LinkReservations::earliest(const LinkPath& path, std::uint64_t from) const {
    if (path.empty()) refuse(Status::bad_argument, "a transfer over no link cannot be paced");
    for (std::size_t link = 0; link < path.size(); ++link) {
        const auto found = free_from_.find(path[link]);
        if (found == free_from_.end()) continue;
        const std::uint64_t until_there = hop_ * hops_before(path, link);
        if (found->second > until_there) from = std::max(from, found->second - until_there);
    }
    if (from > kMostNs) refuse(Status::bad_argument, "at this pace the schedule takes more than a year");
    return from;
}

std::uint64_t LinkReservations::reserve(const LinkPath& path, std::uint64_t begin) {
    for (std::size_t link = 0; link < path.size(); ++link)
        free_from_[path[link]] = begin + hop_ * hops_before(path, link) + occupied_ + guard_;
    return begin + hop_ * (path.size() - 1) + occupied_;
}

} // namespace plexus::eco
