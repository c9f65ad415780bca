// SPDX-License-Identifier: BSD-3-Clause
// Method lists: `shm, ucx?tls=rc&net=ib0, ^libfabric, tcp`. An order, with parameters;
// `^` excludes; `libfabric:verbs` is one row of a method that has several; %2C stands for a comma inside a
// value, and so for any byte. One grammar for files, the command line, pointers and tools. Pure functions.
#pragma once

#include "base/result.h"
#include "plexus/table.h"

#include <string>
#include <string_view>
#include <vector>

namespace plexus::method {

struct ListItem {
    std::string method;
    Parameters parameters;
    bool excluded = false;
    bool operator==(const ListItem&) const = default;
};

/// @error bad_config with the offending piece and what would be accepted
Result<std::vector<ListItem>> parse_list(std::string_view text);

/// The grammar's own form of a list: parse_list(to_text(x)) == x.
std::string to_text(const std::vector<ListItem>& list);

/// The methods as they were written, "^" before an excluded one: what check_methods() takes.
std::vector<std::string> names_of(const std::vector<ListItem>& list);

/// "libfabric" for "libfabric:verbs".
std::string_view method_of(std::string_view row) noexcept;
/// The methods alone that a list of rows speaks of, each once; what is said of single rows of them, and
/// no more, excludes none.
std::vector<ListItem> without_rows(const std::vector<ListItem>& list);

/// Orders `available`, names of methods or of rows, by a list: what it names first, in its order.
/// A list that only excludes keeps the order of `available` and drops what it names; a list that
/// names some drops all others. A method means all its rows (see means_row()).
std::vector<ListItem> apply_list(const std::vector<ListItem>& list,
                                 const std::vector<std::string>& available);

} // namespace plexus::method
