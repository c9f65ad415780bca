// SPDX-License-Identifier: BSD-3-Clause
// One link: a connected socket, the frames that were not written yet, and the reader of the stream.
// Senders and the progress thread share the writing half under one lock; the reading half
// belongs to the progress thread. No callback runs under a lock.
#pragma once

#include "common/frames.h"
#include "common/mutex.h"
#include "tcp/descriptor.h"
#include "tcp/options.h"
#include "tcp/outgoing.h"
#include "tcp/poller.h"

#include <atomic>
#include <memory>
#include <span>
#include <string>

namespace plexus::tcp {

class Dial;
class Module;

class Link final : public Watched {
  public:
    /// Largest message that goes in one block with its frame's word.
    static constexpr std::size_t kInlineBytes = 1024;

    /// To be connected to `peer` at `target`.
    Link(Module& module, void* cookie, const plexus_id& peer, Descriptor target);
    /// Accepted: `socket` has proved itself. Its events name another still. `peer_most`: as for connected().
    Link(Module& module, const plexus_id& peer, std::uint64_t peer_most, module::OwnedFd socket);
    ~Link() override;

    // The host's half. @thread any, serialised by the host
    std::int32_t send(const plexus_view* pieces, std::uint32_t count, void* token);
    void disconnect();
    std::int32_t set(const char* key, const char* value, plexus_text& why);
    std::uint64_t queued_bytes() const; ///< ours and the kernel's
    std::uint64_t own_queued_bytes() const noexcept { return queued_.load(std::memory_order_relaxed); }
    std::uint64_t round_trip_ns() const;  ///< 0: not known
    std::uint64_t bytes_a_second() const; ///< 0: not known

    // The progress thread's half.
    void ready(std::uint32_t events, std::uint32_t budget, std::uint32_t& handled) override;
    void expired() override;
    /// Reads and hands over what there is; returns how many events that were.
    std::uint32_t read(std::uint32_t budget);
    /// Delivers the frames that an exhausted budget left in the receive buffer, which the link holds.
    std::uint32_t resume(std::uint32_t budget);
    bool has_backlog() const noexcept { return !backlog_.empty(); }
    /// A sender or the host asked for attention by Module::notify().
    void attend();
    /// For the watchdog: the other host has not yet acknowledged all that was sent. If false, the next send
    /// reports to the watchdog again.
    bool has_unanswered();
    void end_if_silent(std::chrono::nanoseconds dead_after);
    /// The module's end: flushes; true if something is left. @thread setup
    bool flush_at_end();
    /// The module's end: ends everything under way, by callbacks, and closes. @thread setup
    void shut_down();

    /// Largest message that both sides take; 0: no limit.
    std::uint64_t max_message() const;

    // The results of a dial. @thread progress
    /// `peer_most`: the largest message that the peer takes; 0: any.
    void connected(module::OwnedFd socket, std::uint64_t peer_most);
    void not_connected(std::int32_t status, const std::string& why);
    /// An accepted link: the host has accepted it.
    void set_cookie(void* cookie) noexcept { cookie_ = cookie; }
    /// An accepted link: the host has refused it.
    void refuse();

    const plexus_id& peer() const noexcept { return peer_; }
    const Descriptor& target() const noexcept { return target_; }
    SocketOptions socket_options() const;
    bool given_up() const noexcept { return given_up_.load(std::memory_order_relaxed); }
    bool is_open() const noexcept { return established_; }

    // For the module's lists.
    bool noted = false;       ///< under the module's lock: waits for attend()
    std::uint32_t misses = 0; ///< progress thread: fruitless reads in a row while hot
    Link* previous = nullptr; ///< under the module's lock
    Link* next = nullptr;

  private:
    enum class State : std::uint8_t { connecting, open, broken, over };

    module::FrameReader::Owner owner();
    std::int32_t write_now(const plexus_view* pieces, std::uint32_t count, std::uint64_t size, void* token)
        PLEXUS_MODULE_REQUIRES(mutex_);
    std::int32_t queue(const plexus_view* pieces, std::uint32_t count, std::uint64_t size, std::uint64_t done,
                       void* token) PLEXUS_MODULE_REQUIRES(mutex_);
    void break_off(int error) PLEXUS_MODULE_REQUIRES(mutex_);
    void watch_writing(bool on) PLEXUS_MODULE_REQUIRES(mutex_);

    bool read_landing(std::uint32_t& budget);
    bool read_frames(std::uint32_t& budget);
    void consume(std::span<const std::byte> bytes, std::uint32_t& budget);
    void set_aside(std::span<const std::byte> bytes);
    bool arrived(ssize_t got, std::size_t asked);
    void flush();
    void lose(std::int32_t status, const std::string& why);
    void lose_by(int error);
    void wind_up();
    void linger();
    void finish();
    void end_everything();

    Module& module_;
    void* cookie_ = nullptr;
    const plexus_id peer_;
    const Descriptor target_;
    std::unique_ptr<Dial> dial_; // while it connects

    // Changed by the progress thread only, and under mutex_; so either may read it.
    int fd_ = -1;
    // [given up] Set by disconnect under landing_mutex_, read before each callback. Relaxed: a
    // callback that began before may still be running.
    std::atomic<bool> given_up_{false};

    mutable module::Mutex mutex_; // the writing half
    State state_ PLEXUS_MODULE_GUARDED_BY(mutex_) = State::connecting;
    bool want_writable_ PLEXUS_MODULE_GUARDED_BY(mutex_) = false;
    bool watching_writing_ PLEXUS_MODULE_GUARDED_BY(mutex_) = false;
    int error_ PLEXUS_MODULE_GUARDED_BY(mutex_) = 0;        // what a write said
    bool watched_ PLEXUS_MODULE_GUARDED_BY(mutex_) = false; // by the watchdog
    std::atomic<std::uint64_t> queued_{0};                  // of out_, for readers without the lock
    std::uint64_t most_ PLEXUS_MODULE_GUARDED_BY(mutex_);   // bytes of a message
    Outgoing out_ PLEXUS_MODULE_GUARDED_BY(mutex_);
    SocketOptions socket_options_ PLEXUS_MODULE_GUARDED_BY(mutex_);

    // The progress thread's.
    bool established_ = false;
    bool lingering_ = false;
    std::string peer_address_; // read early: a broken socket does not have it any more
    // Held while the kernel writes into the host's memory, and by disconnect: nothing is written there after
    // disconnect.
    module::Mutex landing_mutex_;
    module::FrameReader reader_;
    std::vector<std::byte> kept_;          // the beginning of a frame
    std::span<const std::byte> backlog_{}; // whole frames in the receive buffer that the link holds
};

} // namespace plexus::tcp
