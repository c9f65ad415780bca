// SPDX-License-Identifier: BSD-3-Clause
#include "base/fork.h"

#include <array>
#include <cstdlib>
#include <pthread.h>

namespace plexus::detail {

// Written by the child's only thread inside fork(2): relaxed is enough.
std::atomic<std::uint32_t> fork_count{0};

namespace {

constexpr std::size_t kMostLocks = 16;
// Filled while the library is loaded, in rising rank; no thread of ours runs then.
constinit std::array<HeldAcrossFork::Entry, kMostLocks> locks{};
constinit std::size_t lock_count = 0;

void hold_locks() noexcept {
    for (std::size_t i = 0; i < lock_count; ++i) locks[i].lock(locks[i].mutex);
}
void free_locks() noexcept {
    for (std::size_t i = lock_count; i-- > 0;) locks[i].unlock(locks[i].mutex);
}
void begin_child() noexcept {
    fork_count.store(fork_count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    free_locks();
}
[[maybe_unused]] const int kRegistered = ::pthread_atfork(&hold_locks, &free_locks, &begin_child);

} // namespace
} // namespace plexus::detail

namespace plexus {

HeldAcrossFork::HeldAcrossFork(const Entry& entry) noexcept {
    using detail::lock_count;
    using detail::locks;
    if (lock_count == locks.size()) std::abort(); // kMostLocks is too small
    std::size_t at = lock_count++;
    for (; at > 0 && locks[at - 1].rank > entry.rank; --at) locks[at] = locks[at - 1];
    locks[at] = entry;
}

} // namespace plexus
