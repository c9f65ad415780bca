// SPDX-License-Identifier: BSD-3-Clause
// The ring to the peer, with the doorbell: the peer is told of every record that is published.
//
// @thread one: send() while the gate is open, otherwise the poller. queued_bytes(): any thread.
#pragma once

#include "shm/doorbell.h"
#include "shm/ring.h"

namespace plexus::shm {

class RecordWriter {
  public:
    /// `count` lines, as of RingWriter.
    void attach(Line* lines, std::uint32_t count, const Direction& out, const Doorbell& doorbell) noexcept {
        ring_.attach(lines, count, out.consumed);
        doorbell_ = &doorbell;
    }

    /// Longest body.
    std::uint32_t largest() const noexcept { return ring_.largest(); }

    /// Where the body of the next record goes; null: no room. At most largest() bytes.
    std::byte* reserve(std::uint64_t body_bytes) noexcept { return ring_.reserve(body_bytes); }
    /// Hands over the record whose body was reserved last.
    void publish(Kind kind, std::uint32_t size) noexcept {
        ring_.publish(kind, size);
        doorbell_->notify();
    }
    /// The same where the record is one line.
    std::byte* reserve_line() noexcept { return ring_.reserve_line(); }
    void publish_line(Kind kind, std::uint32_t size) noexcept {
        ring_.publish_line(kind, size);
        doorbell_->notify();
    }

    /// The value of Direction::consumed from which on reserve() has room for any record.
    std::uint64_t roomy_at() const noexcept { return ring_.roomy_at(); }

    /// Bytes that the peer has not taken, which says that it has taken `consumed` lines.
    std::uint64_t queued_bytes(std::uint64_t consumed) const noexcept {
        // The peer says only each quarter of the ring how far it is: less than that says nothing.
        const std::uint64_t written = ring_.position();
        const std::uint64_t lines = consumed < written ? written - consumed : 0;
        return lines > ring_.lines() / 4 ? lines * kLineBytes : 0;
    }

  private:
    RingWriter ring_;
    const Doorbell* doorbell_ = nullptr;
};

} // namespace plexus::shm
