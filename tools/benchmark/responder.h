// SPDX-License-Identifier: BSD-3-Clause
// The context that answers what an initiator measures.
#pragma once

#include "tools/benchmark/options.h"

#include "plexus/plexus.h"

#include <atomic>

namespace plexus::tools::benchmark {

/// Answers until the initiator says that it is done, or until `abandoned` is set and the context's stop()
/// called. Throws Error.
void respond(Context& here, const PairOptions& options, const std::atomic<bool>& abandoned);

} // namespace plexus::tools::benchmark
