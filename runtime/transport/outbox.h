// SPDX-License-Identifier: BSD-3-Clause
// What leaves by a channel: frames in their order, by the link that is the way out, and the control frames
// of all its links. Hands frames to the module, keeps or queues what cannot leave at once, ends what the
// peer has acknowledged. Knows no dials, rows or other channels. No lock of its own: the channel's
// guards it.
#pragma once

#include "transport/endpoint.h"
#include "transport/introductions.h"
#include "transport/kept_frames.h"
#include "transport/link.h"

#include <optional>
#include <string>
#include <vector>

namespace plexus::transport {

class Outbox {
  public:
    /// What the channel has to tell the leader.
    struct Events {
        std::vector<Link*> failed;         ///< a dial that ended at once
        std::vector<PendingFramePtr> lost; ///< frames that will not be sent any more
        bool awaits = false;               ///< it waits for the peer to come back
        bool flush = false;                ///< frames wait for the end of the turn
        bool retry = false;                ///< a frame found no memory in the module: flush() after a pause
        std::string why;
    };

    Outbox(Channel& owner, Endpoint& endpoint, Peer& peer, Interface& interface, KeptFrames::OnEnd on_end);

    /// A frame of one piece leaves now: the link is open, nothing waits before the frame, and the far side
    /// knows `request`. False: it does not.
    bool send_at_once(wire::View frame, std::uint16_t request) {
        const plexus_view piece{frame.data(), frame.size()};
        if (!ready_ || frame.size() > limits_.at_once || !introduced_.knows(request)) [[unlikely]]
            return false;
        if (frames_.window().retains()) return frames_.send(interface_, out_->handle, WholeFrame(frame));
        if (interface_.ops.send(out_->handle, &piece, 1, nullptr) != PLEXUS_OK) [[unlikely]]
            return false;
        frames_.count_sent(frame.size());
        return true;
    }
    /// The same for a frame of several pieces.
    bool send_now(const Frame& frame) {
        const bool known = (frame.declare == nullptr || introduced_.knows(frame.declare->request)) &&
                           frame.carried.empty() && frame.within == nullptr;
        if (!ready_ || frame.size > limits_.at_once || !known) [[unlikely]]
            return false;
        if (frames_.window().retains()) return frames_.send(interface_, out_->handle, frame);
        if (interface_.ops.send(out_->handle, frame.views(), frame.count, nullptr) != PLEXUS_OK) [[unlikely]]
            return false;
        frames_.count_sent(frame.size);
        return true;
    }
    /// Any other frame: what it refers to goes ahead, then it leaves, is kept, or waits. ok, posted (the
    /// waiter is told), again, or what the module says of the frame; link_lost: its sender chooses again.
    /// `inside`: the caller may not wait.
    Status accept(Frame& frame, Waiter& waiter, bool inside);
    /// The largest message, in bytes, that both ends and the module take.
    std::uint64_t most() const noexcept;

    /// The link that frames leave by; null: none.
    Link* out() const noexcept { return out_; }
    KeptFrames& frames() noexcept { return frames_; }
    const KeptFrames& frames() const noexcept { return frames_; }
    Events& events() noexcept { return events_; }

    /// Frames leave by this link from now on, as a new stream. By a method with a boundary they wait until
    /// the peer has said where it is.
    void start(Link& link);
    bool held() const noexcept { return held_; }
    /// The way out broke. Gives the number of frames whose fate cannot be learned.
    std::uint64_t broke();
    /// Nothing leaves any more.
    void stop() noexcept;
    Backlog take_backlog();
    void adopt(Backlog backlog);

    void acked(const wire::StreamFrame& ack);
    void resumed(std::uint32_t stream, std::optional<std::uint64_t> count);
    /// The peer has said where it is: frames that waited for that may leave, or end with `no_method`.
    void placed(const Place& there);
    /// There is room again, or it is worth looking.
    void flush(Link& link);
    /// Sends a control frame on a link; how many wait there now.
    std::size_t control(Link& link, wire::Bytes bytes);
    void send_ack(Link& link, const wire::StreamFrame& ack);
    /// Asks the far side how much has arrived.
    void ask();
    /// An answer or a report to the peer found no room at all: the peer is told that some are missing.
    void tell_dropped();
    /// The far side knows its own table.
    void learn_table(const KnownTable& table);

    /// True if all that was handed over has left and been acknowledged where it has to be.
    bool drained() const;

  private:
    Status keep(Frame& frame, Waiter* waiter);
    Status send_directly(const Frame& frame, Waiter& waiter);
    void introduce(const Frame& frame);
    void send_queue();
    void send_controls(Link& link);
    void refresh_ready();

    struct Limits {
        std::uint64_t message; ///< bytes of the largest message
        std::uint64_t at_once; ///< up to so many bytes no module posts, and nobody borrows
    };

    Interface& interface_;
    Link* out_ = nullptr;
    bool ready_ = false; ///< a link is open and nothing waits before a new frame
    bool held_ = false;  ///< only control frames leave
    Limits limits_;
    KeptFrames frames_;
    Introductions introduced_;
    Channel& owner_;
    Endpoint& endpoint_;
    Peer& peer_;
    Events events_;
    std::uint32_t refused_ = 0; ///< times in a row that the module had no memory for the first frame
};

} // namespace plexus::transport
