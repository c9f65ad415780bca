// SPDX-License-Identifier: BSD-3-Clause
// Contexts as `plexus top` has seen them, and what it prints of them. Pure.
#pragma once

#include "plexus/counters.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::tools::top {

using Time = std::chrono::system_clock::time_point;

/// A context and its counters.
struct Seen {
    ContextLabel label;
    CounterSample sample;
};

/// Of all contexts at one time, and why others could not be read.
struct Look {
    Time at;
    std::vector<Seen> contexts;
    std::vector<std::string> refused;
};

/// Null: the context has no such table.
const CounterTable* find_table(const CounterSample& sample, std::string_view name);
/// The value of a column, in the unit of its name; nothing where there is no such column.
std::optional<double> number_in(const CounterTable& table, const std::vector<CounterValue>& row,
                                std::string_view column);
std::string text_in(const CounterTable& table, const std::vector<CounterValue>& row, std::string_view column);
/// Of all rows together.
std::optional<double> sum_of(const CounterTable& table, std::string_view column);

/// One line for each context.
std::vector<std::string> show_list(const Look& now, const Look* before);
/// Each context with its methods, its peers and its groups. Rates where `before` has the same context.
std::vector<std::string> show_contexts(const Look& now, const Look* before);
std::string show_json(const Look& now);
/// The text format of Prometheus, version 0.0.4.
std::string show_prometheus(const Look& now);

} // namespace plexus::tools::top
