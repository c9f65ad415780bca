// SPDX-License-Identifier: BSD-3-Clause
#include "zstd/worth.h"

#include <algorithm>

namespace plexus::zstd {
namespace {

constexpr double kNsPerSecond = 1e9;
/// A queue that was busy for so long tells a rate.
constexpr std::uint64_t kLeastBusyNs = 2'000'000;

double mixed(double before, double now, double weight) { return before + weight * (now - before); }

} // namespace

void LinkRate::look(std::uint64_t now_ns, std::uint64_t queued, std::uint64_t told_per_second) noexcept {
    told_ = static_cast<double>(told_per_second);
    const std::uint64_t passed = looked_ns_ == 0 ? 0 : now_ns - looked_ns_;
    const std::uint64_t carried = looked_ns_ != 0 && queued_ > queued ? queued_ - queued : 0;
    looked_ns_ = now_ns;
    queued_ = queued;
    if (queued == 0) { // it was idle for a while: it carries this much at least
        busy_ns_ = busy_bytes_ = 0;
        if (seen_ > 0 && passed > 0)
            seen_ =
                std::max(seen_, static_cast<double>(carried) * kNsPerSecond / static_cast<double>(passed));
        return;
    }
    busy_ns_ += passed;
    busy_bytes_ += carried;
    if (busy_ns_ < kLeastBusyNs) return;
    const double now = static_cast<double>(busy_bytes_) * kNsPerSecond / static_cast<double>(busy_ns_);
    if (now > 0) seen_ = seen_ == 0 ? now : mixed(seen_, now, 0.25);
    busy_ns_ = busy_bytes_ = 0;
}

bool Worth::passes(std::size_t size) noexcept {
    if (pause_left_ == 0 || shrinks()) return false;
    pause_left_ -= std::min<std::uint64_t>(pause_left_, size);
    rate.pause();
    return true;
}

Worth::Step Worth::step(std::size_t size) noexcept {
    // A pause because of the link ends as soon as the link has become slow enough.
    if (pause_left_ > 0 && !pays()) {
        pause_left_ -= std::min<std::uint64_t>(pause_left_, size);
        return Step::plain;
    }
    return size < kSampledFrom && pays() ? Step::whole : Step::sample;
}

void Worth::measured(std::size_t bytes, std::size_t packed, std::uint64_t took_ns) noexcept {
    if (bytes == 0) return;
    const double ratio = std::min(1.0, static_cast<double>(packed) / static_cast<double>(bytes));
    const double cost = static_cast<double>(took_ns) / static_cast<double>(bytes);
    const bool is_first = cost_ns_ == 0;
    ratio_ = is_first ? ratio : mixed(ratio_, ratio, 0.5);
    cost_ns_ = is_first ? cost : mixed(cost_ns_, cost, 0.25);
    if (pays()) {
        pause_ = kFirstPause;
        pause_left_ = 0;
    } else {
        pause_left_ = pause_;
        pause_ = std::min(2 * pause_, kLongestPause);
    }
}

bool Worth::pays() const noexcept {
    if (cost_ns_ == 0 || !shrinks()) return false;
    const double per_second = rate.per_second();
    if (is_always_) return true;
    if (per_second <= 0) return false;
    // What a byte costs both processors against what the link no longer carries of it.
    return cost_ns_ * (1 + kUnpacking) < (1 - ratio_) * kNsPerSecond / per_second;
}

} // namespace plexus::zstd
