// SPDX-License-Identifier: BSD-3-Clause
// Schedules of all-to-all scatter that follow from the structure of a network, without a search. Pure.
#pragma once

#include "synthesis/placement.h"
#include "synthesis/random.h"

#include <functional>
#include <optional>

namespace plexus::eco {

/// Of a multistage network with one way for each pair: in round t every k x k switch of stage s joins its
/// input x to output (b(x) + t_s) mod k, where t_s is the s-th digit of t and b what the identity permutation
/// would do. So each pair meets in one round, and the round of the identity, if it can be routed, falls out.
std::optional<Assignment> by_stages(const Placement& placement);

/// Round k: every terminal i sends to i + k mod N, or to i xor k; ways are looked for round by round.
std::optional<std::vector<Round>> by_permutations(const Routes& routes, Random& random,
                                                  const std::function<bool()>& go_on);

} // namespace plexus::eco
