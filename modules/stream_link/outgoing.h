// SPDX-License-Identifier: BSD-3-Clause
// Messages that a link could not write at once, in order: small messages as copies, large messages as
// the caller's own pieces. Knows neither threads nor the host; the link's lock guards the queue.
#pragma once

#include "stream_link/options.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <sys/uio.h>
#include <vector>

namespace plexus::stream_link {

/// What a message takes up in the stream.
std::uint64_t wire_bytes(Framing framing, std::uint64_t size) noexcept;

/// One message as parts for writev: the word of its frame, pieces, padding; or the pieces alone.
class FrameParts {
  public:
    /// `most` bounds the parts that fit; pieces must be fewer by two.
    static constexpr std::size_t kMostPieces = 62;

    FrameParts(Framing framing, const plexus_view* pieces, std::uint32_t count, std::uint64_t size);
    iovec* data() noexcept { return parts_.data(); }
    std::size_t count() const noexcept { return count_; }

  private:
    std::array<std::byte, 8> word_;
    std::array<iovec, kMostPieces + 2> parts_;
    std::size_t count_ = 0;
};

class Outgoing {
  public:
    explicit Outgoing(Framing framing)
      : framing_(framing) {}

    bool empty() const noexcept { return items_.empty(); }
    /// Bytes of our own copies, and of everything.
    std::uint64_t copied_bytes() const noexcept { return copied_; }
    std::uint64_t all_bytes() const noexcept { return all_; }
    std::size_t posted() const noexcept { return posted_; }

    /// Copies what a message takes up, without its first `done` bytes.
    void copy(const plexus_view* pieces, std::uint32_t count, std::uint64_t size, std::uint64_t done);
    /// Keeps the pieces' places; their bytes stay the caller's until take_over() names `token`.
    void post(const plexus_view* pieces, std::uint32_t count, std::uint64_t size, std::uint64_t done,
              void* token);

    /// Writes to `socket` until the socket is full, within a bound. Returns 0, or errno (EAGAIN: the socket
    /// is full). Appends the tokens of posted messages that were written to `over`.
    int write(int socket, std::vector<void*>& over);
    /// Drops everything. Returns the tokens of all posted messages.
    void drop(std::vector<void*>& tokens);

  private:
    struct Item {
        std::vector<std::byte> bytes;    // first
        std::vector<plexus_view> pieces; // then these
        std::uint64_t left = 0;          // of both
        std::uint64_t done = 0;
        void* token = nullptr;
        bool posted = false;
    };
    static constexpr std::size_t kMostParts = 64;

    std::size_t fill(std::array<iovec, kMostParts>& parts) const;
    void advance(std::uint64_t bytes, std::vector<void*>& over);

    const Framing framing_;
    std::deque<Item> items_;
    std::uint64_t copied_ = 0;
    std::uint64_t all_ = 0;
    std::size_t posted_ = 0;
};

} // namespace plexus::stream_link
