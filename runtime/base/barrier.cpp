// SPDX-License-Identifier: BSD-3-Clause
#include "base/barrier.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace plexus {

namespace detail {
namespace {

[[maybe_unused]] bool membarrier(int command) noexcept {
    return ::syscall(SYS_membarrier, command, 0, 0) == 0;
}

} // namespace

bool asymmetric_barriers() noexcept {
#if defined(PLEXUS_THREAD_SANITIZER)
    return false; // it does not know membarrier(2)
#else
    return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
           membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
#endif
}

const bool kAsymmetric = asymmetric_barriers();

} // namespace detail

void heavy_barrier() noexcept {
    full_barrier();
    if (!detail::kAsymmetric || detail::membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return;
    // The threads on the light side run without a fence. Without this call nothing orders their memory
    // accesses with ours: going on would risk a use after free.
    std::fprintf(stderr,
                 "plexus: membarrier(2) worked when the program started and fails now (%s): allow it in the "
                 "seccomp filter, or install the filter before the program loads libplexus\n",
                 std::strerror(errno));
    std::abort();
}

} // namespace plexus
