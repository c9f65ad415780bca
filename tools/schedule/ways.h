// SPDX-License-Identifier: BSD-3-Clause
// Shortest ways through a link graph, for the checker: computed from its links alone. Any thread.
#pragma once

#include "plexus/eco/link_graph.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace plexus::tools::schedule {

/// The links that end at each vertex. The ends of all links are vertices.
using LinksInto = std::vector<std::vector<std::uint32_t>>;
LinksInto links_into(const eco::LinkGraph& graph);

/// The shortest ways that end at one vertex.
class WaysTo {
  public:
    static constexpr std::uint32_t kUnreachable = std::numeric_limits<std::uint32_t>::max();
    /// Where there are more, count() gives this.
    static constexpr std::uint64_t kMostCounted = std::uint64_t{1'000'000'000'000'000'000};

    /// `into` is links_into(graph). Keeps a reference to `graph` alone.
    WaysTo(const eco::LinkGraph& graph, const LinksInto& into, std::uint32_t vertex);

    /// In links.
    std::uint32_t distance(std::uint32_t from) const { return distances_[from]; }
    /// How many shortest ways lead there from `from`.
    std::uint64_t count(std::uint32_t from) const { return counts_[from]; }
    /// The one whose links have the lowest numbers, from the start on; empty: there is none.
    eco::LinkPath first(std::uint32_t from) const;

  private:
    const eco::LinkGraph& graph_;
    std::vector<std::uint32_t> distances_; ///< from each vertex
    std::vector<std::uint64_t> counts_;    ///< from each vertex
    std::vector<std::uint32_t> next_;      ///< from each vertex: the first link of first()
};

} // namespace plexus::tools::schedule
