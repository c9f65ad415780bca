// SPDX-License-Identifier: BSD-3-Clause
// The messages that wait to leave by one relayed link, cut into pieces, and the window that bounds what is
// under way. Knows no neighbour.
#pragma once

#include "base/mutex.h"
#include "forward/hop.h"
#include "plexus/module/abi.h"

#include <atomic>
#include <deque>
#include <vector>

namespace plexus::forward {

class Sender {
  public:
    /// Messages up to this size are copied; larger ones stay where they are until they have left.
    static constexpr std::size_t kEager = 32 * 1024;

    /// OK, POSTED or AGAIN. @thread any
    std::int32_t offer(const plexus_view* pieces, std::uint32_t count, void* token) PLEXUS_EXCLUDES(mutex_);
    /// Accepted and not yet out. @thread any
    std::uint64_t queued() const noexcept { return queued_.load(std::memory_order_relaxed); }

    /// Something has not left yet. @thread any
    bool waits() const PLEXUS_EXCLUDES(mutex_);

    // @thread progress
    /// Messages may leave from now on.
    void open(std::uint64_t window) noexcept { window_ = window; }
    /// False: the peer has taken more than was sent.
    bool credit(std::uint64_t bytes) noexcept;

    struct Piece {
        Hop hop;
        bool last = false; ///< of its message
        bool posted = false;
        void* token = nullptr;
    };
    /// The next piece, valid until taken(). False: there is none, or the window is full.
    bool next(Piece& piece) PLEXUS_EXCLUDES(mutex_);
    /// It has left.
    void taken(const Piece& piece) PLEXUS_EXCLUDES(mutex_);
    /// Whether somebody was told AGAIN, and there is room now; once.
    bool owes_writable() PLEXUS_EXCLUDES(mutex_);
    /// Nothing leaves any more. Gives the tokens of what was posted.
    std::vector<void*> abandon() PLEXUS_EXCLUDES(mutex_);

  private:
    struct Message {
        wire::Bytes copy;
        std::vector<plexus_view> pieces; ///< of a posted one
        void* token = nullptr;
        std::size_t size = 0;
        std::size_t head = 0;
    };
    bool full() const PLEXUS_REQUIRES(mutex_);
    wire::View bytes_of(const Message& message, std::size_t from, std::size_t size);

    mutable RankedMutex<31> mutex_;
    std::deque<Message> messages_ PLEXUS_GUARDED_BY(mutex_); ///< only the leader takes some out
    std::size_t posted_ PLEXUS_GUARDED_BY(mutex_) = 0;
    bool starved_ PLEXUS_GUARDED_BY(mutex_) = false;
    bool over_ PLEXUS_GUARDED_BY(mutex_) = false;
    std::atomic<std::uint64_t> queued_{0}; // a number for enquiries, no message
    // The leader's own.
    std::size_t sent_ = 0; ///< of the first message
    std::uint64_t window_ = 0;
    std::uint64_t under_way_ = 0;
    wire::Bytes gathered_;
};

} // namespace plexus::forward
