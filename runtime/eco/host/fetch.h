// SPDX-License-Identifier: BSD-3-Clause
// Reads the memory of another member's process with one copy (cross-memory attach), if the kernel permits
// it. A process that has ended, or whose id was reused, does not publish in the following round: so the
// reader finds out. Any thread.
#pragma once

#include "host/layout.h"

namespace plexus::eco::host {

/// How other members identify this process. The cookie lives as long as the process.
Process this_process();

/// True if the cookie can be read there.
bool can_fetch(const Process& from) noexcept;

/// False: errno has the reason.
bool fetch(const Process& from, std::uint64_t address, std::byte* to, std::size_t bytes) noexcept;

} // namespace plexus::eco::host
