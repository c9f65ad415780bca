// SPDX-License-Identifier: BSD-3-Clause
// Small things that every TCP socket here needs. Errors are errno values.
#pragma once

#include "common/system_text.h"
#include "stream_link/options.h"

#include <asio/ip/tcp.hpp>
#include <netinet/tcp.h>
#include <optional>
#include <string>

namespace plexus::stream_link {

using module::is_shortage;
using module::system_text;

/// The peer's address; "an unknown address" if the connection is gone.
std::string peer_text(int socket);
/// A non-blocking socket; below 0: errno says why not.
int make_socket(bool v4);
/// No router passes on what this socket sends, nor what those send that it accepts. False: errno says why.
bool keep_in_subnet(int socket, bool v4);

/// Drops what has arrived, within a bound: a socket that is closed with unread bytes resets the connection,
/// and the peer may lose what it was told last.
void drop_unread(int socket);
/// What the kernel has measured of a connection; nothing if the socket is not connected.
std::optional<tcp_info> tcp_info_of(int socket);
/// Sets the options that are configured; the system may round sizes.
void apply(int socket, const SocketOptions& options);

} // namespace plexus::stream_link
