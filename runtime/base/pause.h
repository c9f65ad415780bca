// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>
#endif

namespace plexus {

/// Tells the processor that this is a spin loop. @thread any
inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

} // namespace plexus
