// SPDX-License-Identifier: BSD-3-Clause
#include "transport/peer_account.h"

#include <algorithm>

namespace plexus::transport {

bool PeerAccount::take(std::uint64_t bytes, std::uint64_t limit) noexcept {
    std::uint64_t used = used_.load(std::memory_order_relaxed);
    do {
        if (used + bytes > limit) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
}

bool Allowance::take(std::uint64_t held, std::uint64_t cost, std::uint64_t limit,
                     std::uint64_t little) noexcept {
    if (held + cost <= granted_) return true;
    const std::uint64_t spare = granted_ > held ? granted_ - held : 0;
    const std::uint64_t need = held + cost - granted_;
    std::uint64_t taken = need + ahead_;
    if (!account_.take(taken, std::min(limit, usual_))) {
        taken = need;
        if (!account_.take(taken, std::max(limit, little + spare + need))) return false;
    }
    granted_ += taken;
    return true;
}

void Allowance::fit(std::uint64_t held) noexcept {
    if (held > granted_) {
        account_.charge(held - granted_);
        granted_ = held;
        return;
    }
    // What the channel's next frames need stays, if the channel has frames and nobody is short.
    const bool keeps = held > 0 && account_.used() <= usual_;
    const std::uint64_t most = keeps ? held + 2 * ahead_ : held;
    if (granted_ <= most) return;
    account_.refund(granted_ - most);
    granted_ = most;
}

} // namespace plexus::transport
