// SPDX-License-Identifier: BSD-3-Clause
// The map that a probe starts from: an empty map, or the map in the file with the hosts of the job
// added.
#pragma once

#include "tools/probe/members.h"

#include "plexus/eco/map.h"

namespace plexus::tools::probe {

/// Says on standard error which hosts of an old map are not in the job, and what that means.
/// @error not_found, bad_config there is no map to go on with, the file is no map, or the map has other sizes
///        than the options (thrown)
eco::Map start_map(const ProbeOptions& options, const Members& members);

} // namespace plexus::tools::probe
