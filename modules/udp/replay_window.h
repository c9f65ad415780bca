// SPDX-License-Identifier: BSD-3-Clause
// Which numbers of one direction of a session have come: refuses those that come again, and those that are
// older than the window reaches, as RFC 6479 does. A ring of words: moving on clears whole words and shifts
// nothing. Pure state; not thread-safe.
#pragma once

#include <array>
#include <cstdint>

namespace plexus::udp {

class ReplayWindow {
  public:
    /// So far behind the highest number one may come at least.
    static constexpr std::uint64_t kReach = 1984;

    /// Whether `number` is new. Looks only: what it belongs to may be forged.
    bool is_new(std::uint64_t number) const noexcept;
    /// It has come, and is genuine. Call only where is_new() holds.
    void came(std::uint64_t number) noexcept;

  private:
    static constexpr std::uint64_t kWordBits = 64;
    static constexpr std::uint64_t kWords = kReach / kWordBits + 1;
    std::uint64_t highest_ = 0; ///< 0: none; numbers begin with 1
    std::array<std::uint64_t, kWords> words_{};
};

} // namespace plexus::udp
