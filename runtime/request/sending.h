// SPDX-License-Identifier: BSD-3-Clause
// Requests of calls on their way out: by which channel is noted with each call.
// Any thread.
#pragma once

#include "request/calls.h"
#include "transport/route.h"

#include <memory>
#include <string>

namespace plexus::request {

/// The channel to send by, or null with a status: also if the program's policy throws.
Status resolve(detail::Route& route, transport::Channel*& channel, std::string* why,
               method::Boundary& unheard);
/// Sends the request of a call. ok: sent, or the call has ended meanwhile. @error as Object::send()
Status send_call(Calls& calls, detail::Route& route, std::uint64_t call, transport::Frame& frame,
                 std::string* why);
/// The same by `to`, or, if that is dead, by any way to its peer.
Status send_call(Calls& calls, transport::Channel& to, std::uint64_t call, transport::Frame& frame,
                 std::string* why);

/// The same as detail::try_send() for a request of a room above that carries links: it leaves also while the
/// context closes. Inside a turn, so it never waits. `pin` keeps what the frame borrows alive, so that it is
/// not copied; null: it is.
Status send_onward(detail::Route& route, const detail::Target& target, const detail::RequestInfo& request,
                   detail::Writer& frame, std::shared_ptr<const void> pin);

} // namespace plexus::request
