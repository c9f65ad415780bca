// SPDX-License-Identifier: BSD-3-Clause
// The sender's half of exactly-once delivery (note 0003): the frames of one channel in their
// order, from the first that the receiver has not acknowledged to the last that waits.
// A value: no lock, clock, link or scheduler. Its channel's lock guards it.
//
//   replay requests   sent on links that broke; the receiver is asked how many of them arrived.
//                     Once it has answered all requests, the others are sent again.
//   queue             sent on the present link and not yet acknowledged, then unsent
#pragma once

#include "transport/pending_frame.h"
#include "transport/traffic.h"

#include <cstdint>
#include <list>
#include <optional>

namespace plexus::transport {

/// Frames that were sent in a stream whose link broke, and may or may not have arrived.
struct ReplayRequest {
    std::uint32_t stream = 0;
    std::uint64_t acked = 0; ///< number of the stream's frames before the first of these
    bool answered = false;   ///< the frames did not arrive: they wait for the answers to other requests
    bool moved = false; ///< from a channel of another method: of these frames none that stays is replayed
    PendingFrames frames;
};

/// All that a channel that ends still held, in order.
struct Backlog {
    std::list<ReplayRequest> requests;
    PendingFrames unsent;
    std::size_t frames() const noexcept;
};

class SendWindow {
  public:
    /// So many times in a row a frame is the first to be sent again before it is given up: something
    /// in the frame itself ends the link. A network that breaks, or a peer whose own flood ends the
    /// links, does not stop at one frame so often.
    static constexpr std::uint16_t kMostReplays = 4096;

    /// `retains`: sent frames are kept until they are acknowledged; false: they are given back at once.
    explicit SendWindow(bool retains) noexcept
      : retains_(retains) {}

    // Sending.
    /// Puts a frame behind all others.
    void append(PendingFramePtr frame);
    /// The next frame to send; null: none, or the receiver has yet to answer a replay request.
    PendingFrame* next() noexcept;
    /// next() was sent. Gives the frame back unless the window retains frames.
    PendingFramePtr mark_sent();
    /// Takes next() out unsent: it will never be sent.
    PendingFramePtr drop_next();
    /// The peer has said that it is at `there`. Takes out the frames whose boundaries it is beyond; the
    /// others wait no more.
    PendingFrames place(const Place& here, const Place& there);
    /// Takes out the frame that was appended last and not sent.
    PendingFramePtr take_last();
    /// A frame was sent that the window never held. Only where nothing waits.
    void count_sent(std::uint64_t bytes) noexcept {
        ++sent_;
        past_.bytes += bytes;
    }
    /// All that was sent so far, in whichever stream.
    Traffic traffic() const noexcept { return {past_.messages + sent_, past_.bytes}; }
    bool retains() const noexcept { return retains_; }

    // Acknowledgement.
    /// The receiver has `count` frames of `stream`. Frames that need not be kept go to `done`.
    /// False: the count says nothing new, or more than was sent.
    bool acked(std::uint32_t stream, std::uint64_t count, PendingFrames& done);
    /// True if the receiver has not acknowledged all that was sent on the present link.
    bool unacked() const noexcept { return acked_ < sent_; }
    std::uint64_t sent() const noexcept { return sent_; }
    std::uint32_t stream() const noexcept { return stream_; }

    // Links.
    /// A new link carries what follows, as this stream (not 0).
    void start_stream(std::uint32_t stream) noexcept;
    /// The present link broke. Gives the number of frames whose fate the window does not know and
    /// can't learn: 0 if it retains frames.
    std::uint64_t link_broke();
    const std::list<ReplayRequest>& replay_requests() const noexcept { return requests_; }
    /// The receiver's answer: `count` frames of that stream arrived; nullopt: it does not know.
    /// Acknowledged frames go to `done`. Frames that may have arrived and cannot be sent again go to
    /// `lost`: all of that stream if the receiver does not know, or a frame that ended too many links.
    void resumed(std::uint32_t stream, std::optional<std::uint64_t> count, PendingFrames& done,
                 PendingFrames& lost);

    // Moving to another channel.
    Backlog take_backlog();
    /// Takes over what another channel held, behind what this window holds.
    void adopt(Backlog backlog);

    /// Nothing waits before a new frame.
    bool clear() const noexcept { return next_ == queue_.size() && requests_.empty(); }
    bool empty() const noexcept { return queue_.empty() && requests_.empty(); }
    /// Number of frames that were given to the window so far, and of those the receiver has, or
    /// that were given up.
    std::uint64_t appended() const noexcept { return settled_ + open_frames(); }
    std::uint64_t settled() const noexcept { return settled_; }
    /// Frames that wait to be sent, without those whose fate the receiver has yet to tell.
    std::uint64_t unsent() const noexcept { return queue_.size() - next_; }
    /// Bytes of the frames that wait to be sent; takes time in proportion to their number.
    std::uint64_t unsent_bytes() const noexcept;
    /// Memory that the window's frames cost, in bytes.
    std::uint64_t held_bytes() const noexcept { return held_bytes_; }

  private:
    PendingFramePtr release(PendingFramePtr frame) noexcept;
    void take_staying(PendingFrames& from, PendingFrames& lost);
    void replay_if_all_answered();
    /// Frames that were given to the window and are not settled.
    std::uint64_t open_frames() const noexcept;

    const bool retains_;
    std::uint32_t stream_ = 0;
    std::uint64_t sent_ = 0;    ///< frames of this stream
    Traffic past_;              ///< messages of earlier streams, bytes of all
    std::uint64_t acked_ = 0;   ///< of them
    std::uint64_t settled_ = 0; ///< frames ever
    std::uint64_t held_bytes_ = 0;
    PendingFrames queue_;
    std::size_t next_ = 0; ///< index in queue_ of the first unsent frame
    std::list<ReplayRequest> requests_;
};

} // namespace plexus::transport
