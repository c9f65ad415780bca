// SPDX-License-Identifier: BSD-3-Clause
// Which connection makes room for the next one, where connections whose peer has not authenticated itself are
// bounded in number: the oldest silent connection of the source with the most silent ones. So a flood from
// one address closes its own connections, not those of others. Pure. Not thread-safe. Header only.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

namespace plexus {

/// How many silent connections each source has. A connection is silent until its peer has sent a whole
/// greeting that shows the key.
class ConnectionCounts {
  public:
    /// Where a connection comes from: an IPv4 address, of IPv6 the network of 64 bits.
    using Source = std::array<std::uint8_t, 16>;
    static Source source_of(const std::array<std::uint8_t, 4>& address);
    /// Of an IPv4 address that is written as one of IPv6: as of the former.
    static Source source_of(const std::array<std::uint8_t, 16>& address);

    /// A silent connection of `source` was accepted.
    void add(const Source& source) { ++silent_[source]; }
    /// A silent connection of `source` has sent its greeting, or was closed.
    void remove(const Source& source);

    /// Silent connections of `source`.
    std::size_t count(const Source& source) const {
        const auto found = silent_.find(source);
        return found == silent_.end() ? 0 : found->second;
    }

    /// The connection of `connections`, oldest first, that makes room; the oldest if none is silent; null if
    /// there are none. Elements are pointers to objects with `source()` and `is_silent()`; the silent ones
    /// have been added.
    template <class Connections>
    auto* eviction_victim(const Connections& connections) const;

  private:
    std::map<Source, std::size_t> silent_;
};

inline ConnectionCounts::Source ConnectionCounts::source_of(const std::array<std::uint8_t, 4>& address) {
    Source source{};
    std::copy(address.begin(), address.end(), source.end() - 4);
    return source;
}

inline ConnectionCounts::Source ConnectionCounts::source_of(const std::array<std::uint8_t, 16>& address) {
    constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    Source source{};
    if (std::equal(kMapped.begin(), kMapped.end(), address.begin())) {
        std::copy(address.end() - 4, address.end(), source.end() - 4);
    } else {
        std::copy(address.begin(), address.begin() + 8, source.begin());
    }
    return source;
}

inline void ConnectionCounts::remove(const Source& source) {
    const auto found = silent_.find(source);
    if (--found->second == 0) silent_.erase(found);
}

template <class Connections>
auto* ConnectionCounts::eviction_victim(const Connections& connections) const {
    std::size_t most = 0;
    for (const auto& [source, count] : silent_) most = std::max(most, count);
    for (const auto& each : connections)
        if (most == 0 || (each->is_silent() && silent_.at(each->source()) == most)) return &*each;
    return static_cast<decltype(&**connections.begin())>(nullptr);
}

} // namespace plexus
