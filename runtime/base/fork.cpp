// SPDX-License-Identifier: BSD-3-Clause
#include "base/fork.h"

#include <pthread.h>

namespace plexus::detail {

// Written by the child's only thread inside fork(2): relaxed is enough.
std::atomic<std::uint32_t> fork_count{0};

namespace {

void count_fork() noexcept {
    fork_count.store(fork_count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}
[[maybe_unused]] const int kRegistered = ::pthread_atfork(nullptr, nullptr, &count_fork);

} // namespace
} // namespace plexus::detail
