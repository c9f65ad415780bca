// SPDX-License-Identifier: BSD-3-Clause
// Which requests of one peer that carry a number were the newest. @thread progress
#pragma once

#include <cstdint>
#include <unordered_map>

namespace plexus::request {

class Newest {
  public:
    /// True if none of that object and request with a higher number, or the same, has come; then
    /// remembers the number. May be false for some that are newer, when very many were remembered.
    bool take(std::uint32_t handle, std::uint16_t request, std::uint64_t number);

  private:
    std::unordered_map<std::uint64_t, std::uint64_t> numbers_;
    std::uint64_t highest_ = 0;
    std::uint64_t floor_ = 0; ///< of those that are not in the map, none was above
};

} // namespace plexus::request
