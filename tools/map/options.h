// SPDX-License-Identifier: BSD-3-Clause
// The options of `plexus map` and its verbs.
#pragma once

#include "plexus/eco/intercluster.h"
#include "plexus/eco/map.h"
#include "plexus/eco/partition.h"

#include <cstdint>
#include <optional>
#include <string>

namespace plexus::tools {

enum class Picture : std::uint8_t { page, svg, dot };

/// Of an operation, where nobody said another.
inline constexpr std::uint64_t kUsualSize = 64 * 1024;

struct MapOptions {
    std::string file;
    eco::Tolerance tolerance;
    eco::Symmetry symmetry = eco::Symmetry::refuse;
    eco::Statistic statistic = eco::Statistic::min;
    /// partition: the size whose costs count; nothing: the smallest of the map. show, predict: of the
    /// operation's vector or blocks; nothing: usual ones.
    std::optional<std::uint64_t> size_bytes;
    bool levels = false;
    bool json = false;

    // show and predict
    std::string operation;
    std::string root;

    // show
    Picture picture = Picture::page;
    std::string output; ///< empty: standard output
    std::string pattern;
};

/// One number for each pair, the same in both directions. @error bad_config the directions differ, and the
/// options do not say how to combine them (thrown; names the option)
eco::CostMatrix costs_in(const eco::Map& map, const MapOptions& options, std::size_t size);

/// Prints the subnets of a map. Returns an exit code.
int print_partition(const MapOptions& options);

/// Writes a page or a picture of a map. Returns an exit code.
int show_map(const MapOptions& options);

/// Prints the poly-model of a map: kNo where the map does not suffice for a choice. `refuse` counts as
/// `mean`.
/// @error bad_argument no such operation or root (thrown)
int print_prediction(const MapOptions& options, eco::Completion completion);

} // namespace plexus::tools
