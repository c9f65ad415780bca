// SPDX-License-Identifier: BSD-3-Clause
#include "model/sample.h"

#include "topology/limits.h"
#include "topology/refuse.h"

#include <algorithm>
#include <iterator>

namespace plexus::eco {
namespace {

constexpr std::size_t kMostPlaces = std::size_t{1} << 20; // of levels and of processors

using ValuesBySize = std::map<std::uint64_t, std::vector<double>>;

TimeBySize medians(ValuesBySize values) {
    TimeBySize out;
    for (auto& [bytes, each] : values) out[bytes] = median_of(std::move(each));
    return out;
}

bool tells_gap(const MeasuredOperation& operation) {
    return operation.request.operation == Operation::broadcast &&
           operation.options.pattern == Pattern::star && operation.request.members > 2;
}

void check_measured(double time_s, std::string_view what, std::uint64_t bytes) {
    if (!(time_s >= kLeastTime && time_s <= kMostTime))
        refuse(Status::bad_argument, "{} of {} B is measured as {} s: times are above 0 and finite", what,
               bytes, time_s);
}

template <class Values, class Keep>
Values filtered(const Values& values, const Keep& keep) {
    Values out;
    std::copy_if(values.begin(), values.end(), std::back_inserter(out), keep);
    return out;
}

} // namespace

double median_of(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

TimeBySize time_by_size(const std::vector<MeasuredMessage>& messages) {
    ValuesBySize values;
    for (const MeasuredMessage& each : messages) values[each.message.bytes].push_back(each.time_s);
    return medians(std::move(values));
}

TimeBySize gap_by_size(const Sample& sample) {
    ValuesBySize values;
    for (const MeasuredOccupancy& each : sample.occupancy)
        if (each.gap_s) values[each.bytes].push_back(*each.gap_s);
    TimeBySize messages;
    for (const MeasuredOperation& each : sample.operations) {
        if (!tells_gap(each)) continue;
        if (messages.empty()) messages = time_by_size(sample.messages);
        const auto one = messages.find(bytes_of(each));
        if (one != messages.end())
            values[one->first].push_back((each.time_s - one->second) / (each.request.members - 2));
    }
    return medians(std::move(values));
}

std::optional<double> overhead_of(const Sample& sample) {
    const MeasuredOccupancy* least = nullptr;
    for (const MeasuredOccupancy& each : sample.occupancy)
        if (each.send_overhead_s && each.receive_overhead_s &&
            (least == nullptr || each.bytes < least->bytes))
            least = &each;
    if (least == nullptr) return std::nullopt;
    return (*least->send_overhead_s + *least->receive_overhead_s) / 2;
}

std::uint64_t bytes_of(const MeasuredOperation& operation) noexcept {
    return operation.request.elements * operation.request.element_bytes;
}

Sample without(const Sample& sample, std::uint64_t bytes) {
    const auto keep = [bytes](const MeasuredMessage& each) { return each.message.bytes != bytes; };
    return {filtered(sample.messages, keep),
            filtered(sample.unloaded, keep),
            filtered(sample.network_loaded, keep),
            filtered(sample.occupancy, [bytes](const auto& each) { return each.bytes != bytes; }),
            filtered(sample.operations, [bytes](const auto& each) { return bytes_of(each) != bytes; }),
            sample.packet_bytes};
}

Sample on_level(const Sample& sample, std::size_t level) {
    const auto keep = [level](const MeasuredMessage& each) { return each.message.level == level; };
    return {filtered(sample.messages, keep),
            filtered(sample.unloaded, keep),
            filtered(sample.network_loaded, keep),
            filtered(sample.occupancy, [level](const auto& each) { return each.level == level; }),
            {},
            sample.packet_bytes};
}

void check(const Sample& sample) {
    if (sample.messages.empty()) refuse(Status::bad_argument, "no message was measured");
    for (const auto* messages : {&sample.messages, &sample.unloaded, &sample.network_loaded})
        for (const auto& [message, time] : *messages) {
            check_measured(time, "a message", message.bytes);
            if (std::max({message.level, message.sender, message.receiver}) >= kMostPlaces)
                refuse(Status::bad_argument, "a message of {} B names a level or processor from {} on",
                       message.bytes, kMostPlaces);
        }
    for (const MeasuredOperation& each : sample.operations)
        if (each.request.members > 1)
            check_measured(each.time_s, to_string(each.request.operation), bytes_of(each));
    for (const MeasuredOccupancy& each : sample.occupancy)
        for (const auto* time : {&each.send_overhead_s, &each.receive_overhead_s, &each.gap_s})
            if (*time && !(**time >= 0 && **time <= kMostTime))
                refuse(Status::bad_argument,
                       "an overhead or gap of {} B is measured as {} s: it is not negative, and finite",
                       each.bytes, **time);
}

} // namespace plexus::eco
