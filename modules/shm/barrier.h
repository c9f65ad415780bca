// SPDX-License-Identifier: BSD-3-Clause
// A memory barrier whose cost one side pays for both. A sender writes a message and then
// reads whether the receiver polls the ring; a receiver that stops polling says so and then
// reads the ring once more. One of them has to see the other, which takes a full barrier
// between write and read on both sides. Senders do that for each message, receivers
// hardly ever: so the receiver calls membarrier(2), which runs a full barrier on every
// running thread of every registered process (a thread that isn't running has passed one in
// the context switch), and the sender only keeps its compiler from reordering.
//
// Why that suffices: within the receiver's membarrier call each sender thread passes one
// full barrier. If the sender's write comes before it in program order, the receiver's read
// afterwards sees the write. If it comes behind, so does the sender's read, which then sees
// what the receiver had said before the call.
//
// Where the kernel has no such call, or either side could not register, both sides use a
// sequentially consistent fence each time.
#pragma once

#include <atomic>

namespace plexus::shm {

/// Registers this process. True: full_barrier() reaches all others that registered, and theirs
/// this one. Once per context; again is harmless.
bool join_barrier() noexcept;

/// The receiver's side. About 10 us where `joined`.
void full_barrier(bool joined) noexcept;

/// The sender's side; `light` if both have joined.
inline void sender_barrier(bool light) noexcept {
    if (light) [[likely]]
        std::atomic_signal_fence(std::memory_order_seq_cst);
    else
        std::atomic_thread_fence(std::memory_order_seq_cst);
}

} // namespace plexus::shm
