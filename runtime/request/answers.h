// SPDX-License-Identifier: BSD-3-Clause
// Answers to requests that came from elsewhere. One that cannot be sent becomes a small one that
// says why, for which the room below always has place unless the peer is lost. Any thread.
#pragma once

#include "plexus/archive.h"
#include "request/reporter.h"
#include "transport/transport.h"
#include "wire/frame.h"

#include <string>
#include <string_view>

namespace plexus::request {

/// The result of a call: `result` leaves ReplyHeader::kBytes at its start.
void answer(transport::Channel& to, std::uint64_t call, detail::Writer& result);
/// Why a call has none.
void answer(transport::Channel& to, std::uint64_t call, Status status, std::string_view why);
/// Tells why a request was not carried out: the caller of a call; of a one-way request the log here, then its
/// sender's on_error(). An unreliable one that found no room (`again`) is counted, and nobody is told.
void refuse(Reporter& reporter, transport::Channel& to, const wire::RequestHeader& header, Status status,
            const std::string& why);
/// The method by which a request came: not that of `back` if it came by a datagram.
transport::Interface& carrier_of(const wire::RequestHeader& header, const transport::Channel& back);

/// Even the small answer was not sent.
void log_unanswered(const transport::Channel& to, std::uint64_t call, Status status, const std::string& why);

} // namespace plexus::request
