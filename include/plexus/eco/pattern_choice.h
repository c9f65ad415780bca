// SPDX-License-Identifier: BSD-3-Clause
// The second step of the poly-model paper (Poly-adapt-2): which pattern ends first inside one cluster, under
// a model. Pure. Any thread.
#pragma once

#include "plexus/eco/model.h"
#include "plexus/eco/plan.h"
#include "plexus/export.h"

#include <vector>

namespace plexus::eco {

struct PatternTime {
    AlgorithmOptions options; ///< as plan() takes them
    double time_s = 0;
};

/// Every pattern that suits the operation, star and binomial first: trees of arity 2, 3, 4 and 8 as far as
/// they differ from a star; of all_reduce both butterflies. A chain has the best segments of powers of two
/// from 256 B on, of equals the largest, or one segment. Of broadcasts, ring and butterfly are scatter and
/// all-gather. Above 128 members a ring and pairwise, in which everyone sends in each of P - 1 rounds, are
/// among them only where there is nothing else; pairwise for an all_to_all above 1,024.
/// @error as predict_s() (thrown)
PLEXUS_API std::vector<PatternTime> predict_patterns(const Model& model, const PlanRequest& request);

/// The first of those that end earliest; ends that agree to nine digits are equal. `among` is not empty.
PLEXUS_API const PatternTime& earliest(const std::vector<PatternTime>& among) noexcept;

} // namespace plexus::eco
