// SPDX-License-Identifier: BSD-3-Clause
#include "request/newest.h"

#include <algorithm>
#include <cstddef>

namespace plexus::request {

bool Newest::take(std::uint32_t handle, std::uint16_t request, std::uint64_t number) {
    constexpr std::size_t kMost = 4096;
    const std::uint64_t key = std::uint64_t{handle} << 16 | request;
    const auto found = numbers_.find(key);
    if (number <= (found != numbers_.end() ? found->second : floor_)) return false;
    highest_ = std::max(highest_, number);
    if (found != numbers_.end()) {
        found->second = number;
        return true;
    }
    if (numbers_.size() >= kMost) {
        numbers_.clear();
        floor_ = highest_;
        return true;
    }
    numbers_.emplace(key, number);
    return true;
}

} // namespace plexus::request
