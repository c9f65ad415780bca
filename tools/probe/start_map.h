// SPDX-License-Identifier: BSD-3-Clause
// The map that a probe starts from: an empty one, or the one in the file with the hosts of
// the job added.
#pragma once

#include "tools/probe/members.h"

#include "plexus/eco/map.h"

namespace plexus::tools::probe {

/// Says on standard error which hosts of an old map are not in the job, and what that means.
/// @error not_found, bad_config there is no map where one is to go on, it is none, or it has
///        other sizes than the wish (thrown)
eco::Map start_map(const Wish& wish, const Members& members);

} // namespace plexus::tools::probe
