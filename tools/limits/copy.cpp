// SPDX-License-Identifier: BSD-3-Clause
// How fast one core copies memory: the limit of every method that copies once.
#include "tools/limits/machine.h"

#include <cstring>
#include <vector>

namespace plexus::limits {

double copy_bandwidth(const Plan& plan, std::size_t bytes) {
    pin(plan.cores.first);
    std::vector<char> from(bytes, 1);
    std::vector<char> to(bytes, 2);
    const auto round = [&](std::uint64_t times) {
        const auto start = tools::benchmark::Clock::now();
        for (std::uint64_t time = 0; time < times; ++time) {
            std::memcpy(to.data(), from.data(), bytes);
            asm volatile("" : : "r"(to.data()) : "memory"); // each copy happens
        }
        return tools::benchmark::seconds_since(start);
    };
    return static_cast<double>(bytes) / tools::benchmark::best_of(plan.effort(16), round).each() / 1e6;
}

} // namespace plexus::limits
