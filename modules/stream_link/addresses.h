// SPDX-License-Identifier: BSD-3-Clause
// Which addresses this host has, and which of them a configuration selects. Link-local addresses
// are left out: they mean nothing without the name of an interface. @thread any
#pragma once

#include "stream_link/options.h"

#include <asio/ip/address.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::stream_link {

struct Interface {
    std::string name;
    asio::ip::address address;
    unsigned prefix = 0; ///< bits that its network shares
};

/// Every usable address of an interface that is up; loopback first.
std::vector<Interface> interfaces();

/// True if `word` names the interface, is its address, or a prefix that it is in.
bool matches(const Interface& one, std::string_view word);
/// True if `address` lies in the network of `one`.
bool neighbours(const Interface& one, const asio::ip::address& address);

/// The same addresses, loopback and those in a network of `own` before the others.
std::vector<asio::ip::address> nearest_first(std::vector<asio::ip::address> addresses,
                                             const std::vector<Interface>& own);

/// Those of `all` to listen on, in their order.
std::vector<Interface> chosen(const std::vector<Interface>& all, const Options& options);

} // namespace plexus::stream_link
