// SPDX-License-Identifier: BSD-3-Clause
// A store-load fence whose cost falls on the side that runs rarely. After light_barrier()
// on one thread and heavy_barrier() on another, at least one of them sees what the other
// wrote before: Dekker's agreement, with nothing but a compiler barrier on the hot side.
#pragma once

#include <atomic>

namespace plexus {

#if defined(__SANITIZE_THREAD__)
#define PLEXUS_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PLEXUS_THREAD_SANITIZER 1
#endif
#endif

namespace detail {
/// Registers this process and tries it once. True: heavy_barrier() runs a fence on every thread of this
/// process. False (an old kernel, a seccomp filter): both sides run a fence of their own.
/// Decided once, when the library is loaded, then only read.
bool asymmetric_barriers() noexcept;
extern const bool kAsymmetric;
} // namespace detail

/// A sequentially consistent fence, in a form that the thread sanitizer understands.
inline void full_barrier() noexcept {
#if defined(PLEXUS_THREAD_SANITIZER)
    static std::atomic<int> meeting_point{0};
    meeting_point.fetch_add(1, std::memory_order_seq_cst);
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

inline void light_barrier() noexcept {
    if (detail::kAsymmetric) {
        std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
        full_barrier();
    }
}

/// Costs a system call, some microseconds. Ends the process with a message if the kernel takes back what
/// it granted at start (a seccomp filter installed later): the light side has no fence then.
void heavy_barrier() noexcept;

} // namespace plexus
