// SPDX-License-Identifier: BSD-3-Clause
// The one queue of a context's local method: every link's messages and news to it, in the
// order in which they were pushed, in recycled chunks of memory. Any thread pushes. The owner's
// progress thread empties the queue, and may sleep on the queue's descriptor. Knows nothing of
// what the records mean. The queue outlives its module while links refer to it.
#pragma once

#include "base/event_fd.h"
#include "base/lock.h"
#include "plexus/module/module.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace plexus::local {

struct Link;

enum class Kind : std::uint32_t {
    opening,  ///< a link from elsewhere to here begins
    opened,   ///< the other side took the link
    message,  ///< a whole message follows the record
    posted,   ///< a Post follows: fetch it
    sent,     ///< a Post of ours is over
    writable, ///< there is room again
    ended,    ///< the other side is gone: a Reason follows
    closing,  ///< nothing comes for this end any more
};

struct Record {
    Link* to; ///< the end that the record is for
    std::uint32_t size;
    Kind kind;

    std::byte* body() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};
static_assert(sizeof(Record) == 16);

struct Chunk {
    static constexpr std::size_t kBytes = 32 * 1024;

    Chunk* next = nullptr;
    std::size_t used = 0;
    alignas(16) std::byte bytes[kBytes];
};

constexpr std::size_t padded(std::size_t size) noexcept { return (size + 15) / 16 * 16; }
/// The room in a chunk that a record of so many bytes needs.
constexpr std::size_t record_bytes(std::size_t size) noexcept { return sizeof(Record) + padded(size); }
/// Largest body of a record.
inline constexpr std::size_t kMaxBody = Chunk::kBytes - sizeof(Record);

class Inbox {
  public:
    Inbox();
    ~Inbox();
    Inbox(const Inbox&) = delete;
    Inbox& operator=(const Inbox&) = delete;

    /// Appends a record; `fill` writes its `size` bytes, under the queue's lock. False: the
    /// queue is shut, or `admit` (asked under the lock) says no. @thread any
    template <class Admit, class Fill>
    bool push_if(Link* to, Kind kind, std::size_t size, Admit&& admit, Fill&& fill) {
        const Lock hold(mutex_);
        if (shut_ || !admit()) return false;
        fill(append(to, kind, size));
        const std::uint32_t before = state_.load(std::memory_order_relaxed);
        // [work] pairs with the load in idle(): a hint only, the records are under the lock.
        state_.store(before | kWork, std::memory_order_relaxed);
        if (before == kArmed) event_.wake();
        return true;
    }

    /// True: the queue is empty, and arm() was not called. One load. @thread progress
    bool idle() const noexcept { return state_.load(std::memory_order_relaxed) == 0; }

    /// Takes all chunks, oldest first, and undoes arm(). @thread progress
    Chunk* take();
    /// Returns an emptied chunk for reuse. @thread progress
    void recycle(Chunk* chunk);

    /// False: there is work, do not sleep. @thread progress
    bool arm();
    int wait_fd() const noexcept { return event_.get(); }

    /// Refuses every push from here on. @thread setup
    void shut();

  private:
    enum : std::uint32_t { kWork = 1, kArmed = 2 };
    static constexpr std::uint32_t kMostSpare = 2;

    std::byte* append(Link* to, Kind kind, std::size_t size) PLEXUS_REQUIRES(mutex_) {
        const std::size_t need = record_bytes(size);
        if (last_ == nullptr || Chunk::kBytes - last_->used < need) add_chunk();
        auto* record = new (last_->bytes + last_->used) Record{to, static_cast<std::uint32_t>(size), kind};
        last_->used += need;
        return record->body();
    }
    void add_chunk() PLEXUS_REQUIRES(mutex_);

    std::atomic<std::uint32_t> state_{0}; // written under the lock only
    Mutex mutex_;
    Chunk* first_ PLEXUS_GUARDED_BY(mutex_) = nullptr;
    Chunk* last_ PLEXUS_GUARDED_BY(mutex_) = nullptr;
    Chunk* spare_ PLEXUS_GUARDED_BY(mutex_) = nullptr;
    std::uint32_t spares_ PLEXUS_GUARDED_BY(mutex_) = 0;
    bool shut_ PLEXUS_GUARDED_BY(mutex_) = false;
    EventFd event_;
};

} // namespace plexus::local
