// SPDX-License-Identifier: BSD-3-Clause
// Calls that run from beginning to end on the thread of their caller: through shared memory, or by the
// parts of a hierarchy.
#pragma once

#include "group/group_state.h"
#include "host/collective.h"

#include <exception>
#include <fmt/format.h>
#include <new>

namespace plexus::eco::detail {

template <class Body>
void GroupState::run_here(Execution& call, Body body) {
    bool whole = false;
    std::exception_ptr thrown;
    try {
        whole = body();
    } catch (const host::OperationThrew& found) {
        break_up(Status::bad_argument, text_of_throw(), true); // does nothing if a part of the group broke
        thrown = found.thrown;
    } catch (const Error& error) {
        break_up(error.status(), error.what(), true); // the same
    } catch (const std::bad_alloc&) {
        break_up(Status::too_large, fmt::format("member {} has no memory left for its call", name(me_)),
                 true);
    } catch (const std::exception& error) { // such as a thread that the system does not give
        break_up(Status::runtime_lost, fmt::format("member {} failed: {}", name(me_), error.what()), true);
    }
    const Lock hold(mutex_);
    release(call);
    if (thrown != nullptr) parent_.rethrow(thrown);
    if (!whole) throw_broken();
}

} // namespace plexus::eco::detail
