// SPDX-License-Identifier: BSD-3-Clause
// Which counters a context shows to other processes, and where they are read. None of them is counted for
// this: all are there for other ends.
#pragma once

#include "counters/publisher.h"

#include <memory>

namespace plexus::detail {

class Core;

/// Shows the counters of a context that has been set up; it outlives what is given back.
/// @error as Publisher::start()
Result<std::unique_ptr<counters::Publisher>> show_counters(Core& core);

} // namespace plexus::detail
