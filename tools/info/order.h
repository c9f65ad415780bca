// SPDX-License-Identifier: BSD-3-Clause
// From measurements to a recommendation: which order of methods for messages of which size,
// and the method list that says so. Pure functions; knows nothing of how anything was measured
// or is printed.
#pragma once

#include "tools/benchmark/survey_lines.h"

namespace plexus::tools {

/// What was found about one method.
struct Measured {
    std::string method;               ///< "tcp?sndbuf=4MiB"; "libfabric:shm", a row of several
    bool one_process = false;         ///< it reaches contexts of the same process only
    std::vector<bench::Point> points; ///< small sizes first; empty: it failed
    std::string failure;              ///< why, in a sentence
};

/// One order for all messages from `from_bytes` on, up to the next range.
struct Range {
    std::uint64_t from_bytes = 0;
    std::vector<std::string> methods;
    bool operator==(const Range&) const = default;
};

/// Differences below this share are noise: the order that was there before stands.
inline constexpr double kNoise = 0.1;

/// The fastest first: by latency, large messages by bandwidth. `all` is in the present order.
/// Methods that reach their own process only lead: they compete with none of the others between
/// processes. One that failed, or does not carry a size, is not in that size's range. Where
/// two neighbouring sizes want different orders the border is put halfway, as sizes go, at a
/// power of two.
std::vector<Range> recommend(const std::vector<Measured>& all);

/// How rows of a context's table are called here: by their entry in the list that the user wrote,
/// so that parameters stay, or, where a method has several rows, by their own names.
std::vector<std::string> names_of_rows(const std::vector<std::string>& rows,
                                       const std::vector<std::string>& wanted);

/// The method list that takes `order` and nothing else. Parameters of a method with several rows
/// can be given with its name only, which means all its rows: so the last of those in `order`
/// is written so, and the others that are known, from `all` or excluded in `wanted`, are excluded.
std::vector<std::string> list_of(const std::vector<std::string>& order, const std::vector<std::string>& all,
                                 const std::vector<std::string>& wanted);

} // namespace plexus::tools
