// SPDX-License-Identifier: BSD-3-Clause
// The addresses of this host's interfaces, and which hosts are next to it. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plexus::bootstrap {

/// IPv4 addresses, then IPv6, of the interfaces that are up; without loopback and link-local ones.
std::vector<std::string> own_addresses();

/// True if `host` is an address (not a name) in the subnet of one of this host's interfaces.
[[nodiscard]] bool is_in_own_subnet(std::string_view host);

} // namespace plexus::bootstrap
