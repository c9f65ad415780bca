// SPDX-License-Identifier: BSD-3-Clause
// Network interfaces of the namespace that the caller is in. Only ever called in one that
// the lab has made.
#pragma once

#include "tools/lab/owned_fd.h"

#include <cstdint>
#include <string>

namespace plexus::tools::lab {

/// What precedes each frame on a TAP's descriptor; passed on as it came, so that check sums
/// which the sender left to its hardware are never computed.
inline constexpr std::size_t kTapHeaderBytes = 10;

/// Makes a TAP device, which lives as long as its descriptor.
/// @error NotAllowed, Error (thrown)
OwnedFd make_tap(const std::string& name);

/// Gives `name` the addresses of the machine `number`, and takes it up.
void configure(const std::string& name, std::uint32_t number, std::uint32_t mtu);
void take_up_loopback();
/// Where the machine `number` is, so that nobody has to ask.
void add_neighbour(const std::string& name, std::uint32_t number);

} // namespace plexus::tools::lab
