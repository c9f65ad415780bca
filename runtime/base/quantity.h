// SPDX-License-Identifier: BSD-3-Clause
// Sizes and durations as people write them: "4 MiB", "1.5GiB", "50 us". One grammar for the configuration,
// the parameters of modules, and the sizes that tools take. Pure functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plexus {

/// Bytes: whole digits, perhaps a fraction of at most six digits, perhaps spaces, a unit (B, KiB, MiB, GiB,
/// TiB, k, m, g, t for these, kB, MB, GB, TB for powers of ten; any case) or none. Empty: it is not that, the
/// bytes are no whole number of the unit's, or they do not fit into 64 bits.
std::optional<std::uint64_t> size_in(std::string_view text);

/// The same with ns, us, ms, s, min, h; "0" needs no unit.
std::optional<std::chrono::nanoseconds> duration_in(std::string_view text);

/// By the largest unit of which it is a whole number: "4 MiB", "1000".
std::string size_text(std::uint64_t bytes);
std::string duration_text(std::chrono::nanoseconds duration);

/// Without spaces and tabs and line breaks at both ends.
std::string_view trimmed(std::string_view text) noexcept;

} // namespace plexus
