// SPDX-License-Identifier: BSD-3-Clause
#include "shm/barrier.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace plexus::shm {
namespace {
bool membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }
} // namespace

bool join_barrier() noexcept {
    return membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) &&
           membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

void full_barrier(bool joined) noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (joined) (void)membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED); // it has worked at join: it can't fail
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

} // namespace plexus::shm
