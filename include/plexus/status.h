// SPDX-License-Identifier: BSD-3-Clause
// Outcomes, ranked by what is broken for good. Values up to `runtime_lost` are those of
// the module ABI; the others are said by the request layer.
#pragma once

#include "plexus/export.h"

#include <cstdint>
#include <string_view>

namespace plexus {

enum class Status : std::int32_t {
    ok = 0,
    again = 1,  ///< nothing is wrong: make progress and repeat
    posted = 2, ///< accepted, completion follows
    // this call
    bad_argument = 10,
    too_large = 11, ///< above max_message
    unsupported = 12,
    no_handler = 13,    ///< nobody handles a request of that name over there
    bad_signature = 14, ///< the far side declares that name with other types
    dead_pointer = 15,  ///< the object was unbound, or the pointer never was a true one
    bad_archive = 16,   ///< the bytes do not hold what the signature says
    handler_threw = 17,
    would_deadlock = 18, ///< waiting inside an inline handler
    timed_out = 19,
    // this configuration
    bad_config = 20,
    bad_module = 21,
    no_method = 22, ///< no row of the table applies: explain() says why
    denied = 23,    ///< the job's key is wrong or missing
    not_found = 24, ///< no such published name, file or host
    busy = 25,      ///< a port or a name is taken
    // this message
    message_lost = 30, ///< it may or may not have been delivered
    // this link: another method may still reach the peer
    link_lost = 40,
    wrong_peer = 41, ///< another context answered at that address
    // this peer
    peer_lost = 50,
    peer_back = 51, ///< it was lost and can be reached again; told to Context::on_error()
    // this process
    runtime_lost = 60,
    closed = 61, ///< the context is closing
    // this call, too
    deadline_exceeded = 70, ///< the call's deadline passed before there was an answer
    cancelled = 71,         ///< Future::cancel() ended the call
};

/// A few words for `status`, lower case, no full stop. @thread any
PLEXUS_API std::string_view to_string(Status status) noexcept;

/// True if another row of the table may still carry what failed with `status`. @thread any
[[nodiscard]] constexpr bool may_reselect(Status status) noexcept {
    return status == Status::link_lost || status == Status::wrong_peer || status == Status::denied;
}

} // namespace plexus
