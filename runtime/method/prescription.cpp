// SPDX-License-Identifier: BSD-3-Clause
#include "method/prescription.h"

#include "base/log.h"
#include "method/boundary.h"

#include <algorithm>

namespace plexus::method {
namespace {

bool has_row(const DescriptorTable& rows, std::string_view method) {
    return std::any_of(rows.begin(), rows.end(), [&](const Descriptor& row) { return row.method == method; });
}

// A boundary becomes what lies within both. `strict`: a wider one is an error. False: nothing lies within
// both.
Result<bool> merge(const Parameters& more, Descriptor& row, bool strict) {
    for (const auto& [key, value] : more) {
        const auto present = row.parameters.find(key);
        if (key == kWithin && present != row.parameters.end()) {
            const auto before = parse_boundary(present->second);
            const auto asked = parse_boundary(value);
            if (!before) return before.failure();
            if (!asked) return asked.failure();
            const Boundary both = narrower(*before, *asked);
            if (strict && both != *asked)
                return fail(Status::bad_config,
                            "the pointer prescribes {} within \"{}\", and \"{}\" is more than that",
                            row.method, present->second, value);
            if (both.kind == Boundary::Kind::sites && both.sites.empty()) return false;
            present->second = to_text(both);
            continue;
        }
        row.parameters[key] = value;
    }
    return true;
}

Result<DescriptorTable> named_of(const std::vector<ListItem>& list, const DescriptorTable& rows,
                                 bool strict) {
    std::vector<std::string> available;
    for (const Descriptor& row : rows)
        if (std::find(available.begin(), available.end(), row.method) == available.end())
            available.push_back(row.method);
    DescriptorTable named;
    named.set_place(rows.place());
    for (const ListItem& item : apply_list(list, available)) {
        for (Descriptor row : rows) {
            if (row.method != item.method) continue;
            const auto merged = merge(item.parameters, row, strict);
            if (!merged) return merged.failure();
            if (*merged) named.push_back(std::move(row));
        }
    }
    return named;
}

} // namespace

Result<void> check_prescription(std::string_view text) {
    const auto list = parse_list(text);
    if (!list) return list.failure();
    if (to_text(*list) != text)
        return fail(Status::bad_config, "\"{}\" is not written as Plexus writes it", text);
    for (const ListItem& item : *list) {
        if (item.excluded)
            return fail(Status::bad_config, "\"{}\" excludes a method instead of naming one", text);
        const auto within = item.parameters.find(std::string(kWithin));
        if (within == item.parameters.end()) continue;
        if (const auto good = parse_boundary(within->second); !good) return good.failure();
    }
    return {};
}

Result<DescriptorTable> named_rows(const std::vector<ListItem>& list, const DescriptorTable& table) {
    if (!table.prescribed().empty()) return named_of(list, prescribed_rows(table), true);
    DescriptorTable plain;
    plain.set_place(table.place());
    for (const Descriptor& row : table) plain.push_back({row.method, row.bytes, {}, row.within});
    return named_of(list, plain, true);
}

DescriptorTable prescribed_rows(const DescriptorTable& table) {
    if (table.prescribed().empty()) return table;
    DescriptorTable none;
    none.set_place(table.place());
    const auto list = parse_list(table.prescribed());
    if (!list) return none;
    auto named = named_of(*list, table, false);
    return named ? *std::move(named) : none;
}

std::string prescription_of(const DescriptorTable& rows) {
    std::vector<ListItem> list;
    for (const Descriptor& row : rows)
        if (std::none_of(list.begin(), list.end(),
                         [&](const ListItem& each) { return each.method == row.method; }))
            list.push_back({row.method, row.parameters, false});
    return to_text(list);
}

void tell_prescription(Choice& choice, const DescriptorTable& table) {
    if (table.prescribed().empty()) return;
    if (choice.row && *choice.row < choice.trail.size())
        choice.trail[*choice.row].because += ", as the pointer prescribes";
    const DescriptorTable rows = prescribed_rows(table);
    for (const Descriptor& row : table)
        if (!has_row(rows, row.method))
            choice.trail.push_back(
                {row.method, false, fmt::format("the pointer prescribes {}", table.prescribed())});
    if (const auto list = parse_list(table.prescribed()); list)
        for (const ListItem& item : *list)
            if (!table.find(item.method))
                choice.trail.push_back({item.method, false, "prescribed, but the table has no such row"});
}

} // namespace plexus::method
