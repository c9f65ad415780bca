// SPDX-License-Identifier: BSD-3-Clause
// The accounts of a soak: what each sender handed over and was told of, what each receiver got, and what
// is left when both are compared. Pure values. A context is known by its life: a number that the director
// gives once.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace plexus::soak {

using Life = std::uint32_t;
/// Numbers from `first` to `last`, both among them.
struct Range {
    std::uint64_t first;
    std::uint64_t last;
    bool operator==(const Range&) const = default;
};

/// What one receiver got of one sender's numbers, which come in order and once each.
class Received {
  public:
    void take(std::uint64_t number);

    std::uint64_t next() const noexcept { return next_; } ///< one more than the largest that came
    std::uint64_t repeated() const noexcept { return repeated_; }
    std::uint64_t late() const noexcept { return late_; } ///< came behind a larger one
    const std::vector<Range>& missing() const noexcept { return missing_; }
    std::string text() const;
    static Received from(const std::string& text);

  private:
    std::uint64_t next_ = 0;
    std::uint64_t repeated_ = 0;
    std::uint64_t late_ = 0;
    std::vector<Range> missing_; ///< below next_, in order
};

/// What one sender handed over to one receiver, and what it was told of it.
struct Sent {
    std::uint64_t next = 0;           ///< numbers below were used
    std::set<std::uint64_t> refused;  ///< the sender was told of this very one
    std::set<std::uint64_t> answered; ///< calls below `next` that were answered; only the last few hundred
    std::uint64_t told = 0;           ///< so many, it was told, may not have been delivered
    std::uint64_t lost_events = 0;    ///< peer_lost, for this receiver

    std::string text() const;
    static Sent from(const std::string& text);
};

struct Balance {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t told = 0;        ///< did not come, and the sender knows
    std::uint64_t unaccounted = 0; ///< did not come, and nobody was told
    std::uint64_t untrue = 0;      ///< calls that were answered and did not come
    Balance& operator+=(const Balance& other) noexcept;
};
/// Both sides live: every number has come, or the sender was told.
Balance compare(const Sent& sent, const Received& received);

} // namespace plexus::soak
