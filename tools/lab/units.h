// SPDX-License-Identifier: BSD-3-Clause
// Rates and times as in a network's file: "10 Mb/s", "25 us". Pure values; tools/common/quantity.h has
// sizes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plexus::tools::lab {

using Time = std::chrono::nanoseconds; ///< a duration, or one since the switch was started

/// Bits a second: a number, then b/s, kb/s, Mb/s or Gb/s (powers of ten), a blank between
/// is allowed. Nothing: it is no such rate, is not above 0, or is above 1 Tb/s.
std::optional<std::uint64_t> parse_rate(std::string_view text);

/// A number, then ns, us, ms or s. Nothing: it is no such time, is negative, or is above a
/// minute.
std::optional<Time> parse_time(std::string_view text);

/// "10 Mb/s", "without limit" for 0.
std::string show_rate(std::uint64_t bits_per_second);
/// "25 us", "6.577 ms".
std::string show_time(Time time);

} // namespace plexus::tools::lab
