// SPDX-License-Identifier: BSD-3-Clause
// The writing half of a link: the socket, its options, and the messages that the socket had no room for.
// Senders and the progress thread share it under one lock. It calls no host: the ends of posted messages are
// returned.
#pragma once

#include "base/lock.h"
#include "base/unique_fd.h"
#include "stream_link/options.h"
#include "stream_link/outgoing.h"

#include <atomic>
#include <cstdint>
#include <vector>

namespace plexus::stream_link {

class Link;
class Module;

class Writer {
  public:
    /// Largest message that goes in one block with its frame's word.
    static constexpr std::size_t kInlineBytes = 1024;

    /// To be connected.
    Writer(Module& module, Link& link);
    /// Connected. `peer_most`: the largest message that the peer takes; 0: any.
    Writer(Module& module, Link& link, UniqueFd socket, std::uint64_t peer_most);
    ~Writer();
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    // @thread any
    std::int32_t send(const plexus_view* pieces, std::uint32_t count, void* token);
    void set_options(const SocketOptions& options);
    SocketOptions options() const;
    /// Largest message that both sides take; 0: no limit.
    std::uint64_t max_message() const;
    std::uint64_t queued_bytes() const; ///< ours and the kernel's
    std::uint64_t own_queued_bytes() const noexcept { return queued_.load(std::memory_order_relaxed); }
    std::uint64_t round_trip_ns() const;  ///< 0: not known
    std::uint64_t bytes_a_second() const; ///< 0: not known

    // @thread progress
    /// Below 0: not connected, or closed.
    int socket() const noexcept { return fd_; }
    /// Returns true if a send was refused meanwhile: the host waits for `writable`.
    bool open(UniqueFd socket, std::uint64_t peer_most);
    struct Flushed {
        std::vector<void*> sent;  ///< tokens of posted messages that were written
        bool is_writable = false; ///< the host waits for this
    };
    /// Writes what waits, until the socket is full.
    Flushed flush();
    /// The same at the module's end, when no host waits. True: something is left that may still go.
    bool flush_at_end(std::vector<void*>& sent);
    bool has_unsent() const;
    /// errno of the write that broke the open connection; 0: none has.
    int error() const;
    /// For the watchdog: the other host has not yet acknowledged all that was sent. If false, the next send
    /// reports to the watchdog again.
    bool has_unanswered();
    /// Closes the socket and drops what waits. Returns the tokens of the posted messages.
    std::vector<void*> close();

  private:
    enum class State : std::uint8_t { connecting, open, broken, over };

    std::int32_t write_now(const plexus_view* pieces, std::uint32_t count, std::uint64_t size, void* token)
        PLEXUS_REQUIRES(mutex_);
    std::int32_t coalesce(const plexus_view* pieces, std::uint32_t count, std::uint64_t size)
        PLEXUS_REQUIRES(mutex_);
    void write_coalesced() PLEXUS_REQUIRES(mutex_);
    bool is_full() const PLEXUS_REQUIRES(mutex_);
    std::int32_t queue(const plexus_view* pieces, std::uint32_t count, std::uint64_t size, std::uint64_t done,
                       void* token) PLEXUS_REQUIRES(mutex_);
    void break_off(int error) PLEXUS_REQUIRES(mutex_);
    void watch_writing(bool on) PLEXUS_REQUIRES(mutex_);

    Module& module_;
    Link& link_;
    // Changed by the progress thread only, and under mutex_; so either may read it.
    int fd_ = -1;

    mutable Mutex mutex_;
    State state_ PLEXUS_GUARDED_BY(mutex_);
    bool want_writable_ PLEXUS_GUARDED_BY(mutex_) = false;
    bool watching_writing_ PLEXUS_GUARDED_BY(mutex_) = false;
    bool coalesced_ PLEXUS_GUARDED_BY(mutex_) = false; // the coalescer writes what waits
    int error_ PLEXUS_GUARDED_BY(mutex_) = 0;          // what a write said
    bool watched_ PLEXUS_GUARDED_BY(mutex_) = false;   // by the watchdog
    std::atomic<std::uint64_t> queued_{0};             // of out_, for readers without the lock
    std::uint64_t most_ PLEXUS_GUARDED_BY(mutex_);     // bytes of a message
    Outgoing out_ PLEXUS_GUARDED_BY(mutex_);
    SocketOptions options_ PLEXUS_GUARDED_BY(mutex_);
};

} // namespace plexus::stream_link
