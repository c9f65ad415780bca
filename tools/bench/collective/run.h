// SPDX-License-Identifier: BSD-3-Clause
// One run of `plexus bench collective`: the processes that it starts, and what each of them does.
#pragma once

#include "tools/bench/collective/options.h"

#include "plexus/context.h"

#include <string>
#include <vector>

namespace plexus::tools::benchmark {

/// @error bad_config so many contexts cannot do what the options ask for (thrown)
void check_members(const CollectiveOptions& options, eco::Rank contexts);

/// Starts so many contexts on this machine as a job, and waits for it: `command` with
/// "--inside", each context on a core of its own if there are enough cores and `pin` is true. The exit code.
/// @error as launch()
int start_members(std::uint32_t contexts, std::vector<std::string> command, bool pin);

/// Takes part as one context of a job; rank 0 prints. The exit code: kNo if a call brought
/// something wrong. @error as check_members(), as Group
int run_member(Context& here, const CollectiveOptions& options);

} // namespace plexus::tools::benchmark
