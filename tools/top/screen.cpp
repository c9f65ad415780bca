// SPDX-License-Identifier: BSD-3-Clause
// For people: a line for each context, or each context with its methods, peers and groups. Shows the counters
// that people ask for; all of them are in the JSON.
#include "tools/common/json.h"
#include "tools/common/quantity.h"
#include "tools/common/text_table.h"
#include "tools/top/seen.h"

#include <algorithm>
#include <fmt/format.h>

namespace plexus::tools::top {
namespace {

using Row = std::vector<CounterValue>;
using Lines = std::vector<std::string>;

std::string show_age(std::chrono::duration<double> age) {
    const auto seconds = static_cast<long long>(std::max(0.0, age.count()));
    if (seconds < 60) return fmt::format("{} s", seconds);
    if (seconds < 3600) return fmt::format("{} min", seconds / 60);
    if (seconds < 86'400) return fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
    return fmt::format("{} d {} h", seconds / 86'400, seconds / 3600 % 24);
}

std::string show_number(std::optional<double> number) { return number ? show_count(*number) : "-"; }

/// Growth a second between two looks.
std::optional<double> rate(std::optional<double> now, std::optional<double> before, double seconds) {
    if (!now || !before || *now < *before || seconds <= 0) return {};
    return (*now - *before) / seconds;
}

/// The same context in an earlier look; null: it was not there.
const Seen* find_seen(const Look* look, const ContextLabel& label) {
    if (look == nullptr) return nullptr;
    for (const Seen& seen : look->contexts)
        if (seen.label.id == label.id && seen.label.process == label.process) return &seen;
    return nullptr;
}

double seconds_between(const Seen& now, const Seen& before) {
    return std::chrono::duration<double>(now.sample.taken - before.sample.taken).count();
}

std::string state_of(const Seen& seen, Time now) {
    if (seen.sample.fresh) return "";
    if (seen.sample.taken == Time{}) return "does not answer";
    return fmt::format("does not answer; counters of {} ago", show_age(now - seen.sample.taken));
}

/// The row of an earlier table with the same texts; null: there is none.
const Row* find_row(const CounterTable* table, const CounterTable& like, const Row& row) {
    if (table == nullptr || table->columns.size() != like.columns.size()) return nullptr;
    for (const Row& other : table->rows) {
        bool same = true;
        for (std::size_t i = 0; i < row.size() && same; ++i)
            same = like.columns[i].kind != CounterKind::text || row[i].text == other[i].text;
        if (same) return &other;
    }
    return nullptr;
}

constexpr const char* kTraffic[]{"sent_messages", "sent_bytes", "received_messages", "received_bytes"};

/// Totals of what went, or with an earlier row what goes in a second.
void add_traffic(Lines& cells, const CounterTable& table, const Row& row, const Row* before, double seconds,
                 bool rates) {
    for (const char* column : kTraffic) {
        const auto now = number_in(table, row, column);
        const auto past = before != nullptr ? number_in(table, *before, column) : std::optional<double>();
        cells.push_back(show_number(rates ? rate(now, past, seconds) : now));
    }
}

void add_heads(Lines& head, bool rates) {
    for (const char* column : {"sent", "bytes", "received", "bytes"})
        head.push_back(std::string(column) + (rates ? "/s" : ""));
}

void add_lines(Lines& lines, const TextTable& table) {
    for (std::string& line : table.lines()) lines.push_back("  " + std::move(line));
}

void add_methods(Lines& lines, const Seen& seen, const Seen* before) {
    const CounterTable* const table = find_table(seen.sample, "method");
    if (table == nullptr || table->rows.empty()) return;
    Lines head{"method", "links"};
    add_heads(head, before != nullptr);
    for (const char* column :
         {"lost", "repairs", "fallbacks", "refusals", "poll ns", "hit rate", "skip_poll"})
        head.emplace_back(column);
    TextTable shown(head);
    const CounterTable* const past = before != nullptr ? find_table(before->sample, "method") : nullptr;
    for (const Row& row : table->rows) {
        const auto number = [&](const char* column) { return number_in(*table, row, column); };
        Lines cells{json::printable(text_in(*table, row, "method")), show_number(number("links"))};
        add_traffic(cells, *table, row, find_row(past, *table, row),
                    before != nullptr ? seconds_between(seen, *before) : 0, before != nullptr);
        for (const char* column : {"lost_links", "repairs", "fallbacks", "refusals"})
            cells.push_back(show_number(number(column)));
        const auto cost = number("poll_cost_seconds");
        cells.push_back(cost ? fmt::format("{:.1f}", *cost * 1e9) : "-");
        const auto polls = number("polls");
        const auto hits = number("hits");
        cells.push_back(polls && hits && *polls > 0 ? fmt::format("{:.2f} %", 100 * *hits / *polls) : "-");
        cells.push_back((number("automatic") == 1 ? "auto, " : "") + show_number(number("skip_poll")));
        shown.add(std::move(cells));
    }
    add_lines(lines, shown);
}

void add_peers(Lines& lines, const Seen& seen, const Seen* before) {
    const CounterTable* const table = find_table(seen.sample, "peer");
    if (table == nullptr || table->rows.empty()) return;
    Lines head{"peer", "name", "method"};
    add_heads(head, before != nullptr);
    head.insert(head.end(), {"queued", "held"});
    TextTable shown(head, 3);
    const CounterTable* const past = before != nullptr ? find_table(before->sample, "peer") : nullptr;
    for (const Row& row : table->rows) {
        const bool used = number_in(*table, row, "in_use") == 1;
        Lines cells{json::printable(text_in(*table, row, "peer").substr(0, 8)),
                    json::printable(text_in(*table, row, "peer_name")),
                    json::printable(text_in(*table, row, "method")) + (used ? "" : " (unused)")};
        add_traffic(cells, *table, row, find_row(past, *table, row),
                    before != nullptr ? seconds_between(seen, *before) : 0, before != nullptr);
        cells.push_back(show_number(number_in(*table, row, "queued_messages")));
        cells.push_back(show_number(number_in(*table, row, "held_bytes")));
        shown.add(std::move(cells));
    }
    add_lines(lines, shown);
    if (table->left_out > 0) lines.push_back(fmt::format("  and {} more", table->left_out));
}

std::optional<double> calls_in(const CounterTable& table, const Row& row) {
    std::optional<double> sum;
    for (const char* column : {"message_calls", "memory_calls", "hierarchical_calls", "multicast_calls"})
        if (const auto calls = number_in(table, row, column)) sum = sum.value_or(0) + *calls;
    return sum;
}

/// Totals of calls even where there are rates: members are compared by them.
void add_groups(Lines& lines, const Seen& seen, const Seen* before) {
    const CounterTable* const table = find_table(seen.sample, "group");
    if (table == nullptr || table->rows.empty()) return;
    Lines head{"group", "rank", "calls"};
    if (before != nullptr) head.emplace_back("calls/s");
    head.insert(head.end(), {"under way", "in memory", "map changes", "state"});
    TextTable shown(head);
    const CounterTable* const past = before != nullptr ? find_table(before->sample, "group") : nullptr;
    for (const Row& row : table->rows) {
        const auto number = [&](const char* column) { return number_in(*table, row, column); };
        const auto calls = calls_in(*table, row);
        Lines cells{json::printable(text_in(*table, row, "group").substr(0, 8)),
                    show_number(number("rank")) + "/" + show_number(number("members")), show_number(calls)};
        if (before != nullptr) {
            const Row* const earlier = find_row(past, *table, row);
            const auto then = earlier != nullptr ? calls_in(*past, *earlier) : std::nullopt;
            cells.push_back(show_number(rate(calls, then, seconds_between(seen, *before))));
        }
        cells.push_back(show_number(number("under_way")));
        const auto in_memory = number("memory_calls");
        cells.push_back(calls && in_memory && *calls > 0 ? fmt::format("{:.0f} %", 100 * *in_memory / *calls)
                                                         : "-");
        cells.push_back(show_number(number("refinements")));
        cells.emplace_back(number("broken") == 1 ? "broken" : "ok");
        shown.add(std::move(cells));
    }
    add_lines(lines, shown);
    if (table->left_out > 0) lines.push_back(fmt::format("  and {} more groups", table->left_out));
}

std::string title_of(const Seen& seen, Time now) {
    const ContextLabel& label = seen.label;
    std::string title = fmt::format("Process {} ({}), context {}", label.process,
                                    json::printable(label.program), to_string(label.id).substr(0, 8));
    if (!label.name.empty()) title += fmt::format(", {}", json::printable(label.name));
    if (!label.job.empty())
        title += fmt::format(", rank {} of {} in job {}", label.rank, label.size, json::printable(label.job));
    title += fmt::format(", for {}", show_age(now - label.started));
    const std::string state = state_of(seen, now);
    return state.empty() ? title : title + ": " + state;
}

void add_refused(Lines& lines, const Look& now) {
    for (const std::string& why : now.refused) lines.push_back("not shown: " + json::printable(why));
}

} // namespace

Lines show_list(const Look& now, const Look* before) {
    Lines head{"process", "program", "name", "job", "rank", "age", "peers"};
    add_heads(head, before != nullptr);
    head.emplace_back("");
    TextTable shown(head, 4);
    for (const Seen& seen : now.contexts) {
        const ContextLabel& label = seen.label;
        Lines cells{std::to_string(label.process),
                    json::printable(label.program),
                    json::printable(label.name),
                    json::printable(label.job),
                    label.job.empty() ? "-" : fmt::format("{}/{}", label.rank, label.size),
                    show_age(now.at - label.started)};
        const CounterTable* const context = find_table(seen.sample, "context");
        cells.push_back(show_number(context != nullptr ? sum_of(*context, "peers") : std::nullopt));
        const CounterTable* const methods = find_table(seen.sample, "method");
        const Seen* const past = find_seen(before, label);
        const CounterTable* const past_methods =
            past != nullptr ? find_table(past->sample, "method") : nullptr;
        for (const char* column : kTraffic) {
            const auto sum = methods != nullptr ? sum_of(*methods, column) : std::nullopt;
            const auto past_sum = past_methods != nullptr ? sum_of(*past_methods, column) : std::nullopt;
            cells.push_back(show_number(
                before == nullptr ? sum
                                  : rate(sum, past_sum, past != nullptr ? seconds_between(seen, *past) : 0)));
        }
        cells.push_back(state_of(seen, now.at));
        shown.add(std::move(cells));
    }
    Lines lines = shown.lines();
    add_refused(lines, now);
    return lines;
}

Lines show_contexts(const Look& now, const Look* before) {
    Lines lines;
    for (const Seen& seen : now.contexts) {
        const Seen* const past = find_seen(before, seen.label);
        if (!lines.empty()) lines.emplace_back();
        lines.push_back(title_of(seen, now.at));
        add_methods(lines, seen, past);
        add_peers(lines, seen, past);
        add_groups(lines, seen, past);
    }
    add_refused(lines, now);
    return lines;
}

} // namespace plexus::tools::top
