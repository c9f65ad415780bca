// SPDX-License-Identifier: BSD-3-Clause
// Cuts connections of this process, as somebody between both ends would: neither end has asked for it.
#pragma once

#include <cstdint>
#include <set>

namespace plexus::soak {

/// Of tcp, from or to one of these ports; how many. @thread any
std::uint64_t cut_tcp(const std::set<std::uint16_t>& ports);

} // namespace plexus::soak
