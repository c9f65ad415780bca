// SPDX-License-Identifier: BSD-3-Clause
#include "shm/copy_meter.h"

#include <algorithm>

namespace plexus::shm {
namespace {

constexpr std::uint32_t kNotMeasured = UINT32_MAX;

} // namespace

CopyChoice::Pick CopyMeter::next(std::uint64_t bytes, CopySet allowed, bool may_measure) noexcept {
    if (open_ > 0) collect();
    return choice_.next(bytes, allowed, may_measure && open_ < kSamples);
}

std::uint32_t CopyMeter::begin(std::uint64_t bytes, const CopyChoice::Pick& pick, bool behind) noexcept {
    choice_.sent(bytes, pick);
    if (!pick.measure) return 0;
    std::uint32_t at = 0;
    while (samples_[at].bytes != 0) ++at; // next() saw that there is one
    samples_[at] = {bytes, pick, behind, 0};
    ++open_;
    out_.spent[at].store(0, std::memory_order_relaxed); // published with the record
    return at + 1;
}

void CopyMeter::copied(std::uint32_t sample, std::chrono::nanoseconds time) noexcept {
    samples_[sample - 1].copied_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 1));
}

void CopyMeter::collect() noexcept {
    for (std::size_t i = 0; i < samples_.size(); ++i) {
        Open& each = samples_[i];
        if (each.bytes == 0) continue;
        // Relaxed: it tells nothing but itself.
        const std::uint64_t spent = out_.spent[i].load(std::memory_order_relaxed);
        if (spent == 0) continue;
        const std::uint64_t both = each.behind ? std::max(spent, each.copied_ns) : spent + each.copied_ns;
        choice_.note(each.bytes, each.pick, spent == kNotMeasured ? 0 : both);
        each.bytes = 0;
        --open_;
    }
}

void CopyTimer::answer(Direction& in, bool whole) noexcept {
    if (sample_ == 0) return;
    const std::int64_t ns = (std::chrono::steady_clock::now() - start_).count();
    const auto spent = static_cast<std::uint32_t>(std::clamp<std::int64_t>(ns, 1, kNotMeasured - 1));
    in.spent[sample_ - 1].store(whole ? spent : kNotMeasured, std::memory_order_relaxed);
    sample_ = 0;
}

} // namespace plexus::shm
