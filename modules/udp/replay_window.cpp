// SPDX-License-Identifier: BSD-3-Clause
#include "udp/replay_window.h"

#include <algorithm>

namespace plexus::udp {

bool ReplayWindow::is_new(std::uint64_t number) const noexcept {
    if (number == 0) return false;
    if (number > highest_) return true;
    if (highest_ - number >= kReach) return false;
    return (words_[number / kWordBits % kWords] >> (number % kWordBits) & 1) == 0;
}

void ReplayWindow::came(std::uint64_t number) noexcept {
    if (number > highest_) {
        const std::uint64_t words = std::min(number / kWordBits - highest_ / kWordBits, kWords);
        for (std::uint64_t i = 0; i < words; ++i) words_[(number / kWordBits - i) % kWords] = 0;
        highest_ = number;
    }
    words_[number / kWordBits % kWords] |= std::uint64_t{1} << (number % kWordBits);
}

} // namespace plexus::udp
