// SPDX-License-Identifier: BSD-3-Clause
// The outgoing half of a link: how each size of message leaves.
//
//   one line of the ring     up to 56 bytes
//   lines of the ring        up to `inline`
//   area, read in place      up to `eager`: one copy in all, the receiver looks at it there
//   fetch                    above, where it is the choice and the kernel permits: the
//                            receiver copies from our memory; posted. What it can't read is copied
//                            for it into memory of its own, which travels by the socket
//   stream                   above: copied in chunks through the area; posted, unless the
//                            first go takes all of it
//
// send() is the host's, serialised per link, on any thread. What the poller does (end posted
// sends, carry a stream on) runs beside it. The ring and the area's bookkeeping belong to
// send() while the gate is open, to whoever holds `large_` while it says `streaming`.
#pragma once

#include "common/mutex.h"
#include "shm/area.h"
#include "shm/copy_meter.h"
#include "shm/doorbell.h"
#include "shm/gather.h"
#include "shm/options.h"
#include "shm/posted_sends.h"
#include "shm/ring.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace plexus::shm {

/// What all links of a module hold and do together; for enquiries. Any thread.
struct Totals {
    std::atomic<std::uint64_t> area_bytes{0};
    std::atomic<std::uint64_t> bytes_per_second{0}; ///< of large messages, lately; 0: none yet

    void note(std::uint64_t bytes, std::chrono::nanoseconds time) noexcept;
};

class Sender {
  public:
    Sender(const plexus_host& host, const Options& options, Totals& totals);
    ~Sender();
    Sender(const Sender&) = delete;
    Sender& operator=(const Sender&) = delete;

    /// All else but send() and the enquiries comes after this. @thread progress
    void attach(Direction& out, Line* ring, std::uint32_t ring_lines, const Doorbell& doorbell, int socket);

    /// As in abi.h. `streaming`: POSTED, and the poller has to carry it on.
    std::int32_t send(const plexus_view* pieces, std::uint32_t count, void* token, bool& streaming) {
        if (gate_.load(std::memory_order_acquire) == 0) [[likely]] {
            std::size_t size = 0;
            for (std::uint32_t i = 0; i < count; ++i) size += pieces[i].size;
            if (size <= kLineBody) [[likely]] {
                if (std::byte* const body = ring_.reserve_line(); body != nullptr) [[likely]] {
                    gather_small(body, pieces, count);
                    ring_.publish_line(Kind::message, static_cast<std::uint32_t>(size));
                    doorbell_->notify();
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
    void open() noexcept { gate_.fetch_and(~std::uint32_t{kConnecting}, std::memory_order_seq_cst); }

    /// Refuses sends from now on; what is posted goes on.
    void close() noexcept { gate_.fetch_or(kClosed, std::memory_order_seq_cst); }

    /// There may be something for settle() to do.
    bool watched() const noexcept { return blocked_.load(std::memory_order_relaxed) || !posted_.is_empty(); }
    /// There is. Exact; for the moment before falling asleep: the peer will tell of all that comes later.
    bool has_news() const noexcept;
    /// Ends the posted sends that the peer has fetched; copies for it what it can not read; calls `writable`
    /// if a send waits and would get further. `gone`: the host has given the link up, it gets only `sent`.
    /// Returns how many callbacks that took.
    std::uint32_t settle(void* cookie, bool gone);

    enum class Go : std::uint8_t { done, more, stuck };
    bool is_streaming() const noexcept { return (gate_.load(std::memory_order_acquire) & kStreaming) != 0; }
    /// Carries a stream on, some of it. done: it has been ended by `sent`. stuck: the peer
    /// will ring.
    Go carry_on(void* cookie);

    /// No send gets through from now on, all that are posted end as lost.
    void fail(void* cookie);
    bool idle() const noexcept { return !is_streaming() && posted_.is_empty(); }

    /// Gives the area's pages back if nothing was sent through it since the last call.
    void discard_idle_area();

    // @thread any, once open

    /// What was measured of copies; while a message is being copied, what was measured when this was asked
    /// last.
    CopyChoice::AllLearned learned() const;
    std::uint64_t queued_bytes() const noexcept;
    std::uint64_t area_bytes() const noexcept { return area_in_use_.load(std::memory_order_relaxed); }

  private:
    enum Gate : std::uint32_t { kConnecting = 1, kStreaming = 2, kBroken = 4, kClosed = 8 };

    struct Message {
        const plexus_view* pieces;
        std::uint32_t count;
        std::size_t size;
        void* token;
    };
    /// What a send that found no room waits for.
    struct Wants {
        std::uint64_t consumed = 0, released = 0, fetched = 0;
    };
    /// The same while it waits; written by block(). [blocked]
    struct Wanted {
        std::atomic<std::uint64_t> consumed{0}, released{0}, fetched{0};
    };
    /// What was answered last to a peer that could not read a message.
    struct Answered {
        std::uint64_t asked = 0; // Direction::asked then
        std::uint64_t post = 0;  // of PostedSends, the number of the message
        std::uint64_t end = 0;   // bytes of it before this were copied, or are lost
    };
    /// What learned() has told last.
    struct Told {
        module::Mutex mutex;
        CopyChoice::AllLearned all PLEXUS_MODULE_GUARDED_BY(mutex){};
    };
    struct Stream {
        std::vector<plexus_view> pieces;
        std::size_t piece = 0;
        std::size_t offset = 0; // in that piece
        void* token = nullptr;
        std::uint64_t size = 0;
        Copy copy = Copy::cached;
        std::chrono::steady_clock::time_point start{};
        std::uint32_t sample = 0;           // as AreaBody::sample
        std::chrono::nanoseconds copying{}; // if there is a sample
    };

    std::int32_t send_slowly(const plexus_view* pieces, std::uint32_t count, void* token, bool& streaming);
    std::int32_t try_send(const Message& message, Wants& wants, bool& streaming);
    std::int32_t send_in_ring(const Message& message, Wants& wants);
    std::int32_t send_in_area(const Message& message, Wants& wants);
    std::int32_t post(const Message& message, const CopyChoice::Pick& pick, Wants& wants);
    std::int32_t begin_stream(const Message& message, const CopyChoice::Pick& pick, Wants& wants,
                              bool& streaming);
    CopyChoice::Pick choose_large(const Message& message, bool can_fetch);
    bool block(const Wants& wants);
    bool may_go_on() const noexcept;
    std::uint64_t fetched() const noexcept;
    bool is_asked() const noexcept;
    void answer();

    std::int32_t make_area() PLEXUS_MODULE_REQUIRES(large_);
    Go pump(std::uint64_t budget) PLEXUS_MODULE_REQUIRES(large_);
    bool send_chunk(std::uint64_t size) PLEXUS_MODULE_REQUIRES(large_);
    CopyChoice::Pick choose(const Message& message, bool can_fetch) PLEXUS_MODULE_REQUIRES(large_);
    std::uint32_t begin_sample(const Message& message, const CopyChoice::Pick& pick, bool behind)
        PLEXUS_MODULE_REQUIRES(large_);
    void copy_from_stream(std::byte* to, std::uint64_t size) PLEXUS_MODULE_REQUIRES(large_);

    void ask_for_progress() const noexcept;
    void count_area(std::uint64_t bytes) noexcept;
    std::uint64_t progress() const noexcept;

    const plexus_host& host_;
    Totals& totals_;
    const std::uint64_t inline_bytes_;
    const std::uint64_t area_size_;

    // [gate] Written with seq_cst, with `blocked_` after or before it: a send that is turned
    // away sets blocked_ and looks at the gate again, who opens it looks at blocked_ after.
    std::atomic<std::uint32_t> gate_{kConnecting};
    RingWriter ring_;
    const Doorbell* doorbell_ = nullptr;
    Direction* out_ = nullptr;
    int socket_ = -1;

    // [blocked] As [gate], with the peer's counters in Direction and its `waiting`. Whoever
    // takes it back, send() or the poller, acts on it: so `writable` comes once.
    alignas(kLineBytes) std::atomic<bool> blocked_{false};
    Wanted wanted_;

    PostedSends posted_;
    Answered answered_;
    std::atomic<std::uint64_t> stream_bytes_{0}; // what is left of the stream
    std::atomic<std::uint64_t> area_in_use_{0};  // for enquiries
    // [gate] publishes it to the poller: the peer's progress at which the stream got stuck.
    std::uint64_t stuck_at_ = kNotStuck;
    static constexpr std::uint64_t kNotStuck = UINT64_MAX;

    mutable module::Mutex large_;
    AreaWriter area_; // under large_, but for its enquiry
    bool area_used_ PLEXUS_MODULE_GUARDED_BY(large_) = false;
    Stream stream_ PLEXUS_MODULE_GUARDED_BY(large_);
    std::unique_ptr<CopyMeter>
        meter_ PLEXUS_MODULE_GUARDED_BY(large_); // made when there is something to choose
    mutable Told told_;
};

} // namespace plexus::shm
