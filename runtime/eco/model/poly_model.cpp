// SPDX-License-Identifier: BSD-3-Clause
#include "plexus/eco/poly_model.h"

#include "model/cluster_tree.h"
#include "model/play.h"
#include "plan/builder.h"
#include "plan/by_level.h"
#include "plan/exchange.h"
#include "plexus/eco/acquire.h"
#include "topology/refuse.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace plexus::eco {
namespace {

PlanRequest inside(const PolyRequest& request, Rank members, Rank root) {
    PlanRequest out{request.operation, members, root, request.bytes, 1, true};
    if (reduces(request.operation) && request.bytes % sizeof(double) == 0) {
        out.elements /= sizeof(double);
        out.element_bytes = sizeof(double);
    }
    return out;
}

/// The acquired models of a map, by the clusters that their hosts stand for.
class AcquiredModels {
  public:
    AcquiredModels(const Map& map, const Partition& clusters) {
        std::vector<std::size_t> cluster_of(map.hosts().size());
        for (std::size_t cluster = 0; cluster < clusters.size(); ++cluster)
            for (const std::size_t host : clusters[cluster]) cluster_of[host] = cluster;
        for (const AcquiredModel& each : map.acquired()) {
            const Key key{each.model, cluster_of[each.from], cluster_of[each.to]};
            // Its levels are of two clusters that the tolerance made one: operations inside have one level.
            if (cluster_of[each.from] == cluster_of[each.to] && each.levels.size() > 1) continue;
            const AcquiredModel*& known = by_link_[key];
            if (known == nullptr || (!known->has_parameters() && each.has_parameters())) known = &each;
        }
    }

    /// Of this way, or else of the way back; null: nobody tried. One with parameters goes before one without.
    const AcquiredModel* on(ModelKind kind, std::size_t from, std::size_t to) const {
        const AcquiredModel* there = one_way(kind, from, to);
        if (there != nullptr && there->has_parameters()) return there;
        const AcquiredModel* back = one_way(kind, to, from);
        return back != nullptr && (there == nullptr || back->has_parameters()) ? back : there;
    }

  private:
    using Key = std::tuple<std::string_view, std::size_t, std::size_t>;

    const AcquiredModel* one_way(ModelKind kind, std::size_t from, std::size_t to) const {
        const auto found = by_link_.find({to_string(kind), from, to});
        return found == by_link_.end() ? nullptr : found->second;
    }

    std::map<Key, const AcquiredModel*> by_link_;
};

/// Messages from each of `senders` to each of `receivers`, which count as processors from `first_receiver`
/// on, and the gaps of an acquired pLogP, if there is one.
Sample sample_of(const Map& map, Statistic statistic, const Subnet& senders, const Subnet& receivers,
                 std::size_t first_receiver, const AcquiredModel* plogp) {
    Sample out;
    for (std::size_t size = 0; size < map.sizes_bytes().size(); ++size)
        for (std::size_t from = 0; from < senders.size(); ++from)
            for (std::size_t to = 0; to < receivers.size(); ++to) {
                const Cost& cost = map.cost(size, senders[from], receivers[to]);
                if (senders[from] == receivers[to] || !cost.measured()) continue;
                out.messages.push_back({{map.sizes_bytes()[size], 0, from, first_receiver + to},
                                        cost.at(statistic) * kSecondsPerUs});
            }
    if (plogp != nullptr && plogp->levels.size() == 1)
        for (const SizedTimes& each : plogp->levels.front().sizes)
            out.occupancy.push_back(
                {each.bytes, 0, each.send_overhead_s, each.receive_overhead_s, each.gap_s});
    return out;
}

/// Acquired, or else fitted: then words say why it was not acquired, if somebody tried.
ModelFit model_on(const AcquiredModel* own, ModelKind kind, const Sample& sample) {
    std::string why;
    if (own != nullptr) {
        ModelFit out = fit(*own, sample);
        if (out.model) return out;
        why = "not acquired: " + out.words;
    }
    ModelFit out = fit(kind, sample);
    if (!why.empty() && out.words != own->words) out.words = out.words.empty() ? why : why + "; " + out.words;
    return out;
}

ClusterPrediction cluster_of(const Map& map, const PolyRequest& request, const Subnet& hosts,
                             const AcquiredModels& acquired, std::size_t at) {
    ClusterPrediction out;
    out.hosts = hosts;
    const auto root = std::find(hosts.begin(), hosts.end(), request.root);
    const auto coordinator = root == hosts.end() ? hosts.begin() : root;
    out.coordinator = *coordinator;
    if (hosts.size() == 1) return out;
    const Sample sample =
        sample_of(map, request.statistic, hosts, hosts, 0, acquired.on(ModelKind::plogp, at, at));
    out.has_gaps = !sample.occupancy.empty();
    for (const ModelKind kind : kModelKinds)
        out.models.push_back(model_on(acquired.on(kind, at, at), kind, sample));
    out.model = choose(out.models, request.bytes);
    if (!out.model) return out;
    out.patterns = predict_patterns(
        *out.models[*out.model].model,
        inside(request, static_cast<Rank>(hosts.size()), static_cast<Rank>(coordinator - hosts.begin())));
    out.fastest = earliest(out.patterns);
    return out;
}

/// The links between all clusters, and what is to be said of them.
class ClusterLinks {
  public:
    ClusterLinks(const Map& map, const PolyRequest& request, const AcquiredModels& acquired,
                 const std::vector<ClusterPrediction>& clusters)
      : map_(map)
      , request_(request)
      , acquired_(acquired)
      , clusters_(clusters)
      , links_(clusters.size(), std::vector<Link>(clusters.size())) {
        for (std::size_t from = 0; from < clusters.size(); ++from)
            for (std::size_t to = 0; to < clusters.size(); ++to)
                if (from != to) measure(from, to);
        complete();
    }

    /// Why they give no instance; empty: they do.
    const std::string& missing() const { return missing_; }
    const std::vector<std::string>& remarks() const { return remarks_; }
    const std::vector<LinkPrediction>& predictions() const { return predictions_; }
    /// By the model that counts for this link. Nothing is missing.
    KnownCosts costs(std::size_t from, std::size_t to) const {
        const Model& model = model_of(*links_[from][to].prediction);
        return {model, SIZE_MAX, widest_level(model)};
    }

    /// Of links of which nothing is missing.
    InterclusterInstance instance() const {
        InterclusterInstance out;
        out.latency_s.assign(clusters_.size(), std::vector<double>(clusters_.size(), 0));
        out.spacing_s = out.latency_s;
        const bool backwards = request_.operation == Operation::reduce;
        for (std::size_t from = 0; from < clusters_.size(); ++from) {
            const Subnet& hosts = clusters_[from].hosts;
            if (std::find(hosts.begin(), hosts.end(), request_.root) != hosts.end()) out.root = from;
            out.inside_s.push_back(clusters_[from].fastest.time_s);
            for (std::size_t to = 0; to < clusters_.size(); ++to) {
                if (from == to) continue;
                const LinkCost& cost = backwards ? *links_[to][from].cost : *links_[from][to].cost;
                out.latency_s[from][to] = cost.latency_s;
                out.spacing_s[from][to] = cost.spacing_s;
            }
        }
        return out;
    }

  private:
    struct Link {
        std::optional<LinkCost> cost;
        std::optional<std::size_t> prediction; ///< a place in `predictions_`: whose model gives the cost
        std::string words;                     ///< why something that was measured gives no cost
    };

    const Model& model_of(std::size_t prediction) const {
        const LinkPrediction& link = predictions_[prediction];
        return *link.models[*link.model].model;
    }
    static std::size_t widest_level(const Model& model) {
        const auto* levels = std::get_if<Steffenel>(&model);
        return levels != nullptr ? levels->levels.size() - 1 : 0;
    }

    const std::string& name(std::size_t cluster) const {
        return map_.hosts()[clusters_[cluster].coordinator];
    }

    void measure(std::size_t from, std::size_t to) {
        const Subnet& senders = clusters_[from].hosts;
        const Subnet& receivers = clusters_[to].hosts;
        const Sample sample = sample_of(map_, request_.statistic, senders, receivers, senders.size(),
                                        acquired_.on(ModelKind::plogp, from, to));
        if (sample.messages.empty()) return;
        LinkPrediction& link = predictions_.emplace_back(LinkPrediction{from, to, {}, {}});
        std::string words;
        for (const ModelKind kind : kModelKinds) {
            const bool is_usual = kind == ModelKind::hockney || kind == ModelKind::plogp;
            const AcquiredModel* const own = acquired_.on(kind, from, to);
            if (!is_usual && own == nullptr) continue;
            ModelFit each = model_on(own, kind, sample);
            if (!is_usual && !each.acquired)
                continue; // a fit to messages alone tells no more than the usual two
            if (is_usual)
                words += fmt::format("{}{}: {}", words.empty() ? "" : "; ", to_string(kind), each.words);
            link.models.push_back(std::move(each));
        }
        link.model = choose(link.models, request_.bytes);
        if (!link.model) {
            links_[from][to].words = words;
            return;
        }
        const std::size_t place = predictions_.size() - 1;
        const Model& model = model_of(place);
        links_[from][to].cost = cost(model, ModelMessage{request_.bytes, widest_level(model)});
        links_[from][to].prediction = place;
    }

    /// Null: none has a cost.
    const Link* slowest() const {
        const Link* out = nullptr;
        for (const auto& row : links_)
            for (const Link& link : row)
                if (link.cost && (out == nullptr || link.cost->message_s() > out->cost->message_s()))
                    out = &link;
        return out;
    }

    /// Gives each link a cost, or says why one has none.
    void complete() {
        const Link* const known = slowest();
        const std::optional<Link> in_place = known == nullptr ? std::nullopt : std::optional(*known);
        for (std::size_t from = 0; from < clusters_.size() && missing_.empty(); ++from)
            for (std::size_t to = from + 1; to < clusters_.size() && missing_.empty(); ++to)
                complete(from, to, in_place);
    }

    void complete(std::size_t one, std::size_t other, const std::optional<Link>& in_place) {
        Link& there = links_[one][other];
        Link& back = links_[other][one];
        if (!there.cost && !back.cost) {
            const std::string& words = there.words.empty() ? back.words : there.words;
            if (!words.empty()) {
                missing_ = fmt::format("no model describes the link between the clusters of {} and {}: {}",
                                       name(one), name(other), words);
                return;
            }
            if (!in_place) {
                missing_ = fmt::format("between the clusters of {} and {} nothing was measured", name(one),
                                       name(other));
                return;
            }
            there = *in_place;
            remarks_.push_back(fmt::format("Between the clusters of {} and {} nothing was measured: this "
                                           "link counts as the slowest of all.",
                                           name(one), name(other)));
        }
        if (!there.cost) there = back;
        if (!back.cost) back = there;
    }

    const Map& map_;
    const PolyRequest& request_;
    const AcquiredModels& acquired_;
    const std::vector<ClusterPrediction>& clusters_;
    std::vector<std::vector<Link>> links_;
    std::vector<LinkPrediction> predictions_;
    std::string missing_;
    std::vector<std::string> remarks_;
};

/// The first cluster without a model; empty: each has one.
std::string without_model(const Map& map, const std::vector<ClusterPrediction>& clusters) {
    for (const ClusterPrediction& each : clusters)
        if (each.hosts.size() > 1 && !each.model)
            return fmt::format("no model describes the cluster of {}: hockney: {}",
                               map.hosts()[each.coordinator], each.models.front().words);
    return {};
}

bool has_schedules(Operation operation) {
    return operation == Operation::broadcast || operation == Operation::reduce;
}

/// Why the operation has no patterns between clusters; empty: it has some.
std::string without_patterns(const PolyRequest& request, std::size_t hosts) {
    constexpr std::size_t kMostHostsToAll = 256;
    if (scans(request.operation)) return "a scan goes by rank, not by clusters";
    if (request.operation == Operation::all_to_all && hosts > kMostHostsToAll)
        return fmt::format("an all_to_all between clusters is predicted for up to {} hosts", kMostHostsToAll);
    return {};
}

/// A plan for all hosts: `between` coordinators, and inside each cluster its fastest pattern.
Plan compose(const PlanRequest& request, const std::vector<ClusterPrediction>& clusters,
             const GroupPattern& between) {
    Levels levels(2);
    levels[1].resize(1);
    for (const ClusterPrediction& each : clusters) {
        levels[0].push_back(each.hosts);
        levels[1][0].insert(levels[1][0].end(), each.hosts.begin(), each.hosts.end());
    }
    return plan_of_groups(request, levels, [&](std::size_t level, std::size_t group) {
        return level == 0 ? GroupPattern{clusters[group].fastest.options} : between;
    });
}

/// What models say of an operation between clusters: its plans for all hosts, played.
class BetweenClusters {
  public:
    BetweenClusters(const PolyRequest& request, const std::vector<ClusterPrediction>& clusters,
                    const ClusterLinks& links)
      : clusters_(clusters) {
        std::size_t hosts = 0;
        for (const ClusterPrediction& each : clusters) hosts += each.hosts.size();
        places_.resize(hosts);
        request_ = inside(request, static_cast<Rank>(hosts), static_cast<Rank>(request.root));
        for (std::size_t from = 0; from < clusters.size(); ++from) {
            for (std::size_t host = 0; host < clusters[from].hosts.size(); ++host)
                places_[clusters[from].hosts[host]] = {from, host};
            for (std::size_t to = 0; to < clusters.size(); ++to) {
                if (from != to) costs_.try_emplace({from, to}, links.costs(from, to));
                if (from == to && clusters[from].model)
                    costs_.try_emplace({from, from}, *clusters[from].models[*clusters[from].model].model,
                                       clusters[from].hosts.size());
            }
        }
    }

    /// By each pattern between coordinators.
    std::vector<PatternTime> times() {
        constexpr std::size_t kMostClustersInRounds = 128; // as predict_patterns() inside clusters
        std::vector<PatternTime> out;
        for (const Pattern pattern : kPatterns) {
            const bool is_long = pattern == Pattern::ring || pattern == Pattern::pairwise;
            if (!supports(pattern, request_.operation) ||
                (is_long && clusters_.size() > kMostClustersInRounds))
                continue;
            out.push_back(timed({pattern, 2, 0, 0}));
            if (pattern == Pattern::butterfly && request_.operation == Operation::all_reduce)
                out.push_back(timed({pattern, 2, 0, UINT64_MAX}));
        }
        return out;
    }

    std::vector<ExchangeTime> exchanges() {
        std::vector<ExchangeTime> out;
        Partition hosts;
        for (const ClusterPrediction& each : clusters_) hosts.push_back(each.hosts);
        for (const std::size_t exchangers : exchanger_counts(hosts, 1, 2, SIZE_MAX))
            for (const bool in_rounds : {false, true})
                if (!in_rounds || hosts.size() > 2) { // of two there is one round
                    const ExchangeOptions options{exchangers, in_rounds};
                    out.push_back({options, played_s(plan_exchange(request_, hosts, options))});
                }
        return out;
    }

    /// Of the largest message of all plans that were timed.
    std::uint64_t most_bytes() const noexcept { return most_bytes_; }

  private:
    struct Place {
        std::size_t cluster;
        std::size_t host; ///< in the cluster
    };

    PatternTime timed(const AlgorithmOptions& options) {
        return {options, played_s(compose(request_, clusters_, GroupPattern{options}))};
    }
    double played_s(const Plan& plan) {
        return play_s(plan, [&](const Message& message) {
            const auto [from, sender] = places_[message.from];
            const auto [to, receiver] = places_[message.to];
            const std::uint64_t bytes = plan.bytes_of(message);
            most_bytes_ = std::max(most_bytes_, bytes);
            return costs_.at({from, to}).of(bytes, sender, receiver);
        });
    }

    const std::vector<ClusterPrediction>& clusters_;
    PlanRequest request_;
    std::vector<Place> places_;                                       ///< by host
    std::map<std::pair<std::size_t, std::size_t>, KnownCosts> costs_; ///< from cluster to cluster
    std::uint64_t most_bytes_ = 0;
};

/// The first of those that end earliest, if it ends before `time_s`.
std::optional<ExchangeTime> earlier(const std::vector<ExchangeTime>& exchanges, double time_s) {
    std::optional<ExchangeTime> out;
    for (const ExchangeTime& each : exchanges)
        if (is_earlier(each.time_s, out ? out->time_s : time_s)) out = each;
    return out;
}

bool is_segmented_without_gaps(const ClusterPrediction& cluster) {
    return !cluster.patterns.empty() && cluster.fastest.options.pattern == Pattern::chain &&
           !cluster.has_gaps;
}

void schedule_between(const Map& map, const PolyRequest& request, const AcquiredModels& acquired,
                      PolyPrediction& out) {
    out.missing = without_model(map, out.clusters);
    const bool has_patterns = out.clusters.size() > 1 && !has_schedules(request.operation);
    if (out.missing.empty() && has_patterns) out.missing = without_patterns(request, map.hosts().size());
    if (!out.missing.empty()) return;
    const ClusterLinks links(map, request, acquired, out.clusters);
    out.links = links.predictions();
    out.missing = links.missing();
    if (!out.missing.empty()) return;
    out.remarks.insert(out.remarks.end(), links.remarks().begin(), links.remarks().end());
    if (has_patterns) {
        BetweenClusters between(request, out.clusters, links);
        out.patterns = between.times();
        out.fastest = earliest(out.patterns);
        if (request.operation == Operation::all_to_all) {
            out.exchanges = between.exchanges();
            out.exchange = earlier(out.exchanges, out.fastest.time_s);
        }
        if (const std::uint64_t known = map.sizes_bytes().back(); between.most_bytes() > known)
            out.remarks.push_back(fmt::format("Messages for several hosts have up to {} B, and the map knows "
                                              "up to {} B: beyond, the models go on as before.",
                                              between.most_bytes(), known));
        return;
    }
    out.between = links.instance();
    out.schedules = schedules(out.between, request.completion);
    const InterclusterSchedule& best = earliest(out.schedules, request.completion);
    out.chosen = static_cast<std::size_t>(&best - out.schedules.data());
}

} // namespace

PolyPrediction predict(const Map& map, const PolyRequest& asked) {
    PolyRequest request = asked;
    if (request.operation == Operation::barrier) request.bytes = 0;
    if (request.root >= map.hosts().size())
        refuse(Status::bad_argument, "root {} is no host: the map has {}", request.root, map.hosts().size());
    PolyPrediction out;
    out.operation = request.operation;
    out.root = request.root;
    const Partition clusters =
        partition(map.matrix(0, request.statistic, request.symmetry), request.tolerance);
    const AcquiredModels acquired(map, clusters);
    for (std::size_t at = 0; at < clusters.size(); ++at)
        out.clusters.push_back(cluster_of(map, request, clusters[at], acquired, at));
    const std::vector<std::uint64_t>& sizes = map.sizes_bytes();
    if (request.bytes > sizes.back())
        out.remarks.push_back(fmt::format(
            "The map knows messages of up to {} B: beyond, the models go on as before.", sizes.back()));
    if (!map.same_both_ways())
        out.remarks.emplace_back("The map differs by direction: models have each direction as measured, "
                                 "subnets one number for both.");
    if (std::any_of(out.clusters.begin(), out.clusters.end(), is_segmented_without_gaps))
        out.remarks.emplace_back("The map holds no gaps (plexus probe --models measures them): that a sender "
                                 "is busy with a message without bytes counts as "
                                 "latency, so small segments end later than predicted.");
    schedule_between(map, request, acquired, out);
    return out;
}

} // namespace plexus::eco
