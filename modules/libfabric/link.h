// SPDX-License-Identifier: BSD-3-Clause
// One link: what it may still send, the large messages that its peer has yet to read, and the
// one that it reads itself. What any thread may touch stands under the port's lock; the rest
// is the progress thread's. No callback runs under a lock.
//
// Small messages are copied and counted: at most `window` of them are under way, and the
// receiver says in every header how many it is through with. A large message is announced;
// the receiver reads it out of the sender's memory and says so, or, where a provider can't
// read or there are too many pieces, it follows in parts. What comes after it waits.
#pragma once

#include "libfabric/page.h"
#include "libfabric/port.h"

#include <chrono>
#include <deque>

namespace plexus::libfabric {

class Module;
using Clock = std::chrono::steady_clock;

/// A large message that the peer reads.
struct Offer {
    std::uint32_t id = 0;
    void* token = nullptr;
    std::uint64_t bytes = 0;
    std::vector<Registration> memory;
};

/// A large message that goes in parts.
struct Parts {
    std::vector<plexus_view> pieces; // what is left of them
    std::size_t next = 0;
    std::uint64_t left = 0;
    void* token = nullptr;
};

/// A large message that comes in.
struct Landing {
    LargeNote note;
    std::byte* where = nullptr; ///< null: dropped
    void* token = nullptr;
    std::uint64_t asked = 0; ///< bytes that have been, or are being, read
    std::uint64_t landed = 0;
    std::size_t stretch = 0; ///< the one that is read next
    std::uint64_t offset = 0;
    Registration memory;
    void* handle = nullptr;
    bool fetched = false; ///< by reading, not in parts
    std::string doubt;    ///< an error of which the provider does not say what it is about
    Clock::time_point doubted_until{};
};

class Link {
  public:
    enum class State : std::uint8_t { connecting, greeting, open, leaving, failing, over };

    Link(Module& module, Port& port, void* cookie, const plexus_id& peer, Descriptor target);
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    // The host's half. @thread any, serialised by the host
    std::int32_t send(const plexus_view* pieces, std::uint32_t count, void* token);
    void disconnect();
    std::uint32_t row() const;
    std::int32_t set(const char* key, const char* value, plexus_text& reason) const;

    // @thread progress
    /// One received message of this link. True: the link keeps the buffer.
    bool arrived(const Header& header, Buffer& buffer);
    void fetch_over(Op& op, const std::string& error);
    /// The provider told an error without saying of what: perhaps of a read that is in flight here, which
    /// then never ends. While others do, or it was the last, nothing is wrong.
    void doubt_reading(const std::string& error);
    bool doubts_reading() const;
    void see_to_doubts(Clock::time_point now);
    void send_over(const std::string& error);
    /// Goes on with what waits for room. True: something went. `done`: nothing waits any more, and
    /// the next that does leaves a note.
    bool carry_on(bool& done);
    /// Reads on in the peer's memory.
    void fetch_more();
    /// The host wants to know when there is room: true once there is. `retry`: it is time to ask
    /// a provider again that had none.
    bool has_room(bool retry);
    bool hurries() const; ///< the provider had no room, and does not tell when it has
    /// Sends something without order or count. False: it is kept until there is room.
    bool say(Kind kind, const Bytes& body = {});
    bool opening() const noexcept { return state == State::connecting || state == State::greeting; }
    bool fetching() const noexcept { return in_flight_.load(std::memory_order_relaxed) > 0; }
    bool idle() const; ///< nothing that the peer has yet to take, or the provider to send
    std::uint64_t queued_bytes() const { return queued_.load(std::memory_order_relaxed); }
    bool given_up() const noexcept { return given_up_.load(std::memory_order_relaxed); }

    void read_is_over(); ///< one of the reads that were in flight
    void refuse();       ///< the host does not want it
    void fall_silent();  ///< what has found no room so far is not said any more
    bool may_be_freed() const;

    /// Begins to end: `lost` comes when nothing is written any more.
    void lose(std::int32_t status, std::string why);
    /// Ends what is under way by callbacks.
    void end_everything();

    Module& module;
    Port& port;
    void* cookie;
    const plexus_id peer;
    const Descriptor target;
    fi_addr_t at = FI_ADDR_UNSPEC;
    bool known = false; ///< its address is in the port's table
    PeerPage page;
    /// It has opened our page: it can wake us, and sees whether memory that it read was still offered.
    /// Settled before the link is open.
    bool peer_rings = false;

    // The receiving half, and the way there.
    State state = State::connecting; ///< changed under the port's lock
    std::uint32_t slot = kNoSlot;
    std::uint64_t token = 0; ///< what the peer says to us
    std::uint32_t peer_slot = kNoSlot;
    std::uint64_t peer_token = 0;
    std::unique_ptr<module::Handshake> handshake;
    Clock::time_point deadline{}; ///< of opening, leaving, failing, or of the bye when it is over
    Clock::time_point next_try{}; ///< while it opens, or is over: when a provider without room is asked again
    Clock::time_point heard{};
    bool asked = false;              ///< a ping is out
    std::uint32_t silent = 0;        ///< turns without news since the peer's process ended
    bool bereaved = false;           ///< it has
    bool ending = false;             ///< the module looks after its end
    bool farewell = false;           ///< the peer has said its last
    std::int32_t status = PLEXUS_OK; ///< while failing
    std::string why;

    // Under the port's lock.
    std::uint16_t window = 0;    ///< the peer's
    bool wishes = false;         ///< the host was told AGAIN
    bool stalled = false;        ///< by the provider: it is tried again after a while
    bool wants_carrying = false; ///< it is, or will be by a note, in the module's list of those, once
    bool broken = false;         ///< a send failed: `why_broken`
    std::string why_broken;

  private:
    friend class Module;
    int post(Kind kind, const plexus_view* pieces, std::uint32_t count, std::size_t size, bool tracked)
        PLEXUS_MODULE_REQUIRES(port.mutex());
    bool may_post() const PLEXUS_MODULE_REQUIRES(port.mutex());
    std::int32_t result_of(int error) PLEXUS_MODULE_REQUIRES(port.mutex());
    std::int32_t send_large(const plexus_view* pieces, std::uint32_t count, std::uint64_t size, void* token)
        PLEXUS_MODULE_REQUIRES(port.mutex());
    bool push_parts(std::vector<void*>& over) PLEXUS_MODULE_REQUIRES(port.mutex());

    bool is_ordered(Kind kind) const noexcept;
    void take(Kind kind, ByteView body);
    void begin_large(ByteView body);
    void take_part(ByteView body);
    void finish_landing();
    void lose_reading(const std::string& reason);
    void take_held();
    void count_taken();
    void peer_fetched(ByteView body);
    void acknowledge(std::uint16_t taken);

    // [given up] Set by disconnect, read before each callback. Relaxed: a callback that began
    // before may still be running.
    std::atomic<bool> given_up_{false};
    // [taken] Written by the progress thread, read by senders for the next header. Relaxed: an
    // older value is only less.
    std::atomic<std::uint16_t> taken_{0};
    std::atomic<std::uint16_t> told_{0};
    // [acknowledged] Ditto, the other way: an older value means less room, and a wish is
    // looked at again in each turn.
    std::atomic<std::uint16_t> acknowledged_{0};
    std::atomic<std::uint64_t> queued_{0};
    // [in flight] Reads that the provider has; raised by the progress thread under the port's
    // lock, so that disconnect, which takes that lock after [given up], sees all there will be.
    std::atomic<std::uint32_t> in_flight_{0};
    std::atomic<std::uint32_t> sends_in_flight_{0};

    // Under the port's lock.
    std::uint16_t sent_ = 0; // counted messages
    std::uint16_t number_ = 0;
    std::uint32_t next_offer_ = 0;
    std::deque<Offer> offers_;
    std::unique_ptr<Parts> parts_;
    std::deque<std::pair<Kind, Bytes>> unsaid_; // controls without room
    bool unread_ = false;                       // reads without room

    // The progress thread's.
    std::uint16_t expected_ = 0;
    std::unique_ptr<Landing> landing_;
    std::deque<std::pair<Kind, Buffer*>> held_; // behind the landing
    std::deque<Op> reads_;                      // never shrinks: the provider may hold on to them
    std::vector<Op*> free_reads_;
};

} // namespace plexus::libfabric
