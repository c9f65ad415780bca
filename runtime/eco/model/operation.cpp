// SPDX-License-Identifier: BSD-3-Clause
#include "plexus/eco/model.h"

#include "plan/run.h"
#include "topology/refuse.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <tuple>

namespace plexus::eco {
namespace {

std::size_t processor_count(const Model& model) {
    if (const auto* cappello = std::get_if<Cappello>(&model)) return cappello->processing_s.size();
    if (const auto* lastovetsky = std::get_if<Lastovetsky>(&model)) return lastovetsky->processors.size();
    return 0;
}

/// A model's cost for each kind of message that a plan has, computed once.
class KnownCosts {
  public:
    KnownCosts(const Model& model, const Plan& plan)
      : model_(model)
      , plan_(plan)
      , has_each_member_(processor_count(model) >= plan.members) {}

    LinkCost of(const Message& message) {
        ModelMessage asked{plan_.bytes_of(message)};
        if (has_each_member_) {
            asked.sender = message.from;
            asked.receiver = message.to;
        }
        const auto [place, is_new] = known_.try_emplace({asked.bytes, asked.sender, asked.receiver});
        if (is_new) place->second = cost(model_, asked);
        return place->second;
    }

  private:
    const Model& model_;
    const Plan& plan_;
    bool has_each_member_;
    std::map<std::tuple<std::uint64_t, std::size_t, std::size_t>, LinkCost> known_;
};

} // namespace

double predict_s(const Model& model, const PlanRequest& request, const AlgorithmOptions& options) {
    check(model);
    const Plan made = plan(request, options);
    KnownCosts costs(model, made);
    std::vector<double> clock_s(made.members, 0);
    std::vector<double> taken_s(made.members, 0);
    std::vector<double> arrival_s(made.messages.size(), 0);
    run(
        made,
        [&](std::uint32_t place) {
            const Message& message = made.messages[place];
            const LinkCost cost = costs.of(message);
            clock_s[message.from] += cost.spacing_s;
            arrival_s[place] = clock_s[message.from] + cost.latency_s;
            return true;
        },
        [&](std::uint32_t place) {
            const Message& message = made.messages[place];
            double& taken = taken_s[message.to];
            taken = std::max(arrival_s[place], taken + costs.of(message).spacing_s);
            clock_s[message.to] = std::max(clock_s[message.to], taken);
            return true;
        });
    return *std::max_element(taken_s.begin(), taken_s.end());
}

BroadcastTimes predict_broadcast(const BroadcastTask& task) {
    for (const LinkCost& link : {task.message, task.segment})
        for (const double time : {link.spacing_s, link.message_s()})
            if (!(std::isfinite(time) && time >= 0))
                refuse(Status::bad_argument, "a time of {} s: times are finite and not negative", time);
    if (task.members == 0) refuse(Status::bad_argument, "a broadcast has one member at least");
    if (task.segments == 0) refuse(Status::bad_argument, "a message has one segment at least");
    if (task.members == 1) return {};
    const auto [latency, spacing] = task.message;
    const auto others = static_cast<double>(task.members - 1);
    const auto further = static_cast<double>(task.segments - 1);
    const auto floor_log = static_cast<double>(std::bit_width(task.members) - 1);
    const auto ceil_log = static_cast<double>(std::bit_width(task.members - 1));
    BroadcastTimes out;
    out.linear_s = latency + others * spacing;
    out.pipeline_s = others * task.segment.message_s() + further * task.segment.spacing_s;
    out.binary_s = ceil_log * (2 * spacing + latency);
    out.binomial_s = ceil_log * latency + floor_log * spacing;
    // Where a latency is negative the root's last message arrives last.
    out.binomial_exact_s = ceil_log * spacing + std::max(floor_log * latency, latency);
    return out;
}

BroadcastTask broadcast_task(const Model& model, std::uint64_t members, std::uint64_t bytes,
                             std::uint64_t segment_bytes) {
    const std::uint64_t segment = segment_bytes == 0 ? bytes : std::min(segment_bytes, bytes);
    const LinkCost whole = cost(model, {bytes});
    const LinkCost part = cost(model, {segment});
    const std::uint64_t segments = segment == 0 ? 1 : bytes / segment + (bytes % segment != 0);
    return {whole, part, members, segments};
}

std::uint64_t best_segment(const Model& model, std::uint64_t members, std::uint64_t bytes,
                           std::uint64_t least_bytes) {
    if (!std::has_single_bit(least_bytes))
        refuse(Status::bad_argument, "{} B is no power of two: segments are", least_bytes);
    const auto end_s = [&](std::uint64_t segment) {
        return predict_broadcast(broadcast_task(model, members, bytes, segment)).pipeline_s;
    };
    std::uint64_t best = 0;
    double least = end_s(0);
    for (std::uint64_t segment = std::bit_floor(bytes); segment >= least_bytes; segment /= 2)
        if (const double here = end_s(segment); here < least) {
            least = here;
            best = segment;
        }
    return best;
}

} // namespace plexus::eco
