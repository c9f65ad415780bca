// SPDX-License-Identifier: BSD-3-Clause
// The end of a measurement that answers.
#pragma once

#include "tools/benchmark/options.h"

#include "plexus/plexus.h"

#include <atomic>

namespace plexus::tools::bench {

/// Answers whatever the near end sends until it says that it is done, or until `abandoned`
/// is set and the context's stop() called. Throws Error.
void serve_far_end(Context& here, const Wish& wish, const std::atomic<bool>& abandoned);

} // namespace plexus::tools::bench
