// SPDX-License-Identifier: BSD-3-Clause
// Which connection makes room for the next one, where those that have not authenticated themselves
// (strangers) are bounded in number: the oldest silent stranger of the source with the most silent ones. So a
// flood from one address closes its own connections, not those of others. Pure. Not thread-safe. Header only.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

namespace plexus {

/// How many silent strangers come from where. A stranger is silent until it has sent a whole greeting that
/// shows the key.
class StrangerShares {
  public:
    /// Where a connection comes from: an IPv4 address, of IPv6 the network of 64 bits.
    using Source = std::array<std::uint8_t, 16>;
    static Source source_of(const std::array<std::uint8_t, 4>& address);
    /// Of an IPv4 address that is written as one of IPv6: as of the former.
    static Source source_of(const std::array<std::uint8_t, 16>& address);

    /// A silent stranger has come.
    void add(const Source& source) { ++silent_[source]; }
    /// A silent stranger has greeted, or has gone.
    void remove(const Source& source);

    /// Of `strangers`, oldest first: the one that makes room, or the oldest if none is silent; null if there
    /// are none. Elements are pointers to objects with `source()` and `is_silent()`.
    template <class Strangers>
    auto* first_to_go(const Strangers& strangers) const;

  private:
    std::map<Source, std::size_t> silent_;
};

inline StrangerShares::Source StrangerShares::source_of(const std::array<std::uint8_t, 4>& address) {
    Source source{};
    std::copy(address.begin(), address.end(), source.end() - 4);
    return source;
}

inline StrangerShares::Source StrangerShares::source_of(const std::array<std::uint8_t, 16>& address) {
    constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    Source source{};
    if (std::equal(kMapped.begin(), kMapped.end(), address.begin())) {
        std::copy(address.end() - 4, address.end(), source.end() - 4);
    } else {
        std::copy(address.begin(), address.begin() + 8, source.begin());
    }
    return source;
}

inline void StrangerShares::remove(const Source& source) {
    const auto found = silent_.find(source);
    if (--found->second == 0) silent_.erase(found);
}

template <class Strangers>
auto* StrangerShares::first_to_go(const Strangers& strangers) const {
    std::size_t most = 0;
    for (const auto& [source, count] : silent_) most = std::max(most, count);
    for (const auto& each : strangers)
        if (most == 0 || (each->is_silent() && silent_.at(each->source()) == most)) return &*each;
    return static_cast<decltype(&**strangers.begin())>(nullptr);
}

} // namespace plexus
