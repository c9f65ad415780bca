// SPDX-License-Identifier: BSD-3-Clause
// A plan for members under other names: so that patterns that go by rank follow a network. Pure.
#pragma once

#include "plexus/eco/plan.h"

#include <vector>

namespace plexus::eco {

/// The plan in which `name[i]` does what member i did, with the block of `name[i]` for that of i.
/// Each member is in `name` once. Where the order of ranks counts, it is that of the old names.
Plan renamed(const Plan& plan, const std::vector<Rank>& name);

} // namespace plexus::eco
