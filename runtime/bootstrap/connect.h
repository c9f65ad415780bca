// SPDX-License-Identifier: BSD-3-Clause
// The first steps of a client, before it has a thread: connects to a served directory and does the handshake,
// under one deadline. Blocks the caller; knows no frames.
#pragma once

#include "base/clock.h"
#include "base/unique_fd.h"
#include "bootstrap/key.h"
#include "bootstrap/url.h"
#include "plexus/id.h"

namespace plexus::bootstrap {

/// A connected socket and its protocol. Both sides have proved that they hold the job's key. No child process
/// inherits the socket.
struct Connection {
    UniqueFd socket;
    asio::ip::tcp protocol;
};
/// Connects to the directory at `url`. @error as join()
Result<Connection> connect(const Url& url, const Key& key, const ContextId& who, Clock::time_point deadline);

} // namespace plexus::bootstrap
