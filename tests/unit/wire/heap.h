// SPDX-License-Identifier: BSD-3-Clause
// What this program asks of the heap. Sanitizers keep their own operator new: there it stays 0.
#pragma once

#include <cstddef>

namespace plexus::testing {

/// The most bytes that one allocation of this thread has asked for since it was set to 0.
std::size_t& largest_allocation() noexcept;

} // namespace plexus::testing
