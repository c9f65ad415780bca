// SPDX-License-Identifier: BSD-3-Clause
// The poly-model of a map: for each cluster the model that describes it best and the pattern that ends first
// under it, and between clusters the schedule that completes first. Times in seconds. Pure. Any thread.
#pragma once

#include "plexus/eco/fit.h"
#include "plexus/eco/intercluster.h"
#include "plexus/eco/map.h"
#include "plexus/eco/network.h"
#include "plexus/eco/partition.h"
#include "plexus/eco/pattern_choice.h"
#include "plexus/export.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plexus::eco {

struct PolyRequest {
    Operation operation = Operation::broadcast;
    /// Of the whole vector where blocks are its parts, else of each block. A barrier has none.
    std::uint64_t bytes = 0;
    std::size_t root = 0; ///< a place in Map::hosts()
    Tolerance tolerance = {};
    Symmetry symmetry = Symmetry::mean; ///< decides subnets alone: messages count as each way was measured
    Statistic statistic = Statistic::min;
    Completion completion = Completion::after;
};

/// One cluster: a subnet of the map by its smallest size.
struct ClusterPrediction {
    Subnet hosts;
    std::size_t coordinator = 0; ///< a place in Map::hosts(): the root, or the cluster's first host
    std::vector<ModelFit> models;
    std::optional<std::size_t> model; ///< a place in `models`; nothing: one host, or no model describes it
    bool has_gaps = false;            ///< some were measured, by pLogP's procedure
    std::vector<PatternTime> patterns;
    PatternTime fastest; ///< of `patterns`; of one host: 0 s
};

/// The way from one cluster to another, as it was measured.
struct LinkPrediction {
    std::size_t from = 0; ///< places in PolyPrediction::clusters
    std::size_t to = 0;
    std::vector<ModelFit> models;
    std::optional<std::size_t> model; ///< a place in `models`; nothing: no model describes it
};

struct ExchangeTime {
    ExchangeOptions options;
    double time_s = 0;
};

struct PolyPrediction {
    Operation operation = Operation::broadcast;
    std::size_t root = 0; ///< a place in Map::hosts()
    std::vector<ClusterPrediction> clusters;
    /// Those with messages in the map. Models: the acquired ones, and Hockney and pLogP fitted to all
    /// messages from cluster to cluster where these were not acquired.
    std::vector<LinkPrediction> links;
    /// Of a reduction: the links the other way, since its schedule is that of a broadcast, run backwards.
    InterclusterInstance between;
    std::vector<InterclusterSchedule> schedules; ///< of other operations between several clusters: none
    std::size_t chosen = 0;                      ///< a place in `schedules`
    /// Of other operations between several clusters: the completion by each pattern between coordinators, as
    /// plan_by_level().
    std::vector<PatternTime> patterns;
    PatternTime fastest; ///< of `patterns`
    /// Of an all_to_all between several clusters: the completion with 1, 2, 4 … and all members of each
    /// cluster as exchangers, at once, and in rounds if there are more than two clusters.
    std::vector<ExchangeTime> exchanges;
    std::optional<ExchangeTime> exchange; ///< that of `exchanges` which ends before `fastest`, if one does
    std::vector<std::string> remarks;     ///< on what the prediction rests, in sentences
    /// Why there is no choice, and then no instance, schedule or pattern; empty: there is one.
    std::string missing;
};

/// What a map holds counts as a sample: messages of each size between each two hosts, both ways, and
/// overheads and gaps that pLogP's procedure found. Where the map has acquired parameters of a model for two
/// hosts of a cluster, or for a host of each of two clusters in either order, they take the place of a fit.
/// Operations inside clusters are those of the request, from or to the coordinator. Between clusters
/// broadcast and reduce have schedules. Other operations have patterns between coordinators: the plan that
/// plan_by_level() makes of each, with the fastest patterns inside clusters, is played with the cost of every
/// message by the model of its cluster or link; so are the exchanges of an all_to_all. Scans go by rank and
/// have neither, and neither has an all_to_all of more than 256 hosts, whose plans have blocks for each pair
/// of hosts. A link that was measured in one direction counts so in both, one that was not measured as the
/// slowest of all.
/// @error bad_argument no such root, or the operation has too many blocks (thrown)
/// @error bad_config   the map differs by direction and `symmetry` is refuse (thrown)
PLEXUS_API PolyPrediction predict(const Map& map, const PolyRequest& request);

/// The plan that was chosen: between clusters the chosen schedule, the fastest pattern or the exchange that
/// ends before it; inside each cluster its fastest pattern, and messages to each in an exchange. Members are
/// the hosts of the map, in its order. A coordinator serves other clusters before the members of its own.
/// Where all patterns are trees and one of them is a chain in segments, coordinators do so for each segment:
/// such a plan ends earlier than predicted. `request` is that of the prediction, in elements.
/// @error bad_argument another operation, root or number of members (thrown)
/// @error unsupported  there is no choice: PolyPrediction::missing says why; or the order of contributions
/// counts and there are several clusters (thrown)
PLEXUS_API Plan to_plan(const PolyPrediction& prediction, const PlanRequest& request);

/// The plan that predict() and to_plan() choose for the hosts of a group's members, of which a host may have
/// several: `host_of` says for each member its place in map.hosts(). Hosts without members do not count. The
/// models know hosts alone: between the members of one host goes the pattern that ends first by Hockney's
/// model with LocalCost, and an all_to_all with such hosts takes the fastest pattern, not an exchange.
/// @error bad_argument another number of members, or no such host; as plan() (thrown)
/// @error unsupported  there is no choice: the text says why; the order of contributions counts; a scan with
/// several members on a host (thrown)
PLEXUS_API Plan plan_by_models(const PlanRequest& request, const Map& map,
                               const std::vector<std::size_t>& host_of, Tolerance tolerance = {});

/// A broadcast or reduction between clusters by the schedule of `rule`, and inside them by `inside`, as
/// plan_by_level(). The clusters are the closest groups of Network::levels() with members on several hosts.
/// The instance for the rule has the network's costs between coordinators, and the times inside as Hockney's
/// model with the mean costs of the cluster has them. One cluster: plan_by_level() alone. `optimal` of more
/// than kOptimalClusters clusters: what completes first by the other rules. Segments go as in to_plan().
/// @error bad_argument the network has another number of members; as plan_by_level() (thrown)
/// @error unsupported  another operation; the order of contributions counts; as plan_by_level() (thrown)
PLEXUS_API Plan plan_by_rule(const PlanRequest& request, const Network& network, ScheduleRule rule,
                             const std::vector<AlgorithmOptions>& inside);

} // namespace plexus::eco
