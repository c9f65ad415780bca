// SPDX-License-Identifier: BSD-3-Clause
// How fast one core copies memory: the limit of every method that copies once.
#include "tools/benchmark/buffers.h"
#include "tools/limits/machine.h"

#include <algorithm>
#include <cstring>

namespace plexus::limits {

double copy_bandwidth(const Plan& plan, std::size_t bytes) {
    pin(plan.cores.first);
    tools::benchmark::Buffers from(plan.buffers);
    tools::benchmark::Buffers to; // what arrives is read at once, in memory that is used again
    from.assign(bytes, std::byte{1});
    to.assign(bytes, std::byte{2});
    const auto round = [&](std::uint64_t times) {
        const auto start = tools::benchmark::Clock::now();
        for (std::uint64_t time = 0; time < times; ++time) {
            std::byte* const where = to.next().data();
            std::memcpy(where, from.next().data(), bytes);
            asm volatile("" : : "r"(where) : "memory"); // each copy happens
        }
        return tools::benchmark::seconds_since(start);
    };
    return static_cast<double>(bytes) /
           tools::benchmark::best_of(plan.effort(std::max(16u, plan.buffers)), round).each() / 1e6;
}

} // namespace plexus::limits
