// SPDX-License-Identifier: BSD-3-Clause
// What Plexus predicts of a broadcast on a simulated platform, and the programs that its plans are. The root
// is the first host of the first cluster; the first host of each is its coordinator.
#pragma once

#include "observe.h"
#include "player.h"

#include "plexus/eco/fit.h"
#include "plexus/eco/intercluster.h"
#include "plexus/eco/pattern_choice.h"

#include <cstdint>
#include <vector>

/// All hosts of the loaded platform, cluster by cluster.
class Grid {
  public:
    Grid();
    const std::vector<simgrid::s4u::Host*>& hosts() const noexcept { return hosts_; }
    std::size_t clusters() const noexcept { return first_.size() - 1; }
    std::uint32_t first(std::size_t cluster) const noexcept { return first_[cluster]; }
    std::uint32_t size(std::size_t cluster) const noexcept { return first_[cluster + 1] - first_[cluster]; }
    simgrid::s4u::Host* coordinator(std::size_t cluster) const { return hosts_[first_[cluster]]; }

  private:
    std::vector<simgrid::s4u::Host*> hosts_;
    std::vector<std::uint32_t> first_; ///< of each cluster, and the end
};

/// The models that were acquired in the simulation.
struct GridModels {
    std::vector<std::vector<plexus::eco::ModelFit>> inside;               ///< of each cluster
    std::vector<std::vector<std::vector<plexus::eco::ModelFit>>> between; ///< [from][to], from < to
};
GridModels acquire_models(const Grid& grid, Sending sending, Choice choice, std::uint64_t most_bytes);

/// Until when a coordinator sends nothing else.
enum class Spacing : std::uint8_t {
    link, ///< the gap of the link between the two clusters, as plexus::eco::predict() takes it
    port, ///< the gap inside the sender's cluster: what its own port takes; the rest counts as latency
};

struct GridPrediction {
    std::vector<plexus::eco::PatternTime> inside; ///< the fastest of each cluster
    plexus::eco::InterclusterInstance instance;
    std::vector<plexus::eco::InterclusterSchedule> schedules;
    std::size_t chosen = 0;
    double patterns_wall_s = 0; ///< how long each part took to compute
    double schedules_wall_s = 0;
};
std::vector<plexus::eco::PatternTime> patterns_inside(const Grid& grid, const GridModels& models,
                                                      std::size_t cluster, std::uint64_t bytes);
GridPrediction predict(const Grid& grid, const GridModels& models, Spacing spacing, std::uint64_t bytes);

/// The broadcast inside one cluster alone.
Program program_inside(const Grid& grid, std::size_t cluster, std::uint64_t bytes,
                       const plexus::eco::AlgorithmOptions& options);

/// The sends between coordinators, and after its last one the broadcast inside each cluster.
Program program_of(const Grid& grid, const std::vector<plexus::eco::ClusterSend>& sends,
                   const std::vector<plexus::eco::PatternTime>& inside, std::uint64_t bytes);

/// One plan for all hosts; member i is the host at place `order[i]`.
Program program_of_all(const std::vector<std::uint32_t>& order, std::uint64_t bytes,
                       const plexus::eco::AlgorithmOptions& options);
