// SPDX-License-Identifier: BSD-3-Clause
#include "transport/receive_window.h"

namespace plexus::transport {

void PastStreams::remember(std::uint32_t stream, std::uint64_t delivered) {
    if (!delivered_.emplace(stream, delivered).second || delivered_.size() <= kMost) return;
    forgotten_ = delivered_.begin()->first;
    delivered_.erase(delivered_.begin());
}

std::optional<std::uint64_t> PastStreams::find(std::uint32_t stream) const {
    const auto found = delivered_.find(stream);
    return found == delivered_.end() ? std::nullopt : std::optional(found->second);
}

} // namespace plexus::transport
