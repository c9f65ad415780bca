// SPDX-License-Identifier: BSD-3-Clause
#include "model/search.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace plexus::eco {
namespace {

template <class Value>
using PerCluster = std::array<Value, kOptimalClusters>;

/// A schedule in part, a value: copied from branch to branch.
struct State {
    unsigned having = 0; ///< a bit for each cluster
    double last_start_s = 0;
    double done_s = 0; ///< the completion of those that have the message, if they send no more
    PerCluster<double> ready_s{};
};

/// Every schedule has an order in which starts do not fall: only those are visited, so each once.
class OptimumSearch {
  public:
    OptimumSearch(const InterclusterInstance& instance, Completion completion,
                  const InterclusterSchedule& known)
      : clusters_(instance.inside_s.size())
      , is_after_(completion == Completion::after)
      , best_s_(known.completion_s(completion))
      , best_(known.sends) {
        for (std::size_t from = 0; from < clusters_; ++from) {
            inside_s_[from] = instance.inside_s[from];
            for (std::size_t to = 0; to < clusters_; ++to) {
                if (from == to) continue;
                spacing_s_[from][to] = instance.spacing_s[from][to];
                message_s_[from][to] = instance.spacing_s[from][to] + instance.latency_s[from][to];
            }
        }
        find_ways();
        State start;
        start.having = 1U << instance.root;
        start.done_s = inside_s_[instance.root];
        visit(start);
    }

    std::vector<ClusterSend> take() { return std::move(best_); }

  private:
    struct Branch {
        double end_s;
        std::size_t from;
        std::size_t to;
    };

    static bool has(unsigned set, std::size_t cluster) { return (set >> cluster & 1U) != 0; }

    /// The shortest way between two clusters over any others.
    void find_ways() {
        way_s_ = message_s_;
        for (std::size_t over = 0; over < clusters_; ++over)
            for (std::size_t from = 0; from < clusters_; ++from)
                for (std::size_t to = 0; to < clusters_; ++to)
                    way_s_[from][to] = std::min(way_s_[from][to], way_s_[from][over] + way_s_[over][to]);
    }

    /// No completion of `state` is before this.
    double bound_s(const State& state) const {
        double out = state.done_s;
        for (std::size_t to = 0; to < clusters_; ++to) {
            if (has(state.having, to)) continue;
            double arrival = kLaterThanAll;
            for (std::size_t from = 0; from < clusters_; ++from)
                if (has(state.having, from) && state.ready_s[from] >= state.last_start_s)
                    arrival = std::min(arrival, state.ready_s[from] + way_s_[from][to]);
            out = std::max(out, arrival + inside_s_[to]);
        }
        return out;
    }

    State sent(const State& state, const Branch& branch) const {
        State out = state;
        const auto [end, from, to] = branch;
        out.having |= 1U << to;
        out.last_start_s = state.ready_s[from];
        out.ready_s[from] += spacing_s_[from][to];
        out.ready_s[to] = end;
        out.done_s = std::max(out.done_s, end + inside_s_[to]);
        if (is_after_) out.done_s = std::max(out.done_s, out.ready_s[from] + inside_s_[from]);
        return out;
    }

    void visit(const State& state) {
        if (bound_s(state) >= best_s_) return;
        if (sends_.size() + 1 == clusters_) {
            best_s_ = state.done_s;
            best_ = sends_;
            return;
        }
        std::array<Branch, kOptimalClusters * kOptimalClusters> branches;
        std::size_t count = 0;
        for (std::size_t from = 0; from < clusters_; ++from) {
            if (!has(state.having, from) || state.ready_s[from] < state.last_start_s) continue;
            for (std::size_t to = 0; to < clusters_; ++to)
                if (!has(state.having, to))
                    branches[count++] = {state.ready_s[from] + message_s_[from][to], from, to};
        }
        std::sort(branches.begin(), branches.begin() + static_cast<std::ptrdiff_t>(count),
                  [](const Branch& a, const Branch& b) {
                      return std::tie(a.end_s, a.from, a.to) < std::tie(b.end_s, b.from, b.to);
                  });
        for (std::size_t branch = 0; branch < count; ++branch) {
            sends_.push_back({branches[branch].from, branches[branch].to});
            visit(sent(state, branches[branch]));
            sends_.pop_back();
        }
    }

    std::size_t clusters_;
    bool is_after_;
    PerCluster<double> inside_s_{};
    PerCluster<PerCluster<double>> spacing_s_{};
    PerCluster<PerCluster<double>> message_s_{};
    PerCluster<PerCluster<double>> way_s_{};
    std::vector<ClusterSend> sends_;
    double best_s_;
    std::vector<ClusterSend> best_;
};

} // namespace

std::vector<ClusterSend> best_sends(const InterclusterInstance& instance, Completion completion,
                                    const InterclusterSchedule& known) {
    return OptimumSearch(instance, completion, known).take();
}

} // namespace plexus::eco
