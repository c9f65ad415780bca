// SPDX-License-Identifier: BSD-3-Clause
// Which addresses this host has, which of them a configuration selects, and how texts name them. Link-local
// addresses are left out: they mean nothing without the name of an interface. @thread any
#pragma once

#include "stream_link/options.h"

#include <asio/ip/address.hpp>
#include <asio/ip/basic_endpoint.hpp>
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

/// "127.0.0.1:7000", "[::1]:7000".
std::string text_of(const asio::ip::address& address, std::uint16_t port);
template <class Protocol>
std::string text_of(const asio::ip::basic_endpoint<Protocol>& endpoint) {
    return text_of(endpoint.address(), endpoint.port());
}

/// True if the errno value of a bind() says that this host lacks the address or its family: another address
/// may do.
bool is_missing_address(int error) noexcept;
/// True if it says that the port is not to be had: another port may be.
bool is_missing_port(int error) noexcept;
/// Why nothing listens, and what the operator can do: the last address that failed, and its errno value.
std::string why_not_bound(const std::string& failed, int error, const Options& options);

} // namespace plexus::stream_link
