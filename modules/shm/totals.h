// SPDX-License-Identifier: BSD-3-Clause
// What all links of a module hold and do together; for enquiries. Any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace plexus::shm {

struct Totals {
    std::atomic<std::uint64_t> area_bytes{0};
    std::atomic<std::uint64_t> bytes_per_second{0}; ///< of large messages, lately; 0: none yet

    void note(std::uint64_t bytes, std::chrono::nanoseconds time) noexcept;
};

} // namespace plexus::shm
