// SPDX-License-Identifier: BSD-3-Clause
// Symmetries of a link graph, and scatters that keep them: where a transfer is in a round, its images under
// the symmetries are, too. So a search has to place a fraction of the transfers only. Pure.
#pragma once

#include "synthesis/placement.h"
#include "synthesis/random.h"

#include <functional>
#include <optional>

namespace plexus::eco {

/// What a permutation of the vertices that keeps links and terminals does to these.
struct GraphSymmetry {
    std::vector<std::uint32_t> links;     ///< the image of each link
    std::vector<std::uint32_t> terminals; ///< the image of each terminal
    auto operator<=>(const GraphSymmetry&) const = default;
};

/// One of the graph's symmetries, drawn at random, often the identity; nothing: `steps` were not enough.
std::optional<GraphSymmetry> random_symmetry(const Routes& routes, Random& random, std::uint32_t steps);

/// The group that `generators` make, the identity first. Nothing: it has more than `most` elements, or one
/// but the identity leaves a link or a terminal in place.
std::optional<std::vector<GraphSymmetry>>
free_group(const Routes& routes, const std::vector<GraphSymmetry>& generators, std::size_t most);

/// A task for each set of pairs that are images of each other.
class SymmetricScatter {
  public:
    SymmetricScatter(const Routes& routes, std::vector<GraphSymmetry> group,
                     const std::function<bool()>& go_on);

    /// Empty where a pair has no way that shares nothing with its images, or where go_on said false.
    const Placement& placement() const noexcept { return placement_; }
    /// The rounds with all images. `assignment` is valid.
    std::vector<Round> rounds(const Assignment& assignment) const;

  private:
    bool add_task(std::uint32_t src, std::uint32_t dst);
    Transfer image(std::uint32_t way, const GraphSymmetry& symmetry) const;

    std::vector<GraphSymmetry> group_;
    Placement placement_;
    std::vector<LinkPath> paths_; ///< of each way, the one before its images
};

} // namespace plexus::eco
