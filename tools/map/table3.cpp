// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/json.h"
#include "tools/common/quantity.h"
#include "tools/common/text_table.h"
#include "tools/common/usage.h"
#include "tools/map/models.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace plexus::tools {

namespace {

template <class Number>
std::optional<Number> parse(const std::string& text) {
    Number out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc{} || end != text.data() + text.size()) return {};
    return out;
}

void need(const std::string& text, const char* option) {
    if (text.empty()) usage_error("map", fmt::format("table3 needs {}", option));
}

double seconds(const std::string& text, const char* option) {
    const auto value = parse<double>(text);
    if (!value || !std::isfinite(*value) || *value < 0)
        usage_error("map", fmt::format("{} takes seconds, 0 or more, not \"{}\"", option, text));
    return *value;
}

std::uint64_t bytes(const std::string& text, const char* option) {
    const auto value = size_in(text);
    if (!value) usage_error("map", fmt::format("{} takes bytes like 8 or 64KiB, not \"{}\"", option, text));
    return *value;
}

eco::BroadcastTask task_of(const Table3Options& options) {
    need(options.latency, "--latency");
    need(options.gap, "--gap");
    need(options.members, "--members");
    need(options.size, "--size");
    const double latency = seconds(options.latency, "--latency");
    const double gap = seconds(options.gap, "--gap");
    const auto members = parse<std::uint64_t>(options.members);
    if (!members || *members == 0)
        usage_error("map", "--members takes a whole number from 1 on, not \"" + options.members + "\"");
    const std::uint64_t size = bytes(options.size, "--size");
    const std::uint64_t asked = options.segment.empty() ? size : bytes(options.segment, "--segment");
    if (asked == 0 && size > 0) usage_error("map", "--segment takes one byte at least");
    const std::uint64_t segment = std::min(asked, size);
    const std::uint64_t segments = segment == 0 ? 1 : size / segment + (size % segment != 0);
    const double segment_gap =
        options.segment_gap.empty() ? gap : seconds(options.segment_gap, "--segment-gap");
    return {{latency, gap}, {latency, segment_gap}, *members, segments};
}

} // namespace

int print_table3(const Table3Options& options) {
    const eco::BroadcastTimes times = eco::predict_broadcast(task_of(options));
    const std::pair<const char*, double> rows[] = {{"linear", times.linear_s},
                                                   {"pipeline", times.pipeline_s},
                                                   {"binary", times.binary_s},
                                                   {"binomial", times.binomial_s},
                                                   {"binomial_exact", times.binomial_exact_s}};
    json::Object out;
    TextTable table({"broadcast", "s"});
    for (const auto& [name, time_s] : rows) {
        out.raw(name, json::exact(time_s));
        table.add({name, fmt::format("{:.6g}", time_s)});
    }
    if (options.json)
        std::printf("%s\n", out.text().c_str());
    else
        table.print(stdout);
    return 0;
}

} // namespace plexus::tools
