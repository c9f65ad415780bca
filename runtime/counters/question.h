// SPDX-License-Identifier: BSD-3-Clause
// How whoever reads a context's counters asks for them and takes a sample that is whole: in its own process
// and in others. @thread any
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "counters/memory.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace plexus::counters {

/// The number of the question that was asked by this.
std::uint32_t ask(Header& header) noexcept;
/// Waits for the answer to it, and looks now and then whether the context is still there. False: it did not
/// come in time. @error peer_lost `is_there` said no
Result<bool> wait(Header& header, std::uint32_t question, Clock::time_point deadline,
                  const std::function<bool()>& is_there);
/// All words of a sample that was not being written meanwhile. @error timed_out, as Memory::copy()
Result<std::vector<std::uint64_t>> take(const Memory& memory, Clock::time_point deadline);

} // namespace plexus::counters
