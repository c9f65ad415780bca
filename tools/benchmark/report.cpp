// SPDX-License-Identifier: BSD-3-Clause
#include "tools/benchmark/report.h"

#include "tools/common/json.h"
#include "tools/common/quantity.h"
#include "tools/common/text_table.h"

#include <fmt/format.h>

namespace plexus::tools::benchmark {

namespace {

std::string show_mbps(double bytes_per_s) {
    const double mbps = bytes_per_s / 1e6;
    return mbps < 100 ? fmt::format("{:.1f}", mbps) : fmt::format("{:.0f}", mbps);
}

std::string one_way_json(const OneWay& time) {
    return json::Object().add("mean", time.mean).add("p50", time.p50).add("p99", time.p99).text();
}

std::string skip_poll_json(const Row& row) {
    if (!row.has_skip_poll()) return "null";
    return row.skip_poll ? std::to_string(*row.skip_poll) : json::quote("auto");
}

void print_latency(const std::vector<Row>& rows) {
    TextTable table({"size", "by", "iterations", "mean us", "p50 us", "p99 us", "MB/s", "messages/s"}, 2);
    for (const Row& row : rows) {
        const OneWay time = row.one_way.value_or(OneWay{});
        table.add({show_size(row.size_bytes), row.used, std::to_string(row.iterations), show_us(time.mean),
                   show_us(time.p50), show_us(time.p99), show_mbps(row.bytes_per_s),
                   show_count(row.messages_per_s)});
    }
    table.print(stdout);
}

void print_stream(const std::vector<Row>& rows) {
    TextTable table({"size", "by", "threads", "iterations", "MB/s", "messages/s"}, 2);
    for (const Row& row : rows)
        table.add({show_size(row.size_bytes), row.used, std::to_string(row.threads),
                   std::to_string(row.iterations), show_mbps(row.bytes_per_s),
                   show_count(row.messages_per_s)});
    table.print(stdout);
}

void print_idle(const std::vector<Row>& rows) {
    TextTable table({"size", "others", "iterations", "us", "times alone"}, 2);
    for (const Row& row : rows)
        table.add({show_size(row.size_bytes),
                   (row.dual_case == "alone" ? "not polled: " : "silent: ") + row.slow,
                   std::to_string(row.iterations), show_us(row.one_way.value_or(OneWay{}).mean),
                   row.times_alone ? fmt::format("{:.3f}", *row.times_alone) : "-"});
    table.print(stdout);
}

void print_dual(const std::vector<Row>& rows) {
    const Row& first = rows.front();
    const auto column = [](const std::string& method, const char* what) {
        return fmt::format("{} {}", method, what);
    };
    TextTable table({"size", fmt::format("skip_poll of {}", first.slow), column(first.used, "us"),
                     column(first.used, "p50"), column(first.used, "p99"), column(first.slow, "us"),
                     column(first.slow, "p50"), column(first.slow, "p99")},
                    2);
    for (const Row& row : rows) {
        const OneWay fast = row.one_way.value_or(OneWay{});
        const OneWay slow = row.slow_one_way.value_or(OneWay{});
        const std::string setting = row.dual_case == "alone" ? fmt::format("({} not polled)", row.slow)
                                    : row.dual_case == "silent"
                                        ? fmt::format("{} ({} silent)", show(row.skip_poll), row.slow)
                                        : show(row.skip_poll);
        table.add({show_size(row.size_bytes), setting, show_us(fast.mean), show_us(fast.p50),
                   show_us(fast.p99), show_us(slow.mean), show_us(slow.p50), show_us(slow.p99)});
    }
    table.print(stdout);
}

} // namespace

std::string show(SkipPoll skip_poll) { return skip_poll ? std::to_string(*skip_poll) : "auto"; }

std::string show_us(std::optional<double> us) {
    if (!us) return "-";
    return *us < 10     ? fmt::format("{:.3f}", *us)
           : *us < 1000 ? fmt::format("{:.1f}", *us)
                        : fmt::format("{:.0f}", *us);
}

std::string to_json(const Row& row) {
    json::Object out;
    out.add("bench", name_of(row.kind)).add("methods", row.methods).add("used", row.used);
    if (row.kind == Kind::dual || row.kind == Kind::idle)
        out.add("slow", row.slow).add("case", row.dual_case);
    out.add("size_bytes", row.size_bytes).add("iterations", row.iterations).add("threads", row.threads);
    out.add("buffers", row.buffers);
    out.raw("one_way_us", row.one_way ? one_way_json(*row.one_way) : "null");
    if (row.kind == Kind::dual)
        out.raw("slow_one_way_us", row.slow_one_way ? one_way_json(*row.slow_one_way) : "null");
    out.add("bandwidth_MBps", row.bytes_per_s / 1e6).add("messages_per_s", row.messages_per_s);
    if (row.kind == Kind::idle) out.add("times_alone", row.times_alone);
    return out.raw("skip_poll", skip_poll_json(row)).text();
}

void print(const std::vector<Row>& rows) {
    if (rows.empty()) return;
    std::printf("methods: %s\n", rows.front().methods.c_str());
    if (rows.front().buffers > 1) std::printf("buffers: %u in turn\n", rows.front().buffers);
    std::printf("\n");
    switch (rows.front().kind) {
    case Kind::latency:
        return print_latency(rows);
    case Kind::bandwidth:
    case Kind::rate:
    case Kind::put:
    case Kind::get:
        return print_stream(rows);
    case Kind::dual:
        return print_dual(rows);
    case Kind::idle:
        return print_idle(rows);
    case Kind::survey:
        return; // no row is of that kind
    }
}

} // namespace plexus::tools::benchmark
