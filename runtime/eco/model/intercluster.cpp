// SPDX-License-Identifier: BSD-3-Clause
// Sources: Bhat, Raghavendra, Prasanna (1998) for FEF and ECEF; Steffenel, Mounié (2006) for the rules that
// look at the times inside clusters.
#include "plexus/eco/intercluster.h"

#include "model/search.h"
#include "topology/refuse.h"

#include <algorithm>
#include <cmath>

namespace plexus::eco {
namespace {

void check_rows(const std::vector<std::vector<double>>& matrix, std::size_t clusters, std::string_view name) {
    if (matrix.size() != clusters)
        refuse(Status::bad_argument, "{} has {} rows for {} clusters", name, matrix.size(), clusters);
    for (std::size_t from = 0; from < clusters; ++from)
        if (matrix[from].size() != clusters)
            refuse(Status::bad_argument, "row {} of {} has {} numbers for {} clusters", from, name,
                   matrix[from].size(), clusters);
}

void check_link(const InterclusterInstance& instance, std::size_t from, std::size_t to) {
    const double spacing = instance.spacing_s[from][to];
    const double latency = instance.latency_s[from][to];
    if (!(std::isfinite(spacing) && spacing >= 0))
        refuse(Status::bad_argument, "g[{}][{}] is {}: seconds are finite and not negative", from, to,
               spacing);
    if (!(std::isfinite(latency) && latency + spacing >= 0))
        refuse(Status::bad_argument, "L[{}][{}] is {}: it is finite, and with g[{}][{}] not negative", from,
               to, latency, from, to);
}

/// A schedule as it grows: who has the message and when each is ready to send.
class Progress {
  public:
    explicit Progress(const InterclusterInstance& instance)
      : instance_(instance)
      , ready_s_(instance.inside_s.size(), kLaterThanAll)
      , arrived_s_(instance.inside_s.size(), kLaterThanAll) {
        ready_s_[instance.root] = arrived_s_[instance.root] = 0;
        for (std::size_t cluster = 0; cluster < ready_s_.size(); ++cluster)
            (cluster == instance.root ? having_ : waiting_).push_back(cluster);
    }

    const std::vector<std::size_t>& having() const { return having_; }
    const std::vector<std::size_t>& waiting() const { return waiting_; }
    bool has(std::size_t cluster) const { return arrived_s_[cluster] != kLaterThanAll; }
    double end_s(std::size_t from, std::size_t to) const {
        return ready_s_[from] + instance_.spacing_s[from][to] + instance_.latency_s[from][to];
    }

    void send(std::size_t from, std::size_t to) {
        arrived_s_[to] = end_s(from, to);
        ready_s_[to] = arrived_s_[to];
        ready_s_[from] += instance_.spacing_s[from][to];
        waiting_.erase(std::lower_bound(waiting_.begin(), waiting_.end(), to));
        having_.insert(std::upper_bound(having_.begin(), having_.end(), to), to);
        sends_.push_back({from, to});
    }

    InterclusterSchedule take(std::optional<ScheduleRule> rule) {
        InterclusterSchedule out{rule, std::move(sends_), 0, 0};
        for (std::size_t cluster = 0; cluster < ready_s_.size(); ++cluster) {
            out.after_s = std::max(out.after_s, ready_s_[cluster] + instance_.inside_s[cluster]);
            out.overlap_s = std::max(out.overlap_s, arrived_s_[cluster] + instance_.inside_s[cluster]);
        }
        return out;
    }

  private:
    const InterclusterInstance& instance_;
    std::vector<double> ready_s_;
    std::vector<double> arrived_s_;
    std::vector<std::size_t> having_;
    std::vector<std::size_t> waiting_;
    std::vector<ClusterSend> sends_;
};

/// What the rules that look ahead add for receiver `to`: 0 where nobody else waits.
double look_ahead(const InterclusterInstance& instance, const Progress& progress, ScheduleRule rule,
                  std::size_t to) {
    if (progress.waiting().size() < 2) return 0;
    const bool most = rule == ScheduleRule::ecef_lat_max;
    double out = most ? 0 : kLaterThanAll;
    for (const std::size_t next : progress.waiting()) {
        if (next == to) continue;
        double cost = instance.spacing_s[to][next] + instance.latency_s[to][next];
        if (rule != ScheduleRule::ecef_la) cost += instance.inside_s[next];
        out = most ? std::max(out, cost) : std::min(out, cost);
    }
    return out;
}

/// The pair with the least `cost(from, to)`.
template <class Cost>
ClusterSend least_pair(const Progress& progress, const Cost& cost) {
    ClusterSend best{progress.having().front(), progress.waiting().front()};
    double least = kLaterThanAll;
    for (const std::size_t from : progress.having())
        for (const std::size_t to : progress.waiting())
            if (const double here = cost(from, to); here < least) {
                least = here;
                best = {from, to};
            }
    return best;
}

ClusterSend latest_receiver(const InterclusterInstance& instance, const Progress& progress) {
    ClusterSend best{0, 0};
    double latest = -1;
    for (const std::size_t to : progress.waiting()) {
        std::size_t sender = progress.having().front();
        for (const std::size_t from : progress.having())
            if (progress.end_s(from, to) < progress.end_s(sender, to)) sender = from;
        const double end = progress.end_s(sender, to) + instance.inside_s[to];
        if (end > latest || (end == latest && sender < best.from)) {
            latest = end;
            best = {sender, to};
        }
    }
    return best;
}

ClusterSend next_send(const InterclusterInstance& instance, const Progress& progress, ScheduleRule rule) {
    const auto end = [&](std::size_t from, std::size_t to) { return progress.end_s(from, to); };
    if (rule == ScheduleRule::flat) return {instance.root, progress.waiting().front()};
    if (rule == ScheduleRule::fef)
        return least_pair(progress,
                          [&](std::size_t from, std::size_t to) { return instance.latency_s[from][to]; });
    if (rule == ScheduleRule::ecef) return least_pair(progress, end);
    if (rule == ScheduleRule::bottom_up) return latest_receiver(instance, progress);
    std::vector<double> ahead(instance.inside_s.size(), 0);
    for (const std::size_t to : progress.waiting()) ahead[to] = look_ahead(instance, progress, rule, to);
    return least_pair(progress, [&](std::size_t from, std::size_t to) { return end(from, to) + ahead[to]; });
}

InterclusterSchedule by_heuristic(const InterclusterInstance& instance, ScheduleRule rule) {
    Progress progress(instance);
    while (!progress.waiting().empty()) {
        const ClusterSend next = next_send(instance, progress, rule);
        progress.send(next.from, next.to);
    }
    return progress.take(rule);
}

InterclusterSchedule by_search(const InterclusterInstance& instance, Completion completion,
                               const std::vector<InterclusterSchedule>& known) {
    InterclusterSchedule out = play(instance, best_sends(instance, completion, earliest(known, completion)));
    out.rule = ScheduleRule::optimal;
    return out;
}

std::vector<InterclusterSchedule> by_heuristics(const InterclusterInstance& instance) {
    std::vector<InterclusterSchedule> out;
    for (const ScheduleRule rule : kScheduleRules)
        if (rule != ScheduleRule::optimal) out.push_back(by_heuristic(instance, rule));
    return out;
}

} // namespace

std::string_view to_string(ScheduleRule rule) noexcept {
    switch (rule) {
    case ScheduleRule::flat:
        return "flat";
    case ScheduleRule::fef:
        return "fef";
    case ScheduleRule::ecef:
        return "ecef";
    case ScheduleRule::ecef_la:
        return "ecef_la";
    case ScheduleRule::ecef_lat_min:
        return "ecef_lat_min";
    case ScheduleRule::ecef_lat_max:
        return "ecef_lat_max";
    case ScheduleRule::bottom_up:
        return "bottom_up";
    case ScheduleRule::optimal:
        return "optimal";
    }
    return "unknown";
}

void check(const InterclusterInstance& instance) {
    const std::size_t clusters = instance.inside_s.size();
    if (clusters == 0) refuse(Status::bad_argument, "an instance has one cluster at least");
    check_rows(instance.latency_s, clusters, "L");
    check_rows(instance.spacing_s, clusters, "g");
    for (std::size_t from = 0; from < clusters; ++from)
        for (std::size_t to = 0; to < clusters; ++to)
            if (from != to) check_link(instance, from, to);
    for (std::size_t cluster = 0; cluster < clusters; ++cluster)
        if (const double inside = instance.inside_s[cluster]; !(std::isfinite(inside) && inside >= 0))
            refuse(Status::bad_argument, "T[{}] is {}: seconds are finite and not negative", cluster, inside);
    if (instance.root >= clusters)
        refuse(Status::bad_argument, "root {} is no cluster: there are {}", instance.root, clusters);
}

InterclusterSchedule play(const InterclusterInstance& instance, std::vector<ClusterSend> sends) {
    check(instance);
    const std::size_t clusters = instance.inside_s.size();
    Progress progress(instance);
    for (const ClusterSend& send : sends) {
        if (send.from >= clusters || !progress.has(send.from))
            refuse(Status::bad_argument, "cluster {} sends and has no message", send.from);
        if (send.to >= clusters || progress.has(send.to))
            refuse(Status::bad_argument, "cluster {} is sent the message and does not wait for it", send.to);
        progress.send(send.from, send.to);
    }
    if (!progress.waiting().empty())
        refuse(Status::bad_argument, "cluster {} is sent no message", progress.waiting().front());
    return progress.take({});
}

InterclusterSchedule schedule(const InterclusterInstance& instance, ScheduleRule rule,
                              Completion completion) {
    check(instance);
    if (rule != ScheduleRule::optimal) return by_heuristic(instance, rule);
    if (instance.inside_s.size() > kOptimalClusters)
        refuse(Status::bad_argument, "the optimum is searched for up to {} clusters; here are {}",
               kOptimalClusters, instance.inside_s.size());
    return by_search(instance, completion, by_heuristics(instance));
}

std::vector<InterclusterSchedule> schedules(const InterclusterInstance& instance, Completion completion) {
    check(instance);
    std::vector<InterclusterSchedule> out = by_heuristics(instance);
    if (instance.inside_s.size() <= kOptimalClusters) out.push_back(by_search(instance, completion, out));
    return out;
}

const InterclusterSchedule& earliest(const std::vector<InterclusterSchedule>& among,
                                     Completion completion) noexcept {
    return *std::min_element(among.begin(), among.end(), [completion](const auto& a, const auto& b) {
        return a.completion_s(completion) < b.completion_s(completion);
    });
}

} // namespace plexus::eco
