// SPDX-License-Identifier: BSD-3-Clause
// The outgoing half of a link: by which way each message leaves.
//
//   one line of the ring     up to 56 bytes
//   lines of the ring        up to `inline`
//   area, read in place      up to `eager` behind the head: one copy in all, the receiver looks at it there
//   fetch                    above, where it is the choice and the kernel permits: the
//                            receiver copies from our memory; posted. What it can't read is copied
//                            for it, see part_sender.h
//   stream                   above: copied in chunks through the area; posted, unless the
//                            first go takes all of it
//
// send() is the host's, serialised per link, on any thread. What the poller does (end posted
// sends, carry a stream on) runs beside it; gate.h says to whom the ring and the area belong.
#pragma once

#include "shm/gather.h"
#include "shm/large_messages.h"
#include "shm/options.h"
#include "shm/part_sender.h"

namespace plexus::shm {

class Sender {
  public:
    Sender(const plexus_host& host, const Options& options, Totals& totals);

    /// All else but send() and the enquiries comes after this. @thread progress
    void attach(Direction& out, Line* ring, std::uint32_t ring_lines, const Doorbell& doorbell, int socket);

    /// As in abi.h. `streaming`: POSTED, and the poller has to carry it on.
    std::int32_t send(const plexus_view* pieces, std::uint32_t count, void* token, bool& streaming) {
        if (gate_.is_open()) [[likely]] {
            std::size_t size = 0;
            for (std::uint32_t i = 0; i < count; ++i) size += pieces[i].size;
            if (size <= kLineBody) [[likely]] {
                if (std::byte* const body = records_.reserve_line(); body != nullptr) [[likely]] {
                    gather_small(body, pieces, count);
                    records_.publish_line(Kind::message, static_cast<std::uint32_t>(size));
                    return PLEXUS_OK;
                }
            }
        }
        return send_slowly(pieces, count, token, streaming);
    }

    /// Parameters of this link. Serialised with send().
    Limits limits;

    // @thread progress from here on

    /// Lets sends through: the link is open.
    void open() noexcept { gate_.open(); }
    /// Refuses sends from now on; what is posted goes on.
    void close() noexcept { gate_.close(); }

    /// There may be something for settle() to do.
    bool watched() const noexcept {
        return wait_.is_waiting(std::memory_order_relaxed) || !posted_.is_empty();
    }
    /// There is. Exact; for the moment before falling asleep: the peer will tell of all that comes later.
    bool has_news() const noexcept;
    /// Ends the posted sends that the peer has fetched; copies for it what it can not read; calls `writable`
    /// if a send waits and would get further. `gone`: the host has given the link up, it gets only `sent`.
    /// Returns how many callbacks that took.
    std::uint32_t settle(void* cookie, bool gone);

    using Go = Stream::Go;
    bool is_streaming() const noexcept { return gate_.is_streaming(); }
    /// Carries a stream on, some of it. done: it has been ended by `sent`. stuck: the peer
    /// will ring.
    Go carry_on(void* cookie);

    /// No send gets through from now on, all that are posted end as lost.
    void fail(void* cookie);
    bool idle() const noexcept { return !is_streaming() && posted_.is_empty(); }

    /// Gives the area's pages back if nothing was sent through it since the last call.
    void discard_idle_area() { large_.discard_idle_area(); }

    // @thread any, once open

    /// As of LargeMessages.
    CopyChoice::AllLearned learned() const { return large_.learned(); }
    std::uint64_t queued_bytes() const noexcept;
    std::uint64_t area_bytes() const noexcept { return large_.area_bytes(); }

  private:
    using Wants = RoomWait::Wants;

    std::int32_t send_slowly(const plexus_view* pieces, std::uint32_t count, void* token, bool& streaming);
    std::int32_t try_send(const Message& message, Wants& wants, bool& streaming);
    std::int32_t send_in_ring(const Message& message, Wants& wants);
    std::int32_t send_large(const Message& message, Wants& wants, bool& streaming);
    void report_no_memory(const Message& message) const;
    std::uint64_t fetched() const noexcept;

    const plexus_host& host_;
    const std::uint64_t inline_bytes_;
    const Direction* out_ = nullptr;

    // One cache line: all that a message of one line needs.
    alignas(kLineBytes) Gate gate_;
    RecordWriter records_;
    static_assert(sizeof(Gate) <= alignof(RecordWriter) &&
                  alignof(RecordWriter) + sizeof(RecordWriter) <= kLineBytes);

    // The end of posted_ and the start of wait_, which watched() reads in each poll, share a line.
    alignas(kLineBytes) PostedSends posted_;
    RoomWait wait_;
    static_assert(sizeof(PostedSends) % alignof(RoomWait) == 0 &&
                  sizeof(PostedSends) % kLineBytes + RoomWait::kFlagBytes <= kLineBytes);
    PartSender parts_;
    LargeMessages large_;
};

} // namespace plexus::shm
