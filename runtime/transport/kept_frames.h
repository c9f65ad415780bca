// SPDX-License-Identifier: BSD-3-Clause
// The frames of one channel that outlive their send, and their memory: the send window, which is the queue of
// unconfirmed frames itself (send_window.h), the records that are used again, and what both cost on the
// peer's account. No lock of its own: the channel's guards it.
#pragma once

#include "transport/interface.h"
#include "transport/peer_account.h"
#include "transport/send_window.h"

#include <optional>

namespace plexus::transport {

class Endpoint;
class Peer;

class KeptFrames {
  public:
    using OnEnd = void (*)(Completion*, Status);

    /// `on_end`: what a module calls when it has let go of a frame; gives the frame to ended().
    KeptFrames(Endpoint& endpoint, Peer& peer, Channel& owner, bool retains, OnEnd on_end);

    const SendWindow& window() const noexcept { return window_; }
    /// True if some module reads a frame that the window does not hold any more.
    bool module_reads() const noexcept { return pool_.posted_bytes() > 0; }

    /// Sends a small frame with nothing before it and keeps a copy, which is made while the frame travels.
    /// False: it cannot leave or be kept now.
    bool send(const Interface& by, plexus_link* link, const Frame& frame);
    /// Sends a frame that is not part of the stream, whatever its size. False: there is no room now.
    bool send_uncounted(const Interface& by, plexus_link* link, const wire::Bytes& bytes);
    /// True if `cost` bytes more may be kept: see Allowance::take().
    bool take(std::uint64_t cost, std::uint64_t limit, std::uint64_t little) noexcept {
        return allowance_.take(held(), cost, limit, little);
    }
    void append_copy(const Frame& frame);
    /// The pieces stay the caller's, who waits.
    void append_borrowed(const Frame& frame, Waiter& waiter);

    // As the functions of SendWindow; frames that are over are ended here.
    PendingFrame* next() noexcept { return window_.next(); }
    void count_sent(std::uint64_t bytes) noexcept { window_.count_sent(bytes); }
    void mark_sent();
    PendingFramePtr drop_next();
    PendingFrames place(const Place& here, const Place& there);
    bool acked(std::uint32_t stream, std::uint64_t count);
    /// Gives the frames that are lost.
    PendingFrames resumed(std::uint32_t stream, std::optional<std::uint64_t> count);
    void start_stream(std::uint32_t stream) noexcept { window_.start_stream(stream); }
    std::uint64_t link_broke() { return window_.link_broke(); }
    /// They stay on the account until fit().
    Backlog take_backlog() { return window_.take_backlog(); }
    void adopt(Backlog backlog);

    /// Ends frames that will not be sent: their waiters are told, and what no module reads is freed.
    void retire(PendingFrames frames, Status status);
    /// A module has let go of a frame. The frame, if nobody needs it any more.
    PendingFramePtr ended(PendingFrame& frame) noexcept;
    /// See FramePool. The leader is asked to fetch them as soon as there are some.
    std::vector<std::shared_ptr<const void>> take_pins() noexcept { return pool_.take_pins(); }
    /// In bytes, of all frames and what each costs beside them.
    std::uint64_t held() const noexcept { return window_.held_bytes() + pool_.posted_bytes(); }
    /// In bytes, what other channels to the peer hold.
    std::uint64_t held_elsewhere() const noexcept { return allowance_.others(); }
    /// Charges the account for what is held, and for nothing else.
    void fit() noexcept { allowance_.fit(held()); }

  private:
    void append(PendingFramePtr frame);
    void release(PendingFrames& frames);
    void tidy();

    Endpoint& endpoint_;
    Channel& owner_;
    const OnEnd on_end_;
    SendWindow window_;
    FramePool pool_;
    Allowance allowance_; ///< for what both hold
};

} // namespace plexus::transport
