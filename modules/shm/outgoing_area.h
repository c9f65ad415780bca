// SPDX-License-Identifier: BSD-3-Clause
// The shared area of one direction, from the sender's side: made when a message first needs it, passed to the
// peer before any record names it, its pages given back when it is not used. Its bytes count in Totals while
// it has pages.
//
// @thread one, except where a comment says otherwise
#pragma once

#include "shm/area.h"
#include "shm/totals.h"

namespace plexus::shm {

class OutgoingArea {
  public:
    /// `size`: bytes, a power of two.
    OutgoingArea(Totals& totals, std::uint64_t size) noexcept
      : totals_(totals)
      , size_(size) {}
    ~OutgoingArea() { count(0); }
    OutgoingArea(const OutgoingArea&) = delete;
    OutgoingArea& operator=(const OutgoingArea&) = delete;

    void attach(const Direction& out, int socket) noexcept {
        parts_.attach(out.released);
        socket_ = socket;
    }
    std::uint64_t size() const noexcept { return size_; }

    /// OK: it is there, and counted. MESSAGE_LOST: errno says why there is none. LINK_LOST: the peer has hung
    /// up, which a poll will tell.
    std::int32_t make();
    /// As of AreaWriter. It is there.
    std::optional<AreaBody> take(std::uint64_t size) noexcept {
        used_ = true;
        return parts_.take(size);
    }
    const AreaWriter& parts() const noexcept { return parts_; }

    /// Gives the pages back if the receiver holds none, and nothing was taken since the last call.
    void discard_if_idle() noexcept;

    /// Bytes that have pages. @thread any
    std::uint64_t bytes_in_use() const noexcept { return in_use_.load(std::memory_order_relaxed); }
    /// Bytes that the receiver still holds. @thread any
    std::uint64_t held() const noexcept { return parts_.held(); }

  private:
    void count(std::uint64_t bytes) noexcept;

    Totals& totals_;
    const std::uint64_t size_;
    int socket_ = -1;
    AreaWriter parts_;
    bool used_ = false;
    std::atomic<std::uint64_t> in_use_{0}; // for enquiries
};

} // namespace plexus::shm
