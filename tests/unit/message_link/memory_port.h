// SPDX-License-Identifier: BSD-3-Clause
// A port that moves bytes between engines of one process, and the method made of it, so that the
// engine is tested without a library. Its parameters choose what the port can do:
//
//   large    "parts", "fetch" or "carry": how large messages go
//   order    "kept" or "changed": whether messages may overtake each other
//   room     packets that wait at a receiver before its senders find no room
//   copies   how often each counted message is sent, beyond all credit, each with a number of its own
//   window, eager, connect_timeout, handshake_timeout, dead_after, linger: as for libfabric
#pragma once

#include "message_link/wire.h"
#include "support/bare_host.h"

namespace plexus::testing {

const Method& memory_method();

/// Presets but for these.
BareOptions memory(std::map<std::string, std::string> settings);

/// Lets the port fail for whom it is named by `descriptor`: its messages are not taken any more.
void break_memory_port(ByteView descriptor);

/// Lets whoever has a link to the port learn that its process has ended, though what it had sent may still
/// lie there.
void end_memory_process(ByteView descriptor);

/// Sends the port a message without a body, as somebody who has no link to it.
void slip_in(ByteView descriptor, const message_link::Header& header);

} // namespace plexus::testing
