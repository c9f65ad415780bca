// SPDX-License-Identifier: BSD-3-Clause
// Rates, times and lengths of queues as in a network's file: "10 Mb/s", "25 us", "64 KiB". Pure values.
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

/// Bytes, as size_in() reads them, except that a unit that ends in a small b is refused: beside a rate in
/// kb/s, "64 kb" reads as kilobits.
std::optional<std::uint64_t> parse_queue(std::string_view text);

/// What each of these takes, for a sentence that refuses another text.
inline constexpr char kRateForm[] = "a text like \"10 Mb/s\"";
inline constexpr char kTimeForm[] = "a text like \"25 us\"";
inline constexpr char kQueueForm[] = "a size in bytes like \"64 KiB\" or \"64 kB\" (a small b is for bits)";

/// "10 Mb/s", "without limit" for 0.
std::string show_rate(std::uint64_t bits_per_second);
/// "25 us", "6.577 ms".
std::string show_time(Time time);

} // namespace plexus::tools::lab
