// SPDX-License-Identifier: BSD-3-Clause
// Collective operations in the common memory of members on one host (the ECO paper's "native
// collectives within an MPP"): data is written once and read by whoever it is for. Contributions
// are combined in the order of ranks, brackets from the left: op(op(x0, x1), x2).
#pragma once

#include "host/seat.h"
#include "plexus/eco/collectives.h"

namespace plexus::eco::host {

/// Thrown where a member gives a part of another length than this member expects of it.
struct Uneven {
    Rank member;
    std::uint64_t sent;
    std::uint64_t expected;
};

/// There is a way for it here: the same answer on all members.
bool suits(const detail::Work& work, Rank members) noexcept;

/// One call, checked before. After Seat::begin(). @error Stopped, Differs, Unreadable, Uneven (thrown):
/// the call can't be gone on with, nor the seat be used again
void run(Seat& seat, const detail::Work& work);

} // namespace plexus::eco::host
