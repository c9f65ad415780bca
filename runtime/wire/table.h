// SPDX-License-Identifier: BSD-3-Clause
// Descriptor tables as bytes: where their context is, then its rows. Each row carries its length, so that an
// entry of a method that is unknown here is kept and passed on unharmed. Behind the rows stands what a
// pointer prescribes, if anything. Parameters travel as part of that alone.
#pragma once

#include "plexus/table.h"
#include "wire/bytes.h"

#include <optional>

namespace plexus::wire {

inline constexpr std::size_t kLongestDescriptor = 1024;
inline constexpr std::size_t kLongestSiteName = 63;
inline constexpr std::size_t kLongestWithin = 1024; ///< some sixteen sites of the longest names
inline constexpr std::size_t kLongestPrescription = 1024;
inline constexpr std::size_t kLongestMethodName = 31 + 1 + 31; // a method, and one of its rows

Bytes encode_table(const DescriptorTable& table);

/// Letters, digits, '.', '_' and '-', at least one and at most kLongestSiteName.
bool is_site_name(std::string_view name) noexcept;

/// nullopt: truncated, too many rows, a row or a prescription longer than may be, a site whose name is none,
/// characters in a prescription that can't be printed. What it prescribes is not looked at.
std::optional<DescriptorTable> decode_table(View bytes);

/// What identifies a table of one context: equal bytes, equal number.
std::uint64_t table_hash(View encoded) noexcept;

} // namespace plexus::wire
