// SPDX-License-Identifier: BSD-3-Clause
#include "shm/totals.h"

namespace plexus::shm {

void Totals::note(std::uint64_t bytes, std::chrono::nanoseconds time) noexcept {
    if (time.count() <= 0) return;
    const double now = static_cast<double>(bytes) * 1e9 / static_cast<double>(time.count());
    const auto before = static_cast<double>(bytes_per_second.load(std::memory_order_relaxed));
    const double mean = before == 0 ? now : before + (now - before) / 8;
    bytes_per_second.store(static_cast<std::uint64_t>(mean), std::memory_order_relaxed);
}

} // namespace plexus::shm
