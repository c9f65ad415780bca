// SPDX-License-Identifier: BSD-3-Clause
// Network interfaces of the namespace that the caller is in. Called only in namespaces that the lab has
// made.
#pragma once

#include "runtime/base/unique_fd.h"

#include <cstdint>
#include <string>

namespace plexus::tools::lab {

/// The header before each frame on a TAP's descriptor. The switch passes the header on unchanged, so that
/// check sums which the sender left to its hardware are never computed.
inline constexpr std::size_t kTapHeaderBytes = 10;

/// Makes a TAP device, which lives as long as its descriptor.
/// @error NotAllowed, Error (thrown)
UniqueFd make_tap(const std::string& name);

/// Gives the interface `name` the addresses of the machine `number`, and brings the interface up.
void configure(const std::string& name, std::uint32_t number, std::uint32_t mtu);
void take_up_loopback();
/// Adds the address of the machine `number` to the neighbour table, so that no host has to ask.
void add_neighbour(const std::string& name, std::uint32_t number);

} // namespace plexus::tools::lab
