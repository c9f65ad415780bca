// SPDX-License-Identifier: BSD-3-Clause
// The job of this process under a process manager. Rank 0 serves the job's directory and says through the
// process manager where it is, with the job's key. The process manager is asked once; contexts that start
// later, also in forked children, use what it said. Any thread; a second one waits.
#pragma once

#include "base/clock.h"
#include "bootstrap/directory.h"
#include "bootstrap/manager/detect.h"
#include "bootstrap/manager/process_manager.h"

#include <optional>

namespace plexus::bootstrap {

/// What the process manager says, whoever it is. Blocks.
/// @error as connect_pmix() and connect_pmi()
Result<Place> place_under(Launcher launcher, Clock::time_point deadline);

/// After place_under(): in rank 0 serves the directory and tells the others, elsewhere waits until rank 0 has
/// told. `file_key` is what job.key_file says, and wins; without it rank 0 makes a key, and the process
/// manager carries it to the others. The job's key. The first outcome is that of all later calls.
/// @error timed_out, peer_lost as ProcessManager::hear()
/// @error bad_config rank 0 has a key file and this process has none
Result<Key> meet_under(const std::optional<Key>& file_key, Clock::time_point deadline);

/// After meet_under(): a view of the job's directory.
/// @error as join()
Result<std::shared_ptr<Directory>> enter_managed(const Key& key, const ContextId& who,
                                                 Clock::time_point deadline);

} // namespace plexus::bootstrap
