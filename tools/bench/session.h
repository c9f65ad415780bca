// SPDX-License-Identifier: BSD-3-Clause
// One run of `plexus bench`: the job of two processes, and what each of them does.
#pragma once

#include "tools/benchmark/options.h"

#include "plexus/context.h"

#include <functional>
#include <string>
#include <vector>

namespace plexus::tools::bench {

/// Starts both ends as a job and waits for it: `command` with "--inside", and "--cores" where
/// they are pinned. The exit code. @error as launch()
int start_pair(const Wish& wish, const std::vector<std::string>& command);

/// Keeps this process on these cores; none: wherever the system puts it.
void settle_on(const std::vector<int>& cores);

/// Measures (rank 0) or answers (rank 1) as one of the two processes of a job. The exit code.
/// @error bad_config the job has not two contexts, or a method cannot be had (thrown)
int run_end(Context& here, const Wish& wish);

/// Both ends as contexts of this process, the far one on a thread of its own; `start` makes
/// each of them. The exit code. @error what `start` throws, or a method cannot be had (thrown)
int run_both(const std::function<Context()>& start, const Wish& wish);

} // namespace plexus::tools::bench
