// SPDX-License-Identifier: BSD-3-Clause
#include "plexus/eco/model.h"

#include "model/play.h"
#include "topology/refuse.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace plexus::eco {
namespace {

std::size_t processor_count(const Model& model) {
    if (const auto* cappello = std::get_if<Cappello>(&model)) return cappello->processing_s.size();
    if (const auto* lastovetsky = std::get_if<Lastovetsky>(&model)) return lastovetsky->processors.size();
    return 0;
}

} // namespace

KnownCosts::KnownCosts(const Model& model, std::size_t members, std::size_t level)
  : model_(&model)
  , has_each_member_(processor_count(model) >= members)
  , level_(level) {}

LinkCost KnownCosts::of(std::uint64_t bytes, std::size_t sender, std::size_t receiver) {
    ModelMessage asked{bytes, level_};
    if (has_each_member_) {
        asked.sender = sender;
        asked.receiver = receiver;
    }
    const auto [place, is_new] = known_.try_emplace({asked.bytes, asked.sender, asked.receiver});
    if (is_new) place->second = cost(*model_, asked);
    return place->second;
}

double predict_s(const Model& model, const PlanRequest& request, const AlgorithmOptions& options) {
    check(model);
    const Plan made = plan(request, options);
    KnownCosts costs(model, made.members);
    return play_s(made, [&](const Message& message) {
        return costs.of(made.bytes_of(message), message.from, message.to);
    });
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
