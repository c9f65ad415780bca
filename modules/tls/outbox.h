// SPDX-License-Identifier: BSD-3-Clause
// What a link sends: makes blocks of messages and gives them to the inner link as it has room. A small
// message is one record and one block; a large one goes as blocks of several records, few at a time, so that
// the other side reads the first while the next is made.
//
// In the stream of plain bytes a message stands behind the word of a frame (see common/frames.h).
#pragma once

#include "base/lock.h"
#include "plexus/module/module.h"
#include "tls/engine.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace plexus::tls {

class Link;
class Module;

/// A large message, and how far it has been sealed.
struct OutgoingMessage {
    std::vector<plexus_view> pieces;
    std::size_t piece = 0;
    std::size_t offset = 0; // in that piece
    std::uint64_t left = 0;
    void* token = nullptr;
    bool has_word = false; // its word has been sealed
};

class Outbox {
  public:
    Outbox(Module& module, Link& link, Engine& engine);

    /// What the host shall hear now that the inner link has told something.
    struct Owed {
        std::optional<void*> sent; ///< a token
        bool is_writable = false;
    };

    /// The largest message, and block, that both ends of the link take. Before the first send(). @thread
    /// progress
    void set_most(std::uint64_t bytes);
    /// As `send` in abi.h. @thread any, serialised by the host
    std::int32_t send(std::span<const plexus_view> pieces, void* token);
    /// Bytes of the handshake. @thread progress
    void push(Block block);
    /// The inner link has room again, or a posted block of ours is out. @thread progress
    Owed go_on();
    Owed posted_is_over(void* block);
    /// Of a link that was given up, after another try: something waits, and not yet for so long. @thread any
    bool has_unsent(std::chrono::nanoseconds linger);
    /// Nothing goes out any more; what of the host's was under way. @thread progress
    Owed end();

    std::uint64_t queued() const noexcept { return queued_.load(std::memory_order_relaxed); }

    /// Records of a block of a large message, and such blocks that the inner link holds at a time.
    static constexpr std::size_t kRecords = 8;
    static constexpr std::uint32_t kWindow = 4;

  private:
    bool seal_small(std::span<const plexus_view> pieces, std::uint64_t size) PLEXUS_REQUIRES(mutex_);
    bool seal_next() PLEXUS_REQUIRES(mutex_);
    std::span<const std::byte> next_record() PLEXUS_REQUIRES(mutex_);
    void stage_word(std::span<const plexus_view> pieces, std::uint64_t size) PLEXUS_REQUIRES(mutex_);
    void enqueue(Block block) PLEXUS_REQUIRES(mutex_);
    void pump() PLEXUS_REQUIRES(mutex_);
    bool flush() PLEXUS_REQUIRES(mutex_);
    std::int32_t pass(Block& block) PLEXUS_REQUIRES(mutex_);
    Owed owed() PLEXUS_REQUIRES(mutex_);

    Module& module_;
    Link& link_;
    Engine& engine_;
    std::uint64_t most_ = 0;               // bytes of a message; set before the first send, as records_
    std::size_t records_ = 0;              // of a block of a large message, at most
    std::atomic<std::uint64_t> queued_{0}; // of pending_ and message_, for readers without the lock

    Mutex mutex_; // after the host's lock of the link; before those of the engine and of the inner link
    std::deque<Block> pending_ PLEXUS_GUARDED_BY(mutex_); // the inner link had no room
    std::optional<OutgoingMessage> message_ PLEXUS_GUARDED_BY(mutex_);
    std::vector<std::byte> staged_ PLEXUS_GUARDED_BY(mutex_); // a record's plain bytes
    std::uint32_t posted_ PLEXUS_GUARDED_BY(mutex_) = 0;      // blocks
    bool wants_writable_ PLEXUS_GUARDED_BY(mutex_) = false;   // the host was told AGAIN
    bool is_over_ PLEXUS_GUARDED_BY(mutex_) = false;
    std::optional<std::chrono::steady_clock::time_point> ends_by_ PLEXUS_GUARDED_BY(mutex_);
};

} // namespace plexus::tls
