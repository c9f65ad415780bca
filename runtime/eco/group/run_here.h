// SPDX-License-Identifier: BSD-3-Clause
// Calls that run from beginning to end on the thread of their caller: through shared memory, or by the
// parts of a hierarchy.
#pragma once

#include "group/group_state.h"

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
    } catch (const Error& error) {
        break_up(error.status(), error.what(), true); // does nothing if a part of the group broke
    } catch (const std::bad_alloc&) {
        break_up(Status::too_large, fmt::format("member {} has no memory left for its call", name(me_)),
                 true);
    } catch (...) { // of a type that only a user's operation throws
        break_up(Status::bad_argument, text_of_throw(), true);
        thrown = std::current_exception();
    }
    const Lock hold(mutex_);
    release(call);
    if (thrown != nullptr) std::rethrow_exception(thrown);
    if (!whole) throw_broken();
}

} // namespace plexus::eco::detail
