// SPDX-License-Identifier: BSD-3-Clause
#include "base/mutex.h"

#include "base/pause.h"

#include <cstdio>
#include <cstdlib>
#include <sched.h>

namespace plexus {

void spin_pause(unsigned& round) noexcept {
    constexpr unsigned kSpins = 64;
    if (++round < kSpins) {
        relax();
    } else {
        sched_yield();
    }
}

#if !defined(NDEBUG)
namespace {
constexpr int kDepth = 16;
thread_local int held[kDepth];
thread_local int depth = 0;
} // namespace

void rank_taken(int rank) noexcept {
    if (depth > 0 && held[depth - 1] >= rank) {
        std::fprintf(stderr, "plexus: lock of rank %d taken while holding rank %d\n", rank, held[depth - 1]);
        std::abort();
    }
    if (depth < kDepth) held[depth] = rank;
    ++depth;
}

void rank_released(int rank) noexcept {
    // Locks may be given back in any order: take the topmost entry of that rank out.
    for (int i = depth - 1; i >= 0; --i) {
        if (held[i] != rank) continue;
        for (int j = i; j + 1 < depth; ++j) held[j] = held[j + 1];
        break;
    }
    --depth;
}
#endif

} // namespace plexus
