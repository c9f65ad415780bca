// SPDX-License-Identifier: BSD-3-Clause
// Memory of past runs: what collective calls were predicted to take and what they took, by map, members,
// operation, size and algorithm. A value, and a file that keeps it. Group::adapt() writes down and chooses by
// it. A value is used by one thread at a time, or read by many.
#pragma once

#include "plexus/eco/map.h"
#include "plexus/eco/plan.h"
#include "plexus/export.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::eco {

/// Of the file. A reader refuses any other.
inline constexpr std::uint32_t kHistoryVersion = 1;

/// On which map, and by members on which hosts, calls ran: two numbers that are equal where these are.
struct HistoryPlace {
    std::uint64_t map = 0;
    std::uint64_t members = 0;
    auto operator<=>(const HistoryPlace&) const = default;
};

/// The date of the map does not count. `hosts` are those of the members, by rank.
PLEXUS_API HistoryPlace history_place(const Map& map, std::span<const std::string> hosts);

/// Calls of one kind.
struct PastCalls {
    HistoryPlace place;
    Operation operation = Operation::barrier;
    Rank root = 0;           ///< 0 where the operation has none
    std::uint64_t bytes = 0; ///< the least of those sizes that share a plan: of the vector, or of each block
    std::string algorithm;   ///< as parse_algorithm() reads it
    double predicted_us = 0; ///< by the map, with open connections
    double measured_us = 0;  ///< until the last member was done, a mean
    std::uint64_t calls = 0;
    bool operator==(const PastCalls&) const = default;
};

class PLEXUS_API History {
  public:
    /// Calls that are here already are combined with these: the mean of the measured times, in which the
    /// older ones count as 100 calls at most, and the new prediction.
    /// @error bad_argument no calls, a time that is negative or no number, or an algorithm that
    /// parse_algorithm()
    ///                     does not read (thrown)
    void add(const PastCalls& calls);
    void add(const History& other);
    /// In the order of their place, operation, root, size and algorithm.
    const std::vector<PastCalls>& calls() const noexcept { return calls_; }
    /// Those with the least measured time; among equals the first algorithm in the order of names. Null:
    /// there are none.
    const PastCalls* fastest(const HistoryPlace& place, Operation operation, Rank root,
                             std::uint64_t bytes) const;
    bool operator==(const History&) const = default;

  private:
    std::vector<PastCalls> calls_;
};

PLEXUS_API std::string to_toml(const History& history);
/// to_toml() gave the text. `name` is the file's, for the sentences.
/// @error bad_config another version, cut off, damaged, or no history (thrown; with the line)
PLEXUS_API History read_history(std::string_view text, const std::string& name);

/// @error not_found it cannot be read (thrown); those of read_history()
PLEXUS_API History load_history(const std::string& path);
/// Replaces the file as a whole: a reader sees the old one or the new one.
/// A symbolic link stays one.
/// @error bad_config it exists and is no regular file (thrown)
/// @error not_found it cannot be written (thrown, with the system's text); an old file stays as it was
PLEXUS_API void save_history(const History& history, const std::string& path);

} // namespace plexus::eco
