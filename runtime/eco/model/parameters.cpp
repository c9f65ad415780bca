// SPDX-License-Identifier: BSD-3-Clause
// Each model's parameters. Messages give sums of parameters as functions of size; occupancy and load take
// these sums apart. What is negative by rounding alone is 0; check() refuses what is still negative.
#include "model/parameters.h"

#include "model/least_squares.h"
#include "model/sample.h"
#include "topology/refuse.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace plexus::eco {
namespace {

constexpr char kNoOverhead[] = "no overhead was measured: it is part of the latency";
constexpr char kNoGap[] = "no gap was measured: at size 0 it is part of the latency";

void note(std::string& all, std::string_view one) {
    if (!all.empty()) all += "; ";
    all += one;
}

template <class X>
std::vector<LinePoint> points_of(const TimeBySize& times, const X& x) {
    std::vector<LinePoint> out;
    for (const auto& [bytes, time] : times) out.push_back({x(bytes), time});
    return out;
}

double further_bytes(std::uint64_t bytes) {
    return static_cast<double>(std::max<std::uint64_t>(bytes, 1) - 1);
}

double packets_of(std::uint64_t bytes, std::uint64_t packet) {
    const std::uint64_t full = bytes / packet + (bytes % packet != 0);
    return static_cast<double>(std::max<std::uint64_t>(full, 1));
}

FittedLine line_of(const std::vector<LinePoint>& points) {
    const auto line = fit_line(points);
    if (!line) refuse_sample("sizes 0 and 1 alone were measured, which it does not tell apart");
    const double scale = points.front().y;
    return {settled(line->start, scale), line->slope};
}

Parameters hockney(const Sample& sample) {
    const FittedLine line = line_of(points_of(
        rising_times(sample.messages, 2), [](std::uint64_t bytes) { return static_cast<double>(bytes); }));
    if (!(line.slope > 0)) refuse_sample("the time does not rise with size: there is no bandwidth");
    return {Hockney{line.start, 1 / line.slope}, {}};
}

/// A part of `whole_s` for the overheads at both ends, and what is left.
struct MessageEnds {
    double overhead_s;
    double latency_s;
};
MessageEnds ends_of(double whole_s, const Sample& sample, std::string& assumed) {
    const auto overhead = overhead_of(sample);
    if (!overhead) note(assumed, kNoOverhead);
    return {overhead.value_or(0), settled(whole_s - 2 * overhead.value_or(0), whole_s)};
}

LogGP loggp(const Sample& sample, const std::vector<MeasuredMessage>& messages, std::string& assumed) {
    const auto points = points_of(rising_times(messages, 2), further_bytes);
    const FittedLine line = line_of(points);
    const double per_byte = settled(line.slope, points.front().y / (1 + points.back().x));
    const auto [overhead, latency] = ends_of(line.start, sample, assumed);
    std::vector<double> gaps;
    for (const auto& [bytes, gap] : gap_by_size(sample))
        gaps.push_back(settled(gap - further_bytes(bytes) * per_byte, gap));
    if (gaps.empty()) note(assumed, kNoGap);
    return {latency, overhead, gaps.empty() ? overhead : median_of(std::move(gaps)), per_byte};
}

struct PacketLine {
    std::uint64_t packet_bytes = 0; ///< 0: none
    FittedLine line;
};

PacketLine best_packet(const TimeBySize& times, std::uint64_t known_bytes) {
    constexpr std::uint64_t kLeast = 64;
    constexpr std::uint64_t kMost = std::uint64_t{64} << 10;
    PacketLine best;
    double least = 0;
    for (std::uint64_t packet = known_bytes != 0 ? known_bytes : kMost;; packet /= 2) {
        const auto points =
            points_of(times, [&](std::uint64_t bytes) { return packets_of(bytes, packet) - 1; });
        if (const auto line = fit_line(points)) {
            const double errors = squared_errors(*line, points);
            if (best.packet_bytes == 0 || errors < least * (1 - 1e-9)) {
                best = {packet, {settled(line->start, points.front().y), line->slope}};
                least = errors;
            }
        }
        if (known_bytes != 0 || packet == kLeast) return best;
    }
}

/// Where every size is one packet, measured gaps are those of a packet.
PacketLine single_packet(const TimeBySize& times, const Sample& sample) {
    std::vector<double> gaps;
    std::vector<double> starts;
    for (const auto& [bytes, gap] : gap_by_size(sample))
        gaps.push_back(gap / packets_of(bytes, sample.packet_bytes));
    for (const auto& [bytes, time] : times) starts.push_back(time);
    if (gaps.empty() || sample.packet_bytes == 0)
        refuse_sample("every size is one packet: the gap between packets is not seen");
    return {sample.packet_bytes, {median_of(std::move(starts)), median_of(std::move(gaps))}};
}

LogP logp(const Sample& sample, const std::vector<MeasuredMessage>& messages, std::string& assumed) {
    const TimeBySize times = rising_times(messages, sample.packet_bytes != 0 ? 1 : 3);
    PacketLine found = best_packet(times, sample.packet_bytes);
    if (found.packet_bytes == 0) found = single_packet(times, sample);
    const auto [overhead, latency] = ends_of(found.line.start, sample, assumed);
    if (sample.packet_bytes == 0) note(assumed, "the packet is the one that fits best");
    return {latency, overhead, settled(found.line.slope, found.line.start), found.packet_bytes};
}

/// By how much messages take longer than `free` says: the mean over sizes.
double wait_of(const std::vector<MeasuredMessage>& messages, const Model& free) {
    const TimeBySize times = time_by_size(messages);
    double sum = 0;
    double scale = 0;
    for (const auto& [bytes, time] : times) {
        sum += time - predict_s(free, ModelMessage{bytes});
        scale += time;
    }
    return settled(sum, scale) / static_cast<double>(times.size());
}

void need_unloaded(const Sample& sample) {
    if (sample.unloaded.empty()) refuse_sample("no message was measured both under load and without");
}

Parameters lopc(const Sample& sample) {
    need_unloaded(sample);
    std::string assumed;
    const LogP free = logp(sample, sample.unloaded, assumed);
    return {LoPC{free, wait_of(sample.messages, free)}, assumed};
}

Parameters logpc(const Sample& sample) {
    need_unloaded(sample);
    if (sample.network_loaded.empty())
        refuse_sample("no message was measured with load on the network alone");
    std::string assumed;
    const LogGP free = loggp(sample, sample.unloaded, assumed);
    const double network = wait_of(sample.network_loaded, free);
    const double both = wait_of(sample.messages, free);
    return {LoGPC{free, network, settled(both - network, both)}, assumed};
}

/// What was measured of overheads, as a function of size.
std::vector<SizedTimes> overheads_of(const Sample& sample) {
    std::map<std::uint64_t, SizedTimes> out;
    for (const MeasuredOccupancy& each : sample.occupancy)
        if (each.send_overhead_s && each.receive_overhead_s)
            out[each.bytes] = {each.bytes, *each.send_overhead_s, *each.receive_overhead_s, 0};
    std::vector<SizedTimes> sorted;
    for (const auto& [bytes, times] : out) sorted.push_back(times);
    return sorted;
}

double plogp_latency(const TimeBySize& times, const TimeBySize& gaps, std::string& assumed) {
    for (const auto& [bytes, gap] : gaps)
        if (const auto whole = times.find(bytes); whole != times.end())
            return settled(whole->second - gap, whole->second);
    if (!gaps.empty()) refuse_sample("no size has both its gap and its message measured");
    note(assumed, kNoGap);
    const auto first = times.begin();
    const auto second = std::next(first);
    const double slope = (second->second - first->second) / static_cast<double>(second->first - first->first);
    const auto least = std::min_element(times.begin(), times.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
    return std::clamp(first->second - slope * static_cast<double>(first->first), 0.0, least->second);
}

PLogP plogp(const Sample& sample, std::string& assumed) {
    const TimeBySize times = rising_times(sample.messages, 2);
    TimeBySize gaps = gap_by_size(sample);
    const double latency = plogp_latency(times, gaps, assumed);
    for (const auto& [bytes, time] : times) gaps.try_emplace(bytes, settled(time - latency, time));
    PLogP out{latency, {}};
    const PLogP overheads{0, overheads_of(sample)};
    for (const auto& [bytes, gap] : gaps) {
        SizedTimes each{bytes, 0, 0, gap};
        if (!overheads.samples.empty()) {
            const SizedTimes known = overheads.at(bytes);
            each.send_overhead_s = known.send_overhead_s;
            each.receive_overhead_s = known.receive_overhead_s;
        }
        out.samples.push_back(each);
    }
    return out;
}

Parameters steffenel(const Sample& sample) {
    std::size_t levels = 0;
    for (const MeasuredMessage& each : sample.messages) levels = std::max(levels, each.message.level + 1);
    if (levels == 1) refuse_sample("one level was measured: that is plogp");
    Steffenel out;
    std::string assumed;
    for (std::size_t level = 0; level < levels; ++level) {
        std::string mine;
        try {
            out.levels.push_back(plogp(on_level(sample, level), mine));
        } catch (const Error& error) { refuse(Status::bad_argument, "level {}: {}", level, error.what()); }
        if (assumed.empty()) assumed = mine;
    }
    return {out, assumed};
}

Parameters unchecked(ModelKind kind, const Sample& sample) {
    std::string assumed;
    switch (kind) {
    case ModelKind::logp: {
        const Model model = logp(sample, sample.messages, assumed);
        return {model, assumed};
    }
    case ModelKind::loggp: {
        const Model model = loggp(sample, sample.messages, assumed);
        return {model, assumed};
    }
    case ModelKind::lopc:
        return lopc(sample);
    case ModelKind::logpc:
        return logpc(sample);
    case ModelKind::plogp: {
        const Model model = plogp(sample, assumed);
        return {model, assumed};
    }
    case ModelKind::cappello:
        return {cappello_of(sample), "the least processor's time is part of the latency"};
    case ModelKind::steffenel:
        return steffenel(sample);
    case ModelKind::lastovetsky:
        return {lastovetsky_of(sample), "the least processor's times are part of the network's"};
    case ModelKind::hockney:
        break;
    }
    return hockney(sample);
}

void check_rising(const TimeBySize& times) {
    constexpr double kMostFall = 0.1;
    auto greatest = times.begin();
    for (auto each = times.begin(); each != times.end(); ++each) {
        if (each->second < greatest->second * (1 - kMostFall))
            refuse(Status::bad_argument, "the time falls from {:.3g} s at {} B to {:.3g} s at {} B",
                   greatest->second, greatest->first, each->second, each->first);
        if (each->second > greatest->second) greatest = each;
    }
}

} // namespace

void refuse_sample(std::string_view words) { refuse(Status::bad_argument, "{}", words); }

double settled(double value, double scale) noexcept { return std::abs(value) <= 1e-9 * scale ? 0 : value; }

TimeBySize rising_times(const std::vector<MeasuredMessage>& messages, std::size_t least) {
    TimeBySize out = time_by_size(messages);
    if (out.size() < least)
        refuse(Status::bad_argument, "{} size{} measured, and it needs {}", out.size(),
               out.size() == 1 ? " was" : "s were", least);
    check_rising(out);
    return out;
}

Parameters parameters_of(ModelKind kind, const Sample& sample) {
    Parameters out = unchecked(kind, sample);
    check(out.model);
    return out;
}

} // namespace plexus::eco
