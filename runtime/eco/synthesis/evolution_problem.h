// SPDX-License-Identifier: BSD-3-Clause
// What the evolutionary search looks for: the genes of a collective communication, and all shortest paths
// (section 4.1 of the paper). Made once. Pure.
#pragma once

#include "plexus/eco/round_schedule.h"
#include "synthesis/routes.h"

#include <cstdint>
#include <span>
#include <vector>

namespace plexus::eco {

/// One transfer: section 4.2. A scatter does not use `source`, which is the row's origin there.
struct Gene {
    std::uint32_t round = 0;
    std::uint16_t source = 0;
    std::uint16_t path = 0; ///< among those of source and destination
    bool operator==(const Gene&) const = default;
};

/// The genes stand in rows, one row per message (broadcasts) or source (scatters): the row's origin, then a
/// gene for each other terminal.
class EvolutionProblem {
  public:
    EvolutionProblem(const LinkGraph& graph, CollectiveKind kind, std::uint32_t root);

    bool scatters() const noexcept { return kind_ == CollectiveKind::oas || kind_ == CollectiveKind::aas; }
    bool one_port() const noexcept { return routes_.graph().ports == Ports::one; }
    std::uint32_t terminals() const noexcept { return routes_.terminals(); }
    /// Genes of a row.
    std::uint32_t width() const noexcept { return terminals() - 1; }
    std::uint32_t rows() const noexcept { return all_to_all() ? terminals() : 1; }
    std::uint32_t genes() const noexcept { return rows() * width(); }
    std::uint32_t origin(std::uint32_t row) const noexcept { return all_to_all() ? row : root_; }
    /// Who accepts the transfer of a gene.
    std::uint32_t destination(std::uint32_t gene) const noexcept {
        const std::uint32_t place = gene % width();
        return place < origin(gene / width()) ? place : place + 1;
    }
    /// Links of the network, and behind them an injection and an acceptance link for each one-port terminal
    /// whose other links do not stand for it.
    std::uint32_t links() const noexcept { return links_; }
    /// Paths from `from` to `to`.
    std::uint32_t paths(std::uint32_t from, std::uint32_t to) const noexcept {
        const std::size_t pair = static_cast<std::size_t>(from) * terminals() + to;
        return first_path_[pair + 1] - first_path_[pair];
    }
    /// The links of one of them.
    std::span<const std::uint32_t> path(std::uint32_t from, std::uint32_t to,
                                        std::uint32_t number) const noexcept {
        const std::size_t at = first_path_[static_cast<std::size_t>(from) * terminals() + to] + number;
        return {path_links_.data() + first_link_[at], first_link_[at + 1] - first_link_[at]};
    }
    /// Copies of one message that `terminal` can send in a round.
    std::uint32_t copies(std::uint32_t terminal) const noexcept { return copies_[terminal]; }

    /// The transfers of `genes`, which are free of conflicts.
    RoundSchedule schedule(std::span<const Gene> genes, std::uint32_t rounds) const;

  private:
    bool all_to_all() const noexcept { return kind_ == CollectiveKind::aab || kind_ == CollectiveKind::aas; }
    void number_ports();
    void find_paths();

    Routes routes_;
    CollectiveKind kind_;
    std::uint32_t root_;
    std::uint32_t links_;
    std::vector<std::uint32_t> injection_;  ///< by terminal; kNoPort: none of its own
    std::vector<std::uint32_t> acceptance_; ///< likewise
    std::vector<std::uint32_t> copies_;
    std::vector<std::uint32_t> first_path_; ///< by pair of terminals
    std::vector<std::size_t> first_link_;   ///< by path
    std::vector<std::uint32_t> path_links_;
};

} // namespace plexus::eco
