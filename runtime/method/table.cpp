// SPDX-License-Identifier: BSD-3-Clause
// The public table: a value, edited by whoever holds it.
#include "plexus/table.h"

#include "base/log.h"

#include <algorithm>

namespace plexus {

std::optional<std::size_t> DescriptorTable::find(std::string_view method) const noexcept {
    const auto row = std::find_if(rows_.begin(), rows_.end(),
                                  [&](const Descriptor& each) { return means_row(method, each.method); });
    if (row == rows_.end()) return {};
    return static_cast<std::size_t>(row - rows_.begin());
}

namespace {

void require_row(std::size_t row, std::size_t rows) {
    if (row >= rows)
        throw Error(Status::bad_argument,
                    fmt::format("there is no row {} in a table of {} rows, counted from 0", row, rows));
}

} // namespace

void DescriptorTable::insert(std::size_t at, Descriptor descriptor) {
    if (at > size())
        throw Error(
            Status::bad_argument,
            fmt::format("can't insert before row {}: the table has {} rows, counted from 0", at, size()));
    if (size() == kMaxRows)
        throw Error(Status::bad_argument, fmt::format("the table is full: {} rows are the most", kMaxRows));
    rows_.insert(rows_.begin() + static_cast<std::ptrdiff_t>(at), std::move(descriptor));
}

void DescriptorTable::erase(std::size_t row) {
    require_row(row, size());
    rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(row));
}

void DescriptorTable::move(std::size_t from, std::size_t to) {
    require_row(from, size());
    require_row(to, size());
    const auto first = rows_.begin() + static_cast<std::ptrdiff_t>(from);
    const auto last = rows_.begin() + static_cast<std::ptrdiff_t>(to);
    if (from < to) {
        std::rotate(first, first + 1, last + 1);
    } else {
        std::rotate(last, first, first + 1);
    }
}

void DescriptorTable::prefer(const std::vector<std::string>& methods) {
    const auto rank = [&](const Descriptor& row) {
        return std::find_if(methods.begin(), methods.end(),
                            [&](const std::string& name) { return means_row(name, row.method); });
    };
    std::stable_sort(rows_.begin(), rows_.end(),
                     [&](const Descriptor& a, const Descriptor& b) { return rank(a) < rank(b); });
}

std::string to_string(const Choice& choice) {
    std::string text;
    for (std::size_t row = 0; row < choice.trail.size(); ++row) {
        const Verdict& verdict = choice.trail[row];
        if (row > 0) text += "; ";
        text += verdict.method + ": ";
        if (choice.row == row) {
            text += fmt::format("{} (row {})", verdict.because, row + 1); // people count from one
        } else {
            text += verdict.because;
        }
    }
    if (choice.row && *choice.row >= choice.trail.size()) text += fmt::format("row {}", *choice.row + 1);
    if (!choice.row && choice.trail.empty()) text = "the table is empty";
    return text;
}

} // namespace plexus
