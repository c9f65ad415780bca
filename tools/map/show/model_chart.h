// SPDX-License-Identifier: BSD-3-Clause
// What models predict of the messages of a map beside what was measured, for the page's charts. Pure.
#pragma once

#include "plexus/eco/poly_model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plexus::tools::show {

struct ModelCurve {
    std::string name;
    std::string about; ///< its error, whether it was acquired, and what that took; or why there is no model
    bool chosen = false;
    std::vector<double> predicted_s; ///< of each size of the way; empty: there is no model
};

/// A cluster, or the way from one to another.
struct ModelWay {
    std::string name;
    std::vector<std::uint64_t> sizes_bytes;
    std::vector<double> measured_s; ///< the median over its pairs
    std::vector<ModelCurve> models;
};

/// Without those of which nothing was measured. Models that know processors predict the median over the
/// pairs.
/// @error bad_argument there is no such root (thrown)
std::vector<ModelWay> model_ways(const eco::Map& map, const eco::PolyRequest& request);

/// A list of objects in JSON.
std::string to_json(const std::vector<ModelWay>& ways);

/// "acquired, 1200 messages, 4.1 MB, 0.2 s" or "fitted".
std::string origin_of(const eco::ModelFit& fit);

} // namespace plexus::tools::show
