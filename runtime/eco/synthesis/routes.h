// SPDX-License-Identifier: BSD-3-Clause
// The shortest ways between the terminals of a link graph. Made once for a graph, which has to outlive it.
// Pure.
#pragma once

#include "plexus/eco/link_graph.h"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace plexus::eco {

class Routes {
  public:
    static constexpr std::uint32_t kUnreachable = std::numeric_limits<std::uint32_t>::max();

    explicit Routes(const LinkGraph& graph);

    const LinkGraph& graph() const noexcept { return *graph_; }
    std::uint32_t terminals() const noexcept { return static_cast<std::uint32_t>(graph_->terminals.size()); }

    /// Links between `vertex` and where terminal `to` accepts; kUnreachable: there is no way.
    std::uint32_t distance(std::uint32_t vertex, std::uint32_t to) const noexcept {
        return distances_[to * graph_->vertices.size() + vertex];
    }
    /// The links that leave `vertex`, by rising numbers.
    std::span<const std::uint32_t> leaving(std::uint32_t vertex) const noexcept {
        return {leaving_.data() + first_leaving_[vertex],
                first_leaving_[vertex + 1] - first_leaving_[vertex]};
    }
    /// True if `link` is on a shortest way to terminal `to`.
    bool leads(std::uint32_t link, std::uint32_t to) const noexcept {
        const DirectedLink ends = graph_->links[link];
        const std::uint32_t behind = distance(ends.to, to);
        return behind != kUnreachable && behind + 1 == distance(ends.from, to);
    }
    /// As shortest_paths().
    std::vector<LinkPath> paths(std::uint32_t from, std::uint32_t to, std::size_t most) const;

  private:
    void measure(std::uint32_t to, const std::vector<std::vector<std::uint32_t>>& entering);

    const LinkGraph* graph_;
    std::vector<std::uint32_t> first_leaving_;
    std::vector<std::uint32_t> leaving_;
    std::vector<std::uint32_t> distances_; ///< [to * vertices + vertex]
};

} // namespace plexus::eco
