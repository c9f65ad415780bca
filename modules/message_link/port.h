// SPDX-License-Identifier: BSD-3-Clause
// What a communication library has to do so that the engine can make links over it. The engine
// (engine.h) has the protocol: the opening, the order of messages, credit, large messages,
// endings. A port has the library: endpoints, sends, receives, completions.
//
// A port sends bounded messages of a header and a body, tells of those that arrive, and, if it can,
// moves large messages straight between the two hosts' memory in one of two ways: the receiver
// fetches them out of the sender's memory (Fetching), or the library carries a message of any size
// (Carrying). A port that can do neither gets large messages in parts. Messages between two
// endpoints may arrive in another order than they were sent in if Traits says so, but none may be
// lost, doubled or changed without an Event::broken.
//
// One lock stands around every call of the library. Functions marked "under the lock" are called
// with `lock` held; the others take it themselves. No function calls the host back.
#pragma once

#include "message_link/spin_lock.h"
#include "message_link/wire.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace plexus::message_link {

class Link;
class Peer;

/// A message that has arrived. It is the port's; the engine gives it back by Port::recycle().
struct Message {
    Header header;
    const std::byte* body = nullptr; ///< 8-byte aligned
    std::size_t size = 0;            ///< of the body
    // Of Kind::carried, whose body is the head:
    std::uint64_t rest = 0;          ///< bytes after the head
    const std::byte* data = nullptr; ///< the rest, if it is here; null: Carrying::receive() moves it
};

/// What poll() tells.
struct Event {
    enum class What : std::uint8_t {
        arrived, ///< `message`
        fetched, ///< one Fetching::fetch() of `peer` is over: `bytes`, or `why` it failed
        landed,  ///< the Carrying::receive() of `token` is over: `status`
        sent,    ///< a carry(), get() or put() of `peer` that was posted is over: `token`, `status`, `bytes`
        broken,  ///< nothing goes to, or comes from, `peer` any more: `why`
        ended,   ///< the peer's process has ended; what it had sent may still arrive
        unknown_failed, ///< an operation failed and the library does not say which: `why`
    };
    What what = What::arrived;
    std::int32_t status = PLEXUS_OK;
    Message* message = nullptr;
    Peer* peer = nullptr;
    void* token = nullptr;
    std::uint64_t bytes = 0;
    std::string why; ///< empty: it went well
};

/// The far end of one link, as the port knows it. Made by Port::reach(), freed with the link by the
/// progress thread, without the lock. No event may name it after that; operations of the library
/// that are still under way for it must not touch it.
class Peer {
  public:
    explicit Peer(Link& its_link)
      : link(its_link) {}
    virtual ~Peer() = default;
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;

    /// The peer is on this host, and we see whether memory that it offered is still what it was. Its
    /// end is told by Event::ended, so that its silence means nothing.
    virtual bool is_seen() const { return false; }
    /// Its process is known to have ended.
    virtual bool has_ended() const { return false; }
    /// Changed by the peer when memory that its link `slot` offered is given back. Only if is_seen().
    virtual std::uint32_t revision(std::uint32_t) const { return 0; }

    Link& link;
    bool sees_us = false; ///< the same, as the peer has it; set while the link opens
};

/// Memory that is registered with the library; dropped under the lock.
using Registration = std::shared_ptr<void>;

/// PLEXUS_OK: done. PLEXUS_POSTED: an event will tell. PLEXUS_AGAIN: no room now. Others: failed, and
/// `why` says how.
using Outcome = std::int32_t;

/// The receiver of a large message reads it out of the sender's memory. All under the lock.
class Fetching {
  public:
    /// Memory may be offered to this peer.
    virtual bool may_offer(const Peer& peer) const = 0;
    /// Lets peers read `memory`; fills in what they have to know. False: it can't be offered.
    virtual bool offer(const plexus_view& memory, Registration& out, Stretch& stretch) = 0;
    /// The present revision of what this side's link `slot` offers, and the next one, see Peer::revision().
    virtual std::uint32_t revision(std::uint32_t) const { return 0; }
    virtual void revise(std::uint32_t) {}
    /// Prepares memory to be fetched into.
    virtual Outcome prepare(void* memory, std::size_t size, Registration& out, void*& handle,
                            std::string& why) = 0;
    virtual std::size_t most_bytes() const = 0; ///< of one fetch
    /// POSTED: Event::fetched. `handle` is prepare()'s.
    virtual Outcome fetch(Peer& peer, std::byte* where, std::size_t size, void* handle, const Stretch& from,
                          std::string& why) = 0;

  protected:
    ~Fetching() = default;
};

/// The library carries messages of any size. All under the lock.
class Carrying {
  public:
    /// Sends the header and pieces[0] as the head, and all other pieces as the rest. POSTED: the pieces
    /// must stay until Event::sent.
    virtual Outcome carry(Peer& peer, const Header& header, const plexus_view* pieces, std::uint32_t count,
                          std::uint64_t rest, void* token, std::string& why) = 0;
    /// Moves the rest of a message whose `data` is null. POSTED: Event::landed with this token.
    virtual Outcome receive(Peer& peer, Message& message, void* where, void* token) = 0;

  protected:
    ~Carrying() = default;
};

/// A peer's memory region, as one link knows it.
class RemoteKey {
  public:
    virtual ~RemoteKey() = default;
};

/// Gets and puts that the peer's host takes no part in (abi.h: attach to put). All under the lock.
class RemoteMemory {
  public:
    virtual std::unique_ptr<RemoteKey> attach(Peer& peer, plexus_view key, std::int32_t& status) = 0;
    virtual Outcome get(Peer& peer, RemoteKey& remote, std::uint64_t offset, void* into, std::size_t size,
                        void* token) = 0;
    virtual Outcome put(Peer& peer, RemoteKey& remote, std::uint64_t offset, const void* from,
                        std::size_t size, void* token) = 0;
    virtual std::uint64_t least_bytes() const = 0; ///< from so many on it beats messages; 0: never

  protected:
    ~RemoteMemory() = default;
};

/// Wakes the thread that sleeps on the engine. @thread any, also under the port's lock
class Waker {
  public:
    virtual void wake() = 0;

  protected:
    ~Waker() = default;
};

class Port {
  public:
    /// Fixed once the port is open.
    struct Traits {
        std::size_t eager = 0;        ///< largest body of a message; larger ones are large messages
        std::size_t inline_bytes = 0; ///< largest one that travels with its header
        bool keeps_order = true;      ///< messages arrive in the order they were sent in
        bool same_eager = true; ///< both sides must have the same `eager`: receive buffers are of that size
        std::size_t most_landings = 1; ///< large messages of a link that are received at a time
        bool wakes = true; ///< what arrives makes wait_fd() readable; else only a peer that sees us does
        std::uint32_t turns_between_looks = 128;
        std::uint64_t shared_bytes = 0; ///< shared memory held
    };
    struct Speed {
        std::uint64_t latency_ns = 0;
        std::uint64_t bytes_per_second = 0;
    };
    struct Closed {
        std::string why;
        bool failed = false; ///< the library did
    };

    Port() = default;
    virtual ~Port() = default;
    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;

    virtual const Traits& traits() const noexcept = 0;
    virtual std::string name() const = 0;       ///< of the way, for sentences
    virtual Bytes descriptor() const = 0;       ///< by which a peer reaches this port
    virtual Speed speed(const Peer*) const = 0; ///< an estimate; without a peer, of any. Under the lock
    virtual Fetching* fetching() noexcept { return nullptr; }
    virtual Carrying* carrying() noexcept { return nullptr; }
    virtual RemoteMemory* remote_memory() noexcept { return nullptr; }

    // Under the lock.

    /// Sends a header and `size` bytes in pieces, at most `eager`, copying them. Messages of the opening and
    /// the ending (everything but Kind::message) are few and go whether there is room or not, as far as the
    /// library lets them. Wakes the peer, if it sleeps.
    virtual Outcome send(Peer& peer, const Header& header, const plexus_view* pieces, std::uint32_t count,
                         std::size_t size, std::string& why) PLEXUS_REQUIRES(lock) = 0;
    /// After AGAIN: a send is worth repeating. `retry`: enough time has passed to ask again a library that
    /// does not tell.
    virtual bool has_room(const Peer&, bool retry) const PLEXUS_REQUIRES(lock) { return retry; }
    /// The library has yet to send some of what it took for this peer; and how many bytes.
    virtual bool is_sending(const Peer& peer) const PLEXUS_REQUIRES(lock) = 0;
    virtual std::uint64_t queued_bytes(const Peer&) const PLEXUS_REQUIRES(lock) { return 0; }

    // @thread progress

    /// The way to the owner of `descriptor`, whose bytes come from the wire. Null: `status` and `why`.
    virtual std::unique_ptr<Peer> reach(ByteView descriptor, Link& link, std::int32_t& status,
                                        std::string& why) = 0;
    /// At most `most` of what has happened, in order. Makes progress if nothing has.
    virtual std::size_t poll(Event* out, std::size_t most) = 0;
    virtual void recycle(Message& message) = 0;
    /// Every Traits::turns_between_looks turns, and after a sleep: asks the system what the library does
    /// not tell. What is found comes by poll().
    virtual void look_around() {}
    /// Before a sleep on wait_fd(). False: there is work. May lower `sleep_ns`, the longest time. `stalled`:
    /// a link found no room. Undone by look_around().
    virtual bool arm(std::uint64_t& sleep_ns, bool stalled) = 0;
    virtual int wait_fd() const noexcept = 0; ///< -1: there is none

    // @thread any

    /// The host takes its memory back: returns when no operation writes for this peer any more, whatever
    /// that costs. `writes`: fetches and receives that the engine has not been told the end of.
    virtual void stop_writes(Peer& peer, const std::atomic<std::uint32_t>& writes) = 0;
    /// Ends by force what is under way for this peer, as far as the library can; events tell. May be
    /// repeated.
    virtual void cut(Peer& peer) = 0;
    /// Ends everything under way: nothing is written to, or read from, the hosts' memory after it. What
    /// was posted is still told by poll(). Also when the library fails: then of the port's own accord.
    virtual void shut() = 0;
    bool is_shut() const noexcept { return shut_.load(std::memory_order_relaxed); }
    virtual Closed closed() = 0; ///< once it is_shut()

    Waker* waker = nullptr;             ///< the engine's, set before the first link
    bool is_known_closed = false;       ///< the engine's: the links know
    std::uint32_t turns_since_look = 0; ///< the engine's: see look_around()
    bool has_progressed = false; ///< poll() has done work that it tells no event of; the engine clears it
    SpinLock lock;

  protected:
    void set_shut() noexcept { shut_.store(true, std::memory_order_relaxed); }

  private:
    std::atomic<bool> shut_{false}; // a hint; the lock decides
};

} // namespace plexus::message_link
