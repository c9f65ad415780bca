// SPDX-License-Identifier: BSD-3-Clause
// Messages that are longer than a record of the ring: chooses by measurement how each is copied, and sends
// it: whole in the area, posted for the peer to fetch, or as a stream. One lock, held while bytes are copied
// or a record is written, keeps the sends, the stream that the poller carries on, and the end of the link
// apart.
#pragma once

#include "base/lock.h"
#include "shm/copy_meter.h"
#include "shm/room_wait.h"
#include "shm/stream.h"

#include <memory>

namespace plexus::shm {

class LargeMessages {
  public:
    using Wants = RoomWait::Wants;

    /// `area_bytes`: size of the area, once it is needed.
    LargeMessages(Gate& gate, RecordWriter& records, Totals& totals, std::uint64_t area_bytes);
    /// Before the gate is opened. @thread progress
    void attach(Direction& out, int socket);

    // By send(): one caller at a time. AGAIN: `wants` says what for. MESSAGE_LOST: there is no shared memory,
    // errno says why.

    /// How a message above `eager` is copied, by one of `allowed`.
    CopyChoice::Pick choose(const Message& message, CopySet allowed);
    /// Whole, in the area. `allowed`: no fetch.
    std::int32_t send_in_area(const Message& message, CopySet allowed, Wants& wants);
    /// The peer reads it from this process's memory. The caller has seen that its head and its pieces fit.
    std::int32_t post(const Message& message, const CopyChoice::Pick& pick, PostedSends& posted,
                      Wants& wants);
    /// Through the area in chunks. POSTED: the poller has to carry it on, and `streaming` is set.
    std::int32_t begin_stream(const Message& message, const CopyChoice::Pick& pick, Wants& wants,
                              bool& streaming);

    // @thread progress

    /// Carries the stream on, some of it; there is one. done: it has ended, with that `token`.
    Stream::Go carry_on(void*& token);
    /// The peer has made no progress since the stream found no room; there is a stream.
    // Only the poller writes to the stream while [gate] says that there is one.
    bool is_stuck() const noexcept PLEXUS_NO_THREAD_SAFETY { return stream_.is_stuck(); }
    /// Nothing is sent or posted from now on. Returns the tokens of all that was, oldest first.
    std::vector<void*> abandon(PostedSends& posted);
    /// Gives the area's pages back if nothing was sent through it since the last call.
    void discard_idle_area();

    // @thread any, once attached. Not under the lock, as an enquiry does not wait for a copy.

    /// What was measured of copies; while a message is being copied, what was measured when this was asked
    /// last.
    CopyChoice::AllLearned learned() const;
    std::uint64_t queued_bytes() const noexcept PLEXUS_NO_THREAD_SAFETY {
        return area_.held() + stream_.left();
    }
    std::uint64_t area_bytes() const noexcept PLEXUS_NO_THREAD_SAFETY { return area_.bytes_in_use(); }

  private:
    /// What learned() has told last.
    struct Told {
        Mutex mutex;
        CopyChoice::AllLearned all PLEXUS_GUARDED_BY(mutex){};
    };

    CopyChoice::Pick next_pick(const Message& message, CopySet allowed, bool may_measure)
        PLEXUS_REQUIRES(mutex_);
    std::uint32_t begin_sample(const Message& message, const CopyChoice::Pick& pick, bool behind)
        PLEXUS_REQUIRES(mutex_);
    std::byte* reserve(std::size_t body_bytes, Wants& wants) PLEXUS_REQUIRES(mutex_);
    Stream::Go go_on() PLEXUS_REQUIRES(mutex_);

    Gate& gate_;
    RecordWriter& records_;
    Totals& totals_;
    Direction* out_ = nullptr;

    mutable Mutex mutex_;
    OutgoingArea area_ PLEXUS_GUARDED_BY(mutex_);
    Stream stream_ PLEXUS_GUARDED_BY(mutex_);
    // Made when there is something to choose.
    std::unique_ptr<CopyMeter> meter_ PLEXUS_GUARDED_BY(mutex_);
    mutable Told told_;
};

} // namespace plexus::shm
