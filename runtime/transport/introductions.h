// SPDX-License-Identifier: BSD-3-Clause
// What the far side of a link was told before frames refer to it by number. A value.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_set>
#include <vector>

namespace plexus::transport {

/// What the far side of a link was told: numbers of requests, tables of contexts.
class Introductions {
  public:
    /// The far side remembers as many tables of each link, at least; older ones are told again.
    static constexpr std::size_t kMostTables = 256;

    bool knows(std::uint16_t request) const noexcept {
        return request < requests_.size() && requests_[request];
    }
    /// True if it is news.
    bool add(std::uint16_t request);
    bool add_table(std::uint64_t name);
    void clear();

  private:
    std::vector<bool> requests_;
    std::unordered_set<std::uint64_t> tables_;
    std::deque<std::uint64_t> order_; ///< of tables_, the oldest first
};

} // namespace plexus::transport
