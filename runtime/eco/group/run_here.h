// SPDX-License-Identifier: BSD-3-Clause
// Calls that run from beginning to end on the thread of their caller: through shared memory, by multicast, or
// by the parts of a hierarchy.
#pragma once

#include "group/group_state.h"
#include "host/collective.h"

#include <exception>
#include <fmt/format.h>
#include <new>

namespace plexus::eco::detail {

/// Runs a call on this thread, and releases it. `body` gives true if the call is complete; what it throws
/// breaks the group. @error what broke it, or what the user's operation threw here (thrown)
template <class Body>
void run_here(GroupState& group, Execution& call, Body body) {
    const Membership& members = group.members();
    bool whole = false;
    std::exception_ptr thrown;
    try {
        whole = body();
    } catch (const host::OperationThrew& found) {
        // Does nothing if a part of the group broke.
        group.break_up(Status::bad_argument, members.text_of_throw(), true);
        thrown = found.thrown;
    } catch (const Error& error) {
        group.break_up(error.status(), error.what(), true); // the same
    } catch (const std::bad_alloc&) {
        group.break_for_memory();
    } catch (const std::exception& error) { // such as a thread that the system does not give
        group.break_up(Status::runtime_lost,
                       fmt::format("member {} failed: {}", members.name(members.me()), error.what()), true);
    }
    group.calls().release(call);
    if (thrown != nullptr) members.parent().rethrow(thrown);
    if (!whole) group.calls().throw_broken();
}

} // namespace plexus::eco::detail
