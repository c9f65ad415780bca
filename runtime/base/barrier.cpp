// SPDX-License-Identifier: BSD-3-Clause
#include "base/barrier.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace plexus {

namespace detail {

bool asymmetric_barriers() noexcept {
#if defined(PLEXUS_THREAD_SANITIZER)
    return false; // it does not know membarrier(2)
#else
    return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
#endif
}

const bool kAsymmetric = asymmetric_barriers();

} // namespace detail

void heavy_barrier() noexcept {
    full_barrier();
    if (detail::kAsymmetric) ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

} // namespace plexus
