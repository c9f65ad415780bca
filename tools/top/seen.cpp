// SPDX-License-Identifier: BSD-3-Clause
#include "tools/top/seen.h"

#include <algorithm>

namespace plexus::tools::top {
namespace {

std::size_t find_column(const CounterTable& table, std::string_view name) {
    const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                    [&](const CounterColumn& column) { return column.name == name; });
    return static_cast<std::size_t>(found - table.columns.begin());
}

} // namespace

const CounterTable* find_table(const CounterSample& sample, std::string_view name) {
    for (const CounterTable& table : sample.tables)
        if (table.name == name) return &table;
    return nullptr;
}

std::optional<double> number_in(const CounterTable& table, const std::vector<CounterValue>& row,
                                std::string_view column) {
    const std::size_t at = find_column(table, column);
    if (at == table.columns.size() || table.columns[at].kind == CounterKind::text) return {};
    return static_cast<double>(row[at].number) / static_cast<double>(table.columns[at].divisor);
}

std::string text_in(const CounterTable& table, const std::vector<CounterValue>& row,
                    std::string_view column) {
    const std::size_t at = find_column(table, column);
    return at == table.columns.size() ? std::string() : row[at].text;
}

std::optional<double> sum_of(const CounterTable& table, std::string_view column) {
    std::optional<double> sum;
    for (const auto& row : table.rows)
        if (const auto number = number_in(table, row, column)) sum = sum.value_or(0) + *number;
    return sum;
}

} // namespace plexus::tools::top
