// SPDX-License-Identifier: BSD-3-Clause
// Collective operations through the shared memory of members on one host (the ECO paper's "native
// collectives within an MPP"): data is written once and read by its receivers. Contributions are
// combined in the order of ranks, from the left: op(op(x0, x1), x2).
#pragma once

#include "host/shared_arena.h"
#include "plexus/eco/collectives.h"

#include <exception>

namespace plexus::eco::host {

/// Thrown if a member publishes a part of another length than this member expects.
struct LengthMismatch {
    Rank member;
    std::uint64_t sent;
    std::uint64_t expected;
};

/// Thrown instead of what the user's operation threw, which may be of any type.
struct OperationThrew {
    std::exception_ptr thrown;
};

/// True if shared memory supports the operation: the same answer on all members.
bool supports(const detail::CollectiveArgs& args, Rank members) noexcept;

/// Executes one call whose arguments were checked. After SharedArena::begin(). @error Aborted, CallMismatch,
/// Unreadable, LengthMismatch, OperationThrew (thrown): the call has failed, and the arena must not be used
/// again
void run(SharedArena& arena, const detail::CollectiveArgs& args);

} // namespace plexus::eco::host
