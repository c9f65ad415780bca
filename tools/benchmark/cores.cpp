// SPDX-License-Identifier: BSD-3-Clause
#include "tools/benchmark/cores.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <fstream>
#include <sched.h>
#include <set>
#include <system_error>

namespace plexus::tools::benchmark {

namespace {

/// The same text for hardware threads of one core.
std::string siblings_of(int cpu) {
    std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
    std::string text;
    return std::getline(file, text) ? text : std::to_string(cpu);
}

/// The processors that this process may use, one hardware thread of each core first.
std::vector<int> allowed() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return {};
    std::vector<int> first;
    std::vector<int> others;
    std::set<std::string> seen;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(static_cast<unsigned>(cpu), &set))
            (seen.insert(siblings_of(cpu)).second ? first : others).push_back(cpu);
    first.insert(first.end(), others.begin(), others.end());
    return first;
}

} // namespace

std::optional<Cores> choose_cores(std::size_t near_threads) {
    const std::vector<int> cpus = allowed();
    if (cpus.size() < 2) return {};
    const std::size_t near = std::clamp<std::size_t>(near_threads, 1, cpus.size() - 1);
    const auto border = cpus.begin() + static_cast<std::ptrdiff_t>(near);
    return Cores{{cpus.begin(), border}, {*border}};
}

std::string pin_to(const std::vector<int>& cores) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int core : cores) CPU_SET(static_cast<unsigned>(core), &set);
    if (::sched_setaffinity(0, sizeof set, &set) == 0) return {};
    return std::generic_category().message(errno);
}

} // namespace plexus::tools::benchmark
