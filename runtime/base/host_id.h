// SPDX-License-Identifier: BSD-3-Clause
// Which host this is, told by the kernel and never by a name: the number of its boot. @thread any
#pragma once

#include <array>
#include <cstdint>

namespace plexus {

/// The same for all processes of one boot of one kernel, whatever namespaces they are in. All zero where the
/// kernel does not say.
std::array<std::uint8_t, 16> host_id();

} // namespace plexus
