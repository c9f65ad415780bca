// SPDX-License-Identifier: BSD-3-Clause
// The message that is copied through the area in chunks: which of its bytes are next, and where the peer was
// when there was no room for them.
//
// @thread one: the send that begins the stream, then the poller; [gate] publishes it. Comments name
// exceptions.
#pragma once

#include "shm/copy_choice.h"
#include "shm/message.h"
#include "shm/outgoing_area.h"
#include "shm/record_writer.h"

#include <chrono>
#include <vector>

namespace plexus::shm {

class Stream {
  public:
    using Clock = std::chrono::steady_clock;
    enum class Go : std::uint8_t { done, more, stuck };

    void attach(Direction& out) noexcept { out_ = &out; }

    /// Its head is on its way. `sample`: as AreaBody::sample. `start`: when the send was called.
    void begin(const Message& message, Copy copy, std::uint32_t sample, Clock::time_point start);
    /// Copies some chunks. stuck: there is no room, and the peer will tell of progress.
    Go go_on(RecordWriter& records, OutgoingArea& area);
    /// Forgets the rest.
    void drop() noexcept;

    /// Of the message that has begun last.
    void* token() const noexcept { return token_; }
    std::uint64_t size() const noexcept { return size_; }
    Clock::time_point start() const noexcept { return start_; }
    std::uint32_t sample() const noexcept { return sample_; }
    /// Time spent copying; measured if there is a sample.
    std::chrono::nanoseconds copying() const noexcept { return copying_; }

    /// The peer has made no progress since there was no room.
    bool is_stuck() const noexcept { return progress() == stuck_at_; }
    /// Bytes that were not copied yet. @thread any
    std::uint64_t left() const noexcept { return left_.load(std::memory_order_relaxed); }

  private:
    static constexpr std::uint64_t kNotStuck = UINT64_MAX;

    bool send_chunk(std::uint64_t size, RecordWriter& records, OutgoingArea& area);
    void copy_next(std::byte* to, std::uint64_t size);
    std::uint64_t progress() const noexcept;

    Direction* out_ = nullptr;
    std::vector<plexus_view> pieces_; // behind the head
    std::size_t piece_ = 0;
    std::size_t offset_ = 0; // in that piece
    std::atomic<std::uint64_t> left_{0};
    std::uint64_t stuck_at_ = kNotStuck; // the peer's progress then
    void* token_ = nullptr;
    std::uint64_t size_ = 0;
    Copy copy_ = Copy::cached;
    Clock::time_point start_{};
    std::uint32_t sample_ = 0;
    std::chrono::nanoseconds copying_{};
};

} // namespace plexus::shm
