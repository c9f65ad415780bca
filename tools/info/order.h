// SPDX-License-Identifier: BSD-3-Clause
// From measurements to a recommendation: which order of methods for messages of which size, and the
// method list for that order. Pure functions; knows nothing of measuring and printing.
#pragma once

#include "tools/benchmark/survey_lines.h"

namespace plexus::tools {

/// The results for one method.
struct Measured {
    std::string method;                   ///< "tcp?sndbuf=4MiB"; "libfabric:shm", a row of several
    bool one_process = false;             ///< it reaches contexts of the same process only
    std::vector<benchmark::Point> points; ///< small sizes first; empty: it failed
    std::string failure;                  ///< why, in a sentence
    std::string learned{};                ///< as benchmark::Survey::learned
};

/// One order for all messages from `from_bytes` on, up to the next range.
struct Range {
    std::uint64_t from_bytes = 0;
    std::vector<std::string> methods;
    bool operator==(const Range&) const = default;
};

/// Differences below this share are noise: the present order stays.
inline constexpr double kNoise = 0.1;

/// The fastest first: by latency, large messages by bandwidth. `all` is in the present order.
/// Methods that reach only their own process come first: they do not compete with methods between processes.
/// A method that failed, or does not carry a size, is not in that size's range. If two neighbouring sizes
/// have different orders, the border between them is the power of two nearest to their geometric mean.
std::vector<Range> recommend(const std::vector<Measured>& all);

/// The names of a table's rows in a recommendation: the entry in the user's list, so that parameters stay, or
/// the row's own name if a method has several rows.
std::vector<std::string> names_of_rows(const std::vector<std::string>& rows,
                                       const std::vector<std::string>& wanted);

/// The lines of a configuration file that fix what a method has learned: its remark names them at its end,
/// "…; fixed by KEY = VALUE, KEY = VALUE". Empty: it names none.
std::vector<std::string> lines_that_fix(const Measured& measured);

/// The method list that takes `order` and nothing else. Parameters of a method with several rows can be given
/// with the method's name only, which means all its rows: so the last of its rows in `order` is written that
/// way, and the other known rows, from `all` or excluded in `wanted`, are excluded.
std::vector<std::string> list_of(const std::vector<std::string>& order, const std::vector<std::string>& all,
                                 const std::vector<std::string>& wanted);

} // namespace plexus::tools
