// SPDX-License-Identifier: BSD-3-Clause
// Bounds from weights of links: the dual of spreading messages over shortest ways so that the most loaded
// link has least to carry. Any weights prove a bound: in one round the transfers' ways weigh at most as much
// as all links do together, so there are at least (sum of every message's lightest way) / (sum of all
// weights) rounds. Pure; whole numbers, so that what is proved is exact.
#pragma once

#include "synthesis/routes.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace plexus::eco {

/// A pair's message goes from each terminal to each other, or from `root` alone.
class WeightedLinks {
  public:
    /// `go_on` is asked now and then; false ends the searches. Both have to outlive it.
    WeightedLinks(const Routes& routes, std::optional<std::uint32_t> root,
                  const std::function<bool()>& go_on);

    struct Proof {
        std::uint64_t rounds = 0;
        std::vector<std::uint32_t> weights; ///< of each link
        std::uint64_t ways = 0;             ///< weight of all messages' lightest ways
        std::uint64_t links = 0;            ///< weight of all links
    };

    /// What `weights`, not all 0, prove.
    Proof prove(std::vector<std::uint32_t> weights);
    /// The best of those that were tried: links alone, links that leave the surroundings of a vertex, all
    /// alike, and weights that grow with the loads they cause.
    Proof search();
    /// Of messages that are passed on: each terminal accepts N - 1, each from whichever terminal is the
    /// nearest. Tried are all links alike and those that begin equally far from where messages enter.
    Proof search_forwarded();

  private:
    /// Links looked at for all terminals, at most: about two seconds.
    static constexpr std::uint64_t kMostWork = 200'000'000;

    /// A better proof may exist, and there is work left to look for it.
    bool open() const { return best_.rounds < least_load_ && work_ < kMostWork && go_on_(); }
    void consider(std::vector<std::uint32_t> weights);
    void consider_forwarded(std::vector<std::uint32_t> weights);
    /// Into `lightest`: the weight of the lightest of the shortest ways from each vertex to terminal `to`.
    void weigh(const std::vector<std::uint32_t>& weights, std::uint32_t to,
               std::vector<std::uint64_t>& lightest) const;
    void try_single_links();
    void try_surroundings();
    void try_loads();

    const Routes& routes_;
    const std::function<bool()>& go_on_;
    std::vector<std::uint32_t> senders_;
    std::vector<std::vector<std::uint32_t>> order_; ///< for each terminal: vertices by rising distance to it
    std::vector<double> loads_;                     ///< of each link, by the lightest ways of the last proof
    std::uint64_t least_load_ = 0; ///< rounds that some spreading of messages needs by links' loads alone
    std::uint64_t work_ = 0;
    Proof best_;
};

} // namespace plexus::eco
