// SPDX-License-Identifier: BSD-3-Clause
#include "multicast/window.h"

#include <algorithm>

namespace plexus::eco::multicast {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

} // namespace

SendWindow::SendWindow(std::uint32_t members, std::uint32_t me, std::uint32_t count, std::uint32_t window)
  : count_(count)
  , window_(std::max<std::uint32_t>(1, window))
  , confirmed_(members, 0) {
    confirmed_[me] = count;
    least_ = *std::min_element(confirmed_.begin(), confirmed_.end());
}

bool SendWindow::confirm(std::uint32_t member, std::uint32_t below) {
    if (member >= confirmed_.size() || below > count_) return false;
    std::uint32_t& known = confirmed_[member];
    if (below <= known) return true; // a confirmation that was overtaken
    known = below;
    least_ = *std::min_element(confirmed_.begin(), confirmed_.end());
    next_ = std::max(next_, least_); // repairs went ahead
    return true;
}

std::uint32_t SendWindow::slowest() const noexcept {
    return static_cast<std::uint32_t>(std::min_element(confirmed_.begin(), confirmed_.end()) -
                                      confirmed_.begin());
}

bool ReceiveWindow::take(std::uint32_t sequence) {
    if (sequence >= has_.size() || has_[sequence]) return false;
    has_[sequence] = true;
    seen_ = std::max(seen_, sequence + 1);
    while (first_missing_ < has_.size() && has_[first_missing_]) ++first_missing_;
    return true;
}

std::vector<Range> ReceiveWindow::missing(std::uint32_t below, std::uint32_t most) const {
    std::vector<Range> out;
    const auto end = std::min(below, static_cast<std::uint32_t>(has_.size()));
    for (std::uint32_t at = first_missing_; at < end && most > 0; ++at) {
        if (has_[at]) continue;
        if (!out.empty() && out.back().first + out.back().count == at) {
            ++out.back().count;
        } else if (out.size() < kMostRanges) {
            out.push_back({at, 1});
        } else {
            break;
        }
        --most;
    }
    return out;
}

void RepairTimer::answered(Answer what, std::uint64_t now) noexcept {
    open_ = false;
    if (what == Answer::fresh) return; // the silence lasts: what is still missing is due
    quiet_since_ = now;
    if (what == Answer::not_begun) silence_ = std::min(2 * silence_, kLongestSilence);
}

std::uint32_t RepairTimer::ask_below(const ReceiveWindow& window, std::uint32_t count,
                                     std::uint64_t now) const noexcept {
    if (open_ || window.complete()) return 0;
    if (now - quiet_since_ >= silence_) return count;
    const std::uint32_t behind = reorder_ + 1; // so many behind a gap: it is a loss
    return window.seen() > window.first_missing() + behind ? window.seen() - behind : 0;
}

std::uint64_t RateLimiter::take(std::uint64_t bytes, std::uint64_t now) noexcept {
    if (rate_ == 0) return 0;
    const std::uint64_t cost = std::min(bytes, burst_);
    const std::uint64_t full_after = (burst_ - tokens_) * kSecond / rate_ + 1;
    const std::uint64_t passed = now - filled_;
    if (passed >= full_after) {
        tokens_ = burst_;
        filled_ = now;
    } else if (const std::uint64_t fresh = passed * rate_ / kSecond; fresh > 0) {
        tokens_ = std::min(burst_, tokens_ + fresh);
        filled_ = now;
    }
    if (tokens_ >= cost) {
        tokens_ -= cost;
        return 0;
    }
    return (cost - tokens_) * kSecond / rate_ + 1;
}

} // namespace plexus::eco::multicast
