// SPDX-License-Identifier: BSD-3-Clause
// Reading another member's memory with one copy (cross-memory attach), where the kernel permits
// it. Whether the process is still the right one shows in the round behind the read, which it
// would not come to. Any thread.
#pragma once

#include "host/layout.h"

namespace plexus::eco::host {

/// What others have to know of this process. The cookie lives as long as it.
Process this_process();

/// Really reads the cookie there.
bool can_fetch(const Process& from) noexcept;

/// False: errno says why.
bool fetch(const Process& from, std::uint64_t address, std::byte* to, std::size_t bytes) noexcept;

} // namespace plexus::eco::host
