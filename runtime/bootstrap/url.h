// SPDX-License-Identifier: BSD-3-Clause
// Addresses of directories: plexus://host:port as text, as parts, and as socket addresses. Resolving a name
// may block as long as the system's resolver does.
#pragma once

#include "base/result.h"

#include <asio/ip/tcp.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::bootstrap {

struct Url {
    std::string host; ///< name, IPv4, or IPv6 without its brackets
    std::uint16_t port = 0;
};

/// @error bad_argument says what is missing and shows a good one
Result<Url> parse_url(std::string_view text);
std::string to_string(const Url& url);

/// Every address of `url.host`, in the system's order of preference.
/// @error not_found no such host
Result<std::vector<asio::ip::tcp::endpoint>> resolve(const Url& url);

/// Where methods have to listen so that whoever joins a directory at `url` reaches them: "all" where it
/// is served on every interface, "loopback, 192.0.2.7" for the addresses of its host. Empty where
/// loopback is enough, and where `url` is none or its host is unknown: listening there says why.
std::string interfaces_of(std::string_view url);

} // namespace plexus::bootstrap
