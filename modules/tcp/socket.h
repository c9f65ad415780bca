// SPDX-License-Identifier: BSD-3-Clause
// Small things that every TCP socket here needs. Errors are errno values.
#pragma once

#include "common/system_text.h"
#include "tcp/options.h"

#include <asio/ip/tcp.hpp>
#include <string>

namespace plexus::tcp {

using module::is_shortage;
using module::system_text;

/// "127.0.0.1:7000", "[::1]:7000".
std::string text_of(const asio::ip::tcp::endpoint& endpoint);
/// The peer's address; "an unknown address" if the connection is gone.
std::string peer_text(int socket);
/// A non-blocking socket; below 0: errno says why not.
int make_socket(bool v4);
/// Sets the options that are configured; the system may round sizes.
void apply(int socket, const SocketOptions& options);

} // namespace plexus::tcp
