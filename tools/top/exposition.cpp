// SPDX-License-Identifier: BSD-3-Clause
// For other programs: JSON, and the text format of Prometheus.
#include "runtime/base/utf8.h"
#include "tools/common/json.h"
#include "tools/top/seen.h"

#include <algorithm>
#include <map>

namespace plexus::tools::top {
namespace {

double seconds_of(Time time) { return std::chrono::duration<double>(time.time_since_epoch()).count(); }

std::string number_text(const CounterColumn& column, const CounterValue& value) {
    if (column.divisor == 1) return std::to_string(value.number);
    return json::exact(static_cast<double>(value.number) / static_cast<double>(column.divisor));
}

std::string row_json(const CounterTable& table, const std::vector<CounterValue>& row) {
    json::Object out;
    for (std::size_t i = 0; i < row.size(); ++i) {
        const CounterColumn& column = table.columns[i];
        if (column.kind == CounterKind::text)
            out.add(column.name, row[i].text);
        else
            out.raw(column.name, number_text(column, row[i]));
    }
    return out.text();
}

std::string seen_json(const Seen& seen, Time now) {
    json::Object tables;
    json::Object left_out;
    for (const CounterTable& table : seen.sample.tables) {
        std::vector<std::string> rows;
        for (const auto& row : table.rows) rows.push_back(row_json(table, row));
        tables.raw(table.name, json::list(rows));
        left_out.add(table.name, table.left_out);
    }
    const ContextLabel& label = seen.label;
    return json::Object()
        .add("process", label.process)
        .add("context", to_string(label.id))
        .add("program", label.program)
        .add("name", label.name)
        .add("job", label.job)
        .add("rank", label.rank)
        .add("size", label.size)
        .raw("age_seconds", json::exact(seconds_of(now) - seconds_of(label.started)))
        .add("fresh", seen.sample.fresh)
        .raw("sample_age_seconds", seen.sample.taken == Time{}
                                       ? "null"
                                       : json::exact(seconds_of(now) - seconds_of(seen.sample.taken)))
        .raw("tables", tables.text())
        .raw("left_out", left_out.text())
        .text();
}

/// As UTF-8, and with what the format gives a meaning escaped.
std::string escaped(std::string_view text, bool quotes) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t size = utf8_character(text.substr(at));
        if (size == 0)
            out += "\xef\xbf\xbd"; // U+FFFD
        else if (text[at] == '\\')
            out += "\\\\";
        else if (text[at] == '\n')
            out += "\\n";
        else if (text[at] == '"' && quotes)
            out += "\\\"";
        else
            out += text.substr(at, size);
        at += std::max<std::size_t>(size, 1);
    }
    return out;
}

using Labels = std::map<std::string, std::string>;

std::string labels_text(const Labels& labels) {
    std::string text;
    for (const auto& [name, value] : labels)
        text += (text.empty() ? "" : ",") + name + "=\"" + escaped(value, true) + "\"";
    return "{" + text + "}";
}

/// The values of one name, which stand together; by their labels, since no two may have the same.
struct Metric {
    std::string help;
    bool counts = false;
    std::map<std::string, std::string> values;
};
using Metrics = std::map<std::string, Metric>;

void add_value(Metrics& metrics, const std::string& name, const Metric& like, const Labels& labels,
               std::string value) {
    Metric& metric = metrics.try_emplace(name, like).first->second;
    // Contexts of two versions may mean different things by one name: the first is shown.
    if (metric.counts == like.counts) metric.values.emplace(labels_text(labels), std::move(value));
}

Labels labels_of(const ContextLabel& label) {
    return {{"process", std::to_string(label.process)},
            {"context", to_string(label.id)},
            {"program", label.program},
            {"name", label.name},
            {"job", label.job},
            {"rank", std::to_string(label.rank)}};
}

void add_table(Metrics& metrics, const CounterTable& table, const Labels& of_context) {
    for (const auto& row : table.rows) {
        Labels labels = of_context;
        for (std::size_t i = 0; i < row.size(); ++i)
            if (table.columns[i].kind == CounterKind::text)
                if (!labels.emplace(table.columns[i].name, row[i].text).second)
                    labels["row_" + table.columns[i].name] = row[i].text;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const CounterColumn& column = table.columns[i];
            if (column.kind == CounterKind::text) continue;
            const bool counts = column.kind == CounterKind::count;
            add_value(metrics, "plexus_" + table.name + "_" + column.name + (counts ? "_total" : ""),
                      {column.help, counts, {}}, labels, number_text(column, row[i]));
        }
    }
}

} // namespace

std::string show_json(const Look& now) {
    std::vector<std::string> contexts;
    for (const Seen& seen : now.contexts) contexts.push_back(seen_json(seen, now.at));
    std::vector<std::string> refused;
    for (const std::string& why : now.refused) refused.push_back(json::quote(why));
    return json::Object().raw("contexts", json::list(contexts)).raw("refused", json::list(refused)).text() +
           "\n";
}

std::string show_prometheus(const Look& now) {
    Metrics metrics;
    for (const Seen& seen : now.contexts) {
        const Labels labels = labels_of(seen.label);
        add_value(metrics, "plexus_context_start_time_seconds",
                  {"When the context started, since the epoch", false, {}}, labels,
                  json::exact(seconds_of(seen.label.started)));
        add_value(
            metrics, "plexus_context_fresh",
            {"1: it has read its counters when it was asked; 0: they are of an earlier time", false, {}},
            labels, seen.sample.fresh ? "1" : "0");
        for (const CounterTable& table : seen.sample.tables) {
            add_table(metrics, table, labels);
            Labels of_table = labels;
            of_table.emplace("table", table.name);
            add_value(metrics, "plexus_context_left_out_rows",
                      {"Rows of the table for which the context has no room, and which are missing here",
                       false,
                       {}},
                      of_table, std::to_string(table.left_out));
        }
    }
    std::string text;
    for (const auto& [name, metric] : metrics) {
        text += "# HELP " + name + " " + escaped(metric.help, false) + "\n";
        text += "# TYPE " + name + (metric.counts ? " counter\n" : " gauge\n");
        for (const auto& [labels, value] : metric.values) {
            text += name;
            text += labels;
            text += " " + value + "\n";
        }
    }
    return text;
}

} // namespace plexus::tools::top
