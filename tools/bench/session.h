// SPDX-License-Identifier: BSD-3-Clause
// One run of `plexus bench`: the job of two processes, and what each of them does.
#pragma once

#include "tools/benchmark/options.h"

#include "plexus/context.h"

#include <functional>
#include <string>
#include <vector>

namespace plexus::tools::benchmark {

/// Starts two contexts as a job and waits for the job: `command` with "--inside", and "--cores" if the
/// processes are pinned. The exit code. @error as launch()
int start_pair(const PairOptions& options, const std::vector<std::string>& command);

/// Keeps this process on these cores; none: wherever the system puts it.
void settle_on(const std::vector<int>& cores);

/// Measures (rank 0) or answers (rank 1) as one of the two processes of a job. The exit code.
/// @error bad_config the job has not two contexts, or a method cannot be had (thrown)
int run_end(Context& here, const PairOptions& options);

/// Both contexts in this process, the responder on a thread of its own; `start` makes each context. The exit
/// code. @error what `start` throws, or a method cannot be had (thrown)
int run_both(const std::function<Context()>& start, const PairOptions& options);

} // namespace plexus::tools::benchmark
