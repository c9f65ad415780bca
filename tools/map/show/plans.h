// SPDX-License-Identifier: BSD-3-Clause
// The plans that a picture or page shows, each with its estimated course. Pure.
#pragma once

#include "plexus/eco/network.h"

#include <optional>
#include <string>
#include <vector>

namespace plexus::tools::show {

/// The choices of the command line; the others are made here.
struct PlanOptions {
    std::optional<eco::Operation> operation;
    std::string pattern;                     ///< eco, or a pattern's name; empty: all
    std::optional<std::size_t> root;         ///< place in the map
    std::optional<std::uint64_t> size_bytes; ///< of the vector, or of each block
};

struct ShownPlan {
    eco::Operation operation;
    std::string pattern;
    std::size_t root = 0; ///< of operations that have one
    std::uint64_t size_bytes = 0;
    eco::Plan plan;
    std::vector<eco::Flight> flights;
    double total_us = 0;
};

/// The plan for a picture: broadcast of 64 KiB by eco from the first host, unless the options say
/// otherwise. @error unsupported the pattern does not suit the operation (thrown)
ShownPlan one_plan(const eco::Network& network, const PlanOptions& options);

/// The plans for a page, as many as a page can hold: every operation, pattern, a few sizes and roots. Plans
/// with more messages than a person can follow are left out unless asked for.
std::vector<ShownPlan> many_plans(const eco::Network& network, const std::vector<std::size_t>& roots,
                                  const PlanOptions& options);

bool has_root(eco::Operation operation);
/// @error bad_argument there is none of that name (thrown)
eco::Operation operation_of(const std::string& name);
/// Checks the name of a pattern. @error bad_argument there is none of that name (thrown)
void check_pattern(const std::string& name);

} // namespace plexus::tools::show
