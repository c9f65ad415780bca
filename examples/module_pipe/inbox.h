// SPDX-License-Identifier: BSD-3-Clause
// What a link has read: bytes that are not yet understood, and a large message that is arriving. Values of
// the polling thread.
#pragma once

#include "outbox.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <sys/socket.h>

namespace pipes {

/// Bytes from the socket, in the order of the stream.
class ReadBuffer {
  public:
    std::span<const std::byte> bytes() const { return {room_.data() + begin_, end_ - begin_}; }
    void take(std::size_t bytes) { begin_ += bytes; }
    /// The result of recv.
    ssize_t read(int socket) {
        std::memmove(room_.data(), room_.data() + begin_, end_ - begin_);
        end_ -= std::exchange(begin_, 0);
        const ssize_t got = ::recv(socket, room_.data() + end_, room_.size() - end_, MSG_DONTWAIT);
        if (got > 0) end_ += static_cast<std::size_t>(got);
        return got;
    }
    /// The same, of a link whose messages nobody wants any more.
    ssize_t discard(int socket) { return ::recv(socket, room_.data(), room_.size(), MSG_DONTWAIT); }

  private:
    std::array<std::byte, 2 * kEager> room_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

/// The rest of a large message, and where the host wants it.
class Landing {
  public:
    /// `place` null: the host does not want it, and the bytes are dropped.
    void begin(std::uint64_t size, void* place, void* token) {
        rest_ = size;
        place_ = static_cast<std::byte*>(place);
        token_ = token;
        is_wanted_ = place != nullptr;
    }
    std::uint64_t rest() const { return rest_; }
    bool is_wanted() const { return is_wanted_; }
    void* token() const { return token_; }
    /// Bytes that were read already. Writes into the host's memory.
    void copy(std::span<const std::byte> bytes) {
        if (place_ != nullptr) std::memcpy(place_, bytes.data(), bytes.size());
        advance(bytes.size());
    }
    /// The result of recv. Writes into the host's memory.
    ssize_t read(int socket) {
        constexpr std::uint64_t kAtOnce = 256 * 1024;
        const ssize_t got = ::recv(socket, place_, std::min(rest_, kAtOnce), MSG_DONTWAIT);
        if (got > 0) advance(static_cast<std::size_t>(got));
        return got;
    }
    /// True, once: the host wanted it, and hears that it is over.
    bool end() { return std::exchange(is_wanted_, false); }

  private:
    void advance(std::size_t bytes) {
        rest_ -= bytes;
        if (place_ != nullptr) place_ += bytes;
    }

    std::uint64_t rest_ = 0;
    std::byte* place_ = nullptr;
    void* token_ = nullptr;
    bool is_wanted_ = false;
};

} // namespace pipes
