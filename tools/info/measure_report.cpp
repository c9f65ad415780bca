// SPDX-License-Identifier: BSD-3-Clause
#include "tools/info/measure_report.h"

#include "tools/common/json.h"
#include "tools/common/quantity.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace plexus::tools {

namespace {

std::set<std::uint64_t> sizes_of(const Findings& findings) {
    std::set<std::uint64_t> sizes;
    for (const Measured& each : findings.methods)
        for (const benchmark::Point& point : each.points) sizes.insert(point.size_bytes);
    return sizes;
}

const benchmark::Point* find(const Measured& measured, std::uint64_t size_bytes) {
    for (const benchmark::Point& point : measured.points)
        if (point.size_bytes == size_bytes) return &point;
    return nullptr;
}

/// A comment of TOML takes no control characters and no broken UTF-8.
std::string plain(std::string text) {
    for (char& each : text)
        if (each < ' ' || each > '~') each = ' ';
    return text;
}

std::string quoted_list(const std::vector<std::string>& words) {
    std::string list;
    for (const std::string& word : words) list += (list.empty() ? "" : ", ") + json::quote(word);
    return list;
}

/// In the syntax of plexus.toml.
std::string list_in_toml(const Range& range, const Findings& findings) {
    std::vector<std::string> all;
    for (const Measured& each : findings.methods) all.push_back(each.method);
    return quoted_list(list_of(range.methods, all, findings.wanted));
}

/// In the syntax of `use`.
std::string way_of(const Range& range) { return fmt::format("{}", fmt::join(range.methods, ", ")); }

std::string learned(const Findings& findings) {
    std::string text;
    for (const Measured& each : findings.methods) {
        const std::vector<std::string> lines = lines_that_fix(each);
        if (lines.empty()) continue;
        const std::string remark = each.learned.substr(0, each.learned.rfind(';'));
        text += fmt::format("#\n# {}: {}\n# It goes on measuring as long as these lines are left out:\n",
                            plain(each.method), plain(remark));
        for (const std::string& line : lines) text += "# " + line + "\n";
    }
    return text;
}

std::string advice(const Findings& findings) {
    std::string text;
    const std::vector<Range>& ranges = findings.ranges;
    for (std::size_t at = 1; at < ranges.size(); ++at) {
        const std::string from = show_size(ranges[at].from_bytes);
        const std::string span = at + 1 < ranges.size()
                                     ? fmt::format("{} to {}", from, show_size(ranges[at + 1].from_bytes))
                                     : fmt::format("{} and more", from);
        text += fmt::format("# Messages of about {}: {}\n", span, plain(way_of(ranges[at])));
    }
    if (text.empty()) return text;
    return "#\n" + text +
           fmt::format(
               "# A pointer has one order for all its requests: send such messages by a second one,\n"
               "#     auto large = far;\n"
               "#     large.use({});\n"
               "# or call far.use() with a policy function that chooses by the size of what comes next.\n",
               json::quote(plain(way_of(ranges.back()))));
}

} // namespace

TextTable table_of(const Findings& findings) {
    const std::set<std::uint64_t> sizes = sizes_of(findings);
    std::vector<std::string> head{"method", "between"};
    for (const std::uint64_t size : sizes) head.push_back(show_size(size) + " us");
    for (const std::uint64_t size : sizes)
        if (size >= benchmark::kLargeBytes) head.push_back(show_size(size) + " MB/s");
    TextTable table(std::move(head), 2);
    for (const Measured& each : findings.methods) {
        if (each.points.empty()) continue;
        std::vector<std::string> row{each.method, each.one_process ? "one process" : "processes"};
        for (const std::uint64_t size : sizes) {
            const benchmark::Point* const point = find(each, size);
            row.push_back(point == nullptr
                              ? "-"
                              : fmt::format("{:.{}f}", point->one_way_us, point->one_way_us < 100 ? 2 : 0));
        }
        for (const std::uint64_t size : sizes) {
            if (size < benchmark::kLargeBytes) continue;
            const benchmark::Point* const point = find(each, size);
            const bool known = point != nullptr && point->bytes_per_s;
            row.push_back(known ? fmt::format("{:.0f}", *point->bytes_per_s / 1e6) : "-");
        }
        table.add(std::move(row));
    }
    return table;
}

std::string configuration(const Findings& findings) {
    std::string text;
    if (!findings.ranges.empty())
        text += fmt::format("methods = [{}]\n", list_in_toml(findings.ranges[0], findings));
    std::string left_out;
    for (const Measured& each : findings.methods)
        if (each.points.empty())
            left_out += fmt::format("# Left out: {}: {}\n", plain(each.method), plain(each.failure));
    return text + learned(findings) + advice(findings) + (left_out.empty() ? "" : "#\n" + left_out);
}

std::string documented_configuration(const Findings& findings) {
    std::string text =
        fmt::format("# Written by plexus info --measure, Plexus {}: two contexts of one machine, {}.\n"
                    "# One way, best of five rounds; the figures are this machine's and this day's.\n#\n",
                    findings.version, findings.where);
    for (const std::string& line : table_of(findings).lines()) text += "#   " + plain(line) + "\n";
    return text + "#\n" + configuration(findings);
}

std::string to_json(const Findings& findings) {
    std::vector<std::string> methods;
    for (const Measured& each : findings.methods) {
        std::vector<std::string> points;
        for (const benchmark::Point& point : each.points) {
            json::Object out;
            out.add("size_bytes", point.size_bytes).add("one_way_us", point.one_way_us);
            const auto mbps = point.bytes_per_s ? std::optional(*point.bytes_per_s / 1e6) : std::nullopt;
            points.push_back(out.add("bandwidth_MBps", mbps).text());
        }
        json::Object out;
        out.add("method", each.method).add("measured", !each.points.empty());
        out.add("one_process", each.one_process).raw("points", json::list(points));
        out.raw("learned", each.learned.empty() ? "null" : json::quote(each.learned));
        out.raw("failure", each.points.empty() ? json::quote(each.failure) : "null");
        methods.push_back(out.text());
    }
    std::vector<std::string> ranges;
    for (const Range& each : findings.ranges) {
        json::Object out;
        out.add("from_bytes", each.from_bytes);
        ranges.push_back(out.raw("methods", "[" + list_in_toml(each, findings) + "]").text());
    }
    json::Object out;
    out.add("version", findings.version).add("where", findings.where);
    out.raw("methods", json::list(methods)).raw("recommended", json::list(ranges));
    return out.add("configuration", configuration(findings)).text();
}

} // namespace plexus::tools
