// SPDX-License-Identifier: BSD-3-Clause
// How fast one core copies memory: the roof of every method that copies once.
#include "tools/limits/machine.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace plexus::limits {

double copy_bandwidth(const Plan& plan, std::size_t bytes) {
    pin(plan.cores.first);
    std::vector<char> from(bytes, 1);
    std::vector<char> to(bytes, 2);
    const auto round = [&](std::uint64_t times) {
        const double start = seconds_now();
        for (std::uint64_t time = 0; time < times; ++time) {
            std::memcpy(to.data(), from.data(), bytes);
            asm volatile("" : : "r"(to.data()) : "memory"); // each copy happens
        }
        return static_cast<double>(bytes) * static_cast<double>(times) / (seconds_now() - start);
    };
    double best = round(16);
    const auto times = static_cast<std::uint64_t>(plan.seconds * best / static_cast<double>(bytes)) + 1;
    for (std::uint32_t each = 0; each < plan.rounds; ++each) best = std::max(best, round(times));
    return best / 1e6;
}

} // namespace plexus::limits
