// SPDX-License-Identifier: BSD-3-Clause
// What a link has accepted and the socket has not taken yet, in order. Small messages wait as copies, large
// ones as the host's own pieces. A value without a lock: the link's lock guards it.
//
// In the stream each message follows one word: its size in the low 56 bits, the size of its
// head (piece 0) in the high 8. Both ends are on one machine, so its byte order is the wire's.
#pragma once

#include <plexus/module/module.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace pipes {

/// Largest message that is copied, here and by the receiver. A larger message goes from the sender's memory
/// to the place that the receiving host names.
constexpr std::size_t kEager = 8 * 1024;

constexpr std::size_t kWord = 8;
constexpr std::uint64_t kMost = (std::uint64_t{1} << 56) - 1;

class Outbox {
  public:
    explicit Outbox(std::size_t most)
      : most_(most) {}

    /// `most`: messages that may wait.
    void set_most(std::size_t most) { most_ = most; }
    bool empty() const { return items_.empty(); }
    std::uint64_t bytes() const;

    bool has_room() const { return items_.size() < most_; }

    /// A send was refused for now: the host waits for `writable`.
    void owe_writable() { is_writable_owed_ = true; }
    /// The host hears otherwise that it may send.
    void forget_writable() { is_writable_owed_ = false; }
    /// True, once: the host waits for it, and there is room again.
    bool pay_writable();

    void append(const plexus_view* pieces, std::uint32_t count, std::uint64_t size, void* token);
    /// A record of the handshake; it goes ahead of every message.
    void append_record(const std::vector<std::uint8_t>& bytes);
    /// The message that was appended last was not taken after all.
    void remove_last() { items_.pop_back(); }

    /// Writes until the socket is full. Appends the tokens of large messages that were written to `over`.
    void write(int socket, std::vector<void*>& over);
    /// Nothing can be written any more. What the peer has sent may still be read, up to its end.
    bool is_broken() const { return is_broken_; }
    void break_off() { is_broken_ = true; }
    /// What waits can still be written.
    bool has_unsent() const { return !items_.empty() && !is_broken_; }
    /// Drops everything. Returns the tokens of the large messages.
    std::vector<void*> drop();

  private:
    struct Item {
        std::vector<std::byte> own;    // a copy, or only the word
        std::vector<plexus_view> left; // what to write: of `own`, and of the host's pieces
        void* token = nullptr;         // for `sent`
        bool posted = false;
    };

    std::deque<Item> items_;
    std::size_t most_;
    bool is_writable_owed_ = false;
    bool is_broken_ = false;
};

} // namespace pipes
