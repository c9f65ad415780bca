// SPDX-License-Identifier: BSD-3-Clause
// One link: a connected Unix socket. Sending threads and the polling thread share the writing half under a
// lock; the reading half belongs to the polling thread. The host is never called with that lock held.
#pragma once

#include "inbox.h"
#include "outbox.h"
#include "place.h"

#include <plexus/module/handshake.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pipes {

class Module;

/// The value of the parameter `queue`; false: it is not kWantedQueue.
bool parse_queue(std::string_view text, std::size_t& messages);
inline constexpr const char* kWantedQueue = "queue is a number of messages from 1 to 1000000";

/// How long the other end may take to authenticate itself.
constexpr std::chrono::seconds kPatience{5};
/// How long a peer that does not read may delay the end of a disconnected link.
constexpr std::chrono::seconds kLinger{1};

class Link {
  public:
    using Clock = std::chrono::steady_clock;

    /// To the context `peer` at `target`; begins when it is attended to.
    Link(Module& module, const Place& target, const plexus_id& peer, void* cookie);
    /// For a peer that has connected and has not yet authenticated itself.
    Link(Module& module, Fd socket);

    // The host's half. @thread any
    std::int32_t send(const plexus_view* pieces, std::uint32_t count, void* token);
    void disconnect();
    std::int32_t set(const char* key, const char* value, plexus_text& why);
    std::uint64_t queued_bytes() const;

    // The polling thread's half.
    /// Handles events of the socket. Returns how many events were handled, about `budget` at most.
    std::uint32_t ready(std::uint32_t events, std::uint32_t budget);
    /// The same without new events: goes on with the bytes that were read already.
    std::uint32_t read(std::uint32_t budget);
    /// The host has asked for a connection, or has disconnected the link.
    void attend();
    /// What the link waits for now may take no longer: expire() is called until it is over.
    void wait_at_most(std::chrono::nanoseconds time);
    /// False: it still waits, and has time. Otherwise nothing is waited for, or the link has ended.
    bool expire(Clock::time_point now);
    Clock::time_point until() const { return until_; }
    /// Ends the link, and tells the host if the host knows the link.
    void lose(std::int32_t status, const std::string& why);
    /// At the module's end: writes what can be written; true if something is left.
    bool flush();
    /// At the module's end: ends every transfer and the connection, without callbacks about the link.
    void cut();

    bool is_known() const { return known_; }             ///< to the host
    bool is_dead() const { return life_ == Life::dead; } ///< nobody names it any more

  private:
    enum class Step : std::uint8_t { waiting, greeting, open, over };
    enum class Life : std::uint8_t {
        held,     ///< by the host, or as a stranger
        released, ///< the host's disconnect has been heard
        dead,
    };
    struct Target {
        Place place;
        plexus_id peer;
    };

    void begin();
    void say(const std::vector<std::uint8_t>& bytes);
    bool greet();
    bool welcome();
    bool take_frame();
    bool take_rest();
    bool end_rest_if_done();
    bool fill();
    void discard();
    void end_if_flushed();
    void end();
    void write(std::vector<void*>& over);
    void watch(bool writing);
    bool is_alive() const { return !given_up_ && step_ != Step::over; }

    Module& module_;
    const std::optional<Target> target_; // nothing: the peer has connected
    void* cookie_ = nullptr;
    std::atomic<bool> known_; // relaxed: query counts by it, nothing depends on it

    mutable std::mutex mutex_; // the writing half; and held while the host's memory is written to
    Fd socket_;                // changed under it by the polling thread, which may read it without
    Step step_;                // as socket_
    Outbox out_;
    bool watching_writing_ = false;
    // [given up] Stored by disconnect under mutex_, so that nothing is written into the host's
    // memory after it; loaded before each callback, where one that has begun may still run.
    std::atomic<bool> given_up_{false};

    // The polling thread's.
    std::optional<plexus::module::Handshake> handshake_;
    ReadBuffer read_;
    Landing landing_;
    Clock::time_point until_{}; // what is waited for now may take so long
    Life life_ = Life::held;
};

} // namespace pipes
