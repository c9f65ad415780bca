// SPDX-License-Identifier: BSD-3-Clause
#include "plexus/eco/model.h"

#include "topology/limits.h"
#include "topology/refuse.h"

#include <algorithm>

namespace plexus::eco {
namespace {

void check_time(double value, std::string_view model, std::string_view name) {
    if (!(value >= 0 && value <= kMostTime))
        refuse(Status::bad_argument, "{}: {} is {}: it is not negative, and at most {:g}", model, name, value,
               kMostTime);
}

void check_bandwidth(double value, std::string_view model) {
    if (!(value >= kLeastBandwidth && value <= kMostBandwidth))
        refuse(Status::bad_argument, "{}: bytes_per_s is {}: it is from {:g} to {:g}", model, value,
               kLeastBandwidth, kMostBandwidth);
}

template <class Values>
void check_some(const Values& values, std::string_view model, std::string_view name) {
    if (values.empty()) refuse(Status::bad_argument, "{}: there are no {}", model, name);
}

template <class Values>
const auto& pick(const Values& values, std::size_t place, std::string_view model, std::string_view name) {
    if (place >= values.size())
        refuse(Status::bad_argument, "{}: {} {} is not among its {}", model, name, place, values.size());
    return values[place];
}

void check_parameters(const Hockney& model) {
    check_time(model.latency_s, "hockney", "latency_s");
    check_bandwidth(model.bytes_per_s, "hockney");
}

void check_parameters(const LogP& model) {
    check_time(model.latency_s, "logp", "latency_s");
    check_time(model.overhead_s, "logp", "overhead_s");
    check_time(model.gap_s, "logp", "gap_s");
    if (model.packet_bytes == 0) refuse(Status::bad_argument, "logp: packet_bytes is 0");
}

void check_parameters(const LogGP& model) {
    check_time(model.latency_s, "loggp", "latency_s");
    check_time(model.overhead_s, "loggp", "overhead_s");
    check_time(model.gap_s, "loggp", "gap_s");
    check_time(model.gap_s_per_byte, "loggp", "gap_s_per_byte");
}

void check_parameters(const LoPC& model) {
    check_parameters(model.free);
    check_time(model.receiver_wait_s, "lopc", "receiver_wait_s");
}

void check_parameters(const LoGPC& model) {
    check_parameters(model.free);
    check_time(model.network_wait_s, "logpc", "network_wait_s");
    check_time(model.receiver_wait_s, "logpc", "receiver_wait_s");
}

void check_parameters(const PLogP& model) {
    check_time(model.latency_s, "plogp", "latency_s");
    check_some(model.samples, "plogp", "samples");
    for (std::size_t place = 0; place < model.samples.size(); ++place) {
        const SizedTimes& sample = model.samples[place];
        check_time(sample.send_overhead_s, "plogp", "send_overhead_s");
        check_time(sample.receive_overhead_s, "plogp", "receive_overhead_s");
        check_time(sample.gap_s, "plogp", "gap_s");
        if (sample.gap_s < std::max(sample.send_overhead_s, sample.receive_overhead_s))
            refuse(Status::bad_argument, "plogp: at {} B the gap is shorter than an overhead", sample.bytes);
        if (place > 0 && sample.bytes <= model.samples[place - 1].bytes)
            refuse(Status::bad_argument, "plogp: {} B stands after {} B: sizes rise", sample.bytes,
                   model.samples[place - 1].bytes);
    }
}

void check_parameters(const Cappello& model) {
    check_some(model.processing_s, "cappello", "processors");
    check_some(model.levels, "cappello", "levels");
    for (const double time : model.processing_s) check_time(time, "cappello", "processing_s");
    for (const Cappello::Level& level : model.levels) {
        check_time(level.latency_s, "cappello", "latency_s");
        check_bandwidth(level.bytes_per_s, "cappello");
    }
}

void check_parameters(const Steffenel& model) {
    check_some(model.levels, "steffenel", "levels");
    for (const PLogP& level : model.levels) check_parameters(level);
}

void check_parameters(const Lastovetsky& model) {
    check_some(model.processors, "lastovetsky", "processors");
    check_time(model.latency_s, "lastovetsky", "latency_s");
    check_bandwidth(model.bytes_per_s, "lastovetsky");
    for (const Lastovetsky::Processor& processor : model.processors) {
        check_time(processor.fixed_s, "lastovetsky", "fixed_s");
        check_time(processor.s_per_byte, "lastovetsky", "s_per_byte");
    }
}

LinkCost from_whole(double message_s, double spacing_s) { return {message_s - spacing_s, spacing_s}; }

LinkCost cost_by(const Hockney& model, const ModelMessage& message) {
    return {model.latency_s, static_cast<double>(message.bytes) / model.bytes_per_s};
}

LinkCost cost_by(const LogP& model, const ModelMessage& message) {
    const std::uint64_t full = message.bytes / model.packet_bytes + (message.bytes % model.packet_bytes != 0);
    const auto packets = static_cast<double>(std::max<std::uint64_t>(full, 1));
    const double each = std::max(model.gap_s, model.overhead_s);
    return from_whole(2 * model.overhead_s + model.latency_s + (packets - 1) * each, packets * each);
}

LinkCost cost_by(const LogGP& model, const ModelMessage& message) {
    const auto further = static_cast<double>(std::max<std::uint64_t>(message.bytes, 1) - 1);
    const double bytes_s = further * model.gap_s_per_byte;
    return from_whole(2 * model.overhead_s + model.latency_s + bytes_s,
                      std::max(model.gap_s, model.overhead_s) + bytes_s);
}

LinkCost cost_by(const LoPC& model, const ModelMessage& message) {
    LinkCost out = cost_by(model.free, message);
    out.latency_s += model.receiver_wait_s;
    return out;
}

LinkCost cost_by(const LoGPC& model, const ModelMessage& message) {
    LinkCost out = cost_by(model.free, message);
    out.latency_s += model.network_wait_s + model.receiver_wait_s;
    return out;
}

LinkCost cost_by(const PLogP& model, const ModelMessage& message) {
    return {model.latency_s, model.at(message.bytes).gap_s};
}

LinkCost cost_by(const Cappello& model, const ModelMessage& message) {
    const Cappello::Level& level = pick(model.levels, message.level, "cappello", "level");
    const double sender = pick(model.processing_s, message.sender, "cappello", "processor");
    const double receiver = pick(model.processing_s, message.receiver, "cappello", "processor");
    return {level.latency_s + receiver, sender + static_cast<double>(message.bytes) / level.bytes_per_s};
}

LinkCost cost_by(const Steffenel& model, const ModelMessage& message) {
    return cost_by(pick(model.levels, message.level, "steffenel", "level"), message);
}

LinkCost cost_by(const Lastovetsky& model, const ModelMessage& message) {
    const auto bytes = static_cast<double>(message.bytes);
    const auto time = [&](std::size_t place) {
        const Lastovetsky::Processor& processor = pick(model.processors, place, "lastovetsky", "processor");
        return processor.fixed_s + bytes * processor.s_per_byte;
    };
    return {model.latency_s + bytes / model.bytes_per_s + time(message.receiver), time(message.sender)};
}

constexpr ModelFacts kFacts[] = {
    {"hockney", "Hockney 1994", false, false, false},
    {"logp", "Culler et al. 1996", false, false, false},
    {"loggp", "Alexandrov et al. 1995", false, false, false},
    {"lopc", "Frank, Agarwal, Vernon 1997", false, false, true},
    {"logpc", "Moritz, Frank 2001", false, false, true},
    {"plogp", "Kielmann et al. 2001", true, true, false},
    {"cappello", "Cappello et al. 2005", true, true, false},
    {"steffenel", "Steffenel 2006", true, true, false},
    {"lastovetsky", "Lastovetsky et al. 2006", true, false, false},
};
static_assert(std::size(kFacts) == std::variant_size_v<Model>);

} // namespace

SizedTimes PLogP::at(std::uint64_t bytes) const {
    check_some(samples, "plogp", "samples");
    if (samples.size() == 1 || bytes <= samples.front().bytes) {
        SizedTimes out = samples.front();
        out.bytes = bytes;
        return out;
    }
    const auto behind =
        std::lower_bound(samples.begin() + 1, samples.end() - 1, bytes,
                         [](const SizedTimes& sample, std::uint64_t size) { return sample.bytes < size; });
    const SizedTimes& low = *(behind - 1);
    const SizedTimes& high = *behind;
    const double share = static_cast<double>(bytes - low.bytes) / static_cast<double>(high.bytes - low.bytes);
    // A line that falls beyond the last sample would become negative: it stays level.
    const auto between = [&](double a, double b) { return share > 1 && b < a ? b : a + share * (b - a); };
    return {bytes, between(low.send_overhead_s, high.send_overhead_s),
            between(low.receive_overhead_s, high.receive_overhead_s), between(low.gap_s, high.gap_s)};
}

ModelFacts facts(const Model& model) noexcept { return kFacts[model.index()]; }

void check(const Model& model) {
    std::visit([](const auto& each) { check_parameters(each); }, model);
}

LinkCost cost(const Model& model, const ModelMessage& message) {
    check(model);
    return std::visit([&](const auto& each) { return cost_by(each, message); }, model);
}

double predict_s(const Model& model, const ModelMessage& message) { return cost(model, message).message_s(); }

} // namespace plexus::eco
