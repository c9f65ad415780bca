// SPDX-License-Identifier: BSD-3-Clause
// Names of UCX's transports: which exist at all, which of them reach other hosts. Pure
// functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plexus::ucx {

/// One that the library's context has found usable: "tcp" on "eth0".
struct Resource {
    std::string transport;
    std::string device;
};

/// A transport or alias that some build of UCX has, whether this machine can use it or not.
bool is_transport(std::string_view name);
/// Between contexts of one host only.
bool stays_on_host(std::string_view transport);
/// All transports and aliases.
std::vector<std::string> all_transports();

/// The first word of `tls` that names no transport at all; empty: none. UCX's own grammar of
/// the list ("^tcp", "\rc") is understood.
std::string unknown_transport(const std::vector<std::string>& tls);

/// What ucp_context_print_info() says, as resources.
std::vector<Resource> parse_resources(std::string_view info);

} // namespace plexus::ucx
