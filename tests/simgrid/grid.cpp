// SPDX-License-Identifier: BSD-3-Clause
#include "grid.h"

#include "plexus/eco/plan.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace s4u = simgrid::s4u;
using namespace plexus::eco;

namespace {

PlanRequest broadcast_of(Rank members, std::uint64_t bytes) {
    PlanRequest out;
    out.operation = Operation::broadcast;
    out.members = members;
    out.elements = bytes;
    return out;
}

const Model& chosen_model(const std::vector<ModelFit>& among, std::uint64_t bytes) {
    const auto chosen = choose(among, bytes);
    if (!chosen) throw std::runtime_error("no model describes a link: " + among.front().words);
    return *among[*chosen].model;
}

/// Appends the steps of a plan whose member i is the host at place `hosts[i]`.
void append(Program& out, const Plan& plan, const std::vector<std::uint32_t>& hosts) {
    const auto offset = static_cast<std::uint32_t>(out.messages.size());
    for (const Message& message : plan.messages)
        out.messages.push_back({hosts[message.from], hosts[message.to], plan.bytes_of(message)});
    for (Rank member = 0; member < plan.members; ++member)
        for (const Step& step : plan.steps[member])
            out.steps[hosts[member]].push_back({offset + step.message, step.send});
}

std::vector<std::uint32_t> members_of(const Grid& grid, std::size_t cluster) {
    std::vector<std::uint32_t> out(grid.size(cluster));
    std::iota(out.begin(), out.end(), grid.first(cluster));
    return out;
}

Program empty_program(std::size_t hosts) {
    Program out;
    out.steps.resize(hosts);
    return out;
}

class Watch {
  public:
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    }

  private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

} // namespace

Grid::Grid() {
    std::map<std::pair<unsigned, unsigned>, s4u::Host*> sorted;
    for (s4u::Host* host : s4u::Engine::get_instance()->get_all_hosts()) {
        unsigned cluster = 0;
        unsigned place = 0;
        if (std::sscanf(host->get_cname(), "c%u-%u", &cluster, &place) != 2)
            throw std::runtime_error("not a host of this generator: " + host->get_name());
        sorted[{cluster, place}] = host;
    }
    for (const auto& [name, host] : sorted) {
        if (name.second == 0) first_.push_back(static_cast<std::uint32_t>(hosts_.size()));
        hosts_.push_back(host);
    }
    first_.push_back(static_cast<std::uint32_t>(hosts_.size()));
}

GridModels acquire_models(const Grid& grid, Sending sending, Choice choice, std::uint64_t most_bytes) {
    GridModels out;
    out.between.resize(grid.clusters(), std::vector<std::vector<ModelFit>>(grid.clusters()));
    for (std::size_t cluster = 0; cluster < grid.clusters(); ++cluster) {
        s4u::Host* const second = grid.hosts()[grid.first(cluster) + 1];
        out.inside.push_back(models_between(grid.coordinator(cluster), second, sending, choice, most_bytes));
        for (std::size_t other = cluster + 1; other < grid.clusters(); ++other)
            out.between[cluster][other] = models_between(grid.coordinator(cluster), grid.coordinator(other),
                                                         sending, choice, most_bytes);
    }
    return out;
}

std::vector<PatternTime> patterns_inside(const Grid& grid, const GridModels& models, std::size_t cluster,
                                         std::uint64_t bytes) {
    return predict_patterns(chosen_model(models.inside[cluster], bytes),
                            broadcast_of(grid.size(cluster), bytes));
}

GridPrediction predict(const Grid& grid, const GridModels& models, Spacing spacing, std::uint64_t bytes) {
    const Watch patterns;
    GridPrediction out;
    const std::size_t clusters = grid.clusters();
    for (std::size_t cluster = 0; cluster < clusters; ++cluster) {
        out.inside.push_back(earliest(patterns_inside(grid, models, cluster, bytes)));
        out.instance.inside_s.push_back(out.inside.back().time_s);
    }
    out.patterns_wall_s = patterns.seconds();
    const Watch scheduling;
    out.instance.latency_s.resize(clusters, std::vector<double>(clusters));
    out.instance.spacing_s = out.instance.latency_s;
    for (std::size_t from = 0; from < clusters; ++from)
        for (std::size_t to = 0; to < clusters; ++to) {
            if (from == to) continue;
            const auto& link = models.between[std::min(from, to)][std::max(from, to)];
            LinkCost there = cost(chosen_model(link, bytes), {bytes});
            if (spacing == Spacing::port) {
                const double port_s = cost(chosen_model(models.inside[from], bytes), {bytes}).spacing_s;
                const double whole_s = there.message_s();
                there.spacing_s = std::min(port_s, whole_s);
                there.latency_s = whole_s - there.spacing_s;
            }
            out.instance.latency_s[from][to] = there.latency_s;
            out.instance.spacing_s[from][to] = there.spacing_s;
        }
    out.schedules = schedules(out.instance);
    out.chosen = static_cast<std::size_t>(&earliest(out.schedules) - out.schedules.data());
    out.schedules_wall_s = scheduling.seconds();
    return out;
}

Program program_inside(const Grid& grid, std::size_t cluster, std::uint64_t bytes,
                       const AlgorithmOptions& options) {
    Program out = empty_program(grid.hosts().size());
    append(out, plan(broadcast_of(grid.size(cluster), bytes), options), members_of(grid, cluster));
    return out;
}

Program program_of(const Grid& grid, const std::vector<ClusterSend>& sends,
                   const std::vector<PatternTime>& inside, std::uint64_t bytes) {
    Program out = empty_program(grid.hosts().size());
    for (const ClusterSend& send : sends) out.add({grid.first(send.from), grid.first(send.to), bytes});
    for (std::size_t cluster = 0; cluster < grid.clusters(); ++cluster)
        append(out, plan(broadcast_of(grid.size(cluster), bytes), inside[cluster].options),
               members_of(grid, cluster));
    return out;
}

Program program_of_all(const std::vector<std::uint32_t>& order, std::uint64_t bytes,
                       const AlgorithmOptions& options) {
    Program out = empty_program(order.size());
    append(out, plan(broadcast_of(static_cast<Rank>(order.size()), bytes), options), order);
    return out;
}
