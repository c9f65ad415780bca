// SPDX-License-Identifier: BSD-3-Clause
// One link: a number for each message, what UCX has yet to send of them, and the order in
// which those that arrive are handed over. What any thread may touch stands under the
// module's lock; the rest is the progress thread's. No callback runs under a lock.
#pragma once

#include "common/mutex.h"
#include "plexus/module/handshake.h"
#include "ucx/descriptor.h"
#include "ucx/sendings.h"
#include "ucx/spin_lock.h"
#include "ucx/way.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <map>

namespace plexus::ucx {

using Clock = std::chrono::steady_clock;

/// A large message on its way to where the host wants it.
struct Landing {
    Link* link = nullptr;
    void* token = nullptr;
    // [landed] Set last, under the module's lock, by whoever drives UCX on; the progress thread
    // reads the status after it.
    std::atomic<bool> over{false};
    std::int32_t status = PLEXUS_OK;
};

/// The peer's memory, by a key of its own.
struct Remote {
    explicit Remote(ucp_rkey_h unpacked, std::uint64_t at) noexcept
      : key(unpacked)
      , base(at) {}
    ~Remote() { ::ucp_rkey_destroy(key); }
    Remote(const Remote&) = delete;
    Remote& operator=(const Remote&) = delete;

    ucp_rkey_h key;
    std::uint64_t base;
};

class Link {
  public:
    using Remote = ucx::Remote;
    enum class State : std::uint8_t { waiting, greeting, open, leaving, failing, over };

    /// To be connected to `peer` at `target`; or, with no target, accepted.
    Link(Module& module, void* cookie, const plexus_id& peer, Descriptor target);
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    // The host's half. @thread any, serialised by the host
    std::int32_t send(const plexus_view* pieces, std::uint32_t count, void* token);
    void disconnect();
    std::int32_t set(const char* key, const char* value, plexus_text& why) const;
    std::int32_t attach(plexus_view key, Remote*& remote);
    void detach(Remote& remote);
    std::int32_t get(Remote& remote, std::uint64_t offset, void* into, std::size_t size, void* token);
    std::int32_t put(Remote& remote, std::uint64_t offset, const void* from, std::size_t size, void* token);

    // @thread progress
    void begin();                                                         ///< the way there, and the hello
    void greet(const Hello& hello, module::Handshake handshake, Way& to); ///< accepted: answers
    void arrived(Arrival& arrival);
    void go_on();   ///< a landing is over
    void wind_up(); ///< the host has given it up
    void expired();
    void lose(std::int32_t status, std::string because);
    enum class Rest : std::uint8_t { going, over, free };
    /// Leaving or failing: whether it is over, and may be freed.
    Rest try_to_end();
    void end_everything(); ///< by callbacks; UCX is gone. @thread setup
    void drop(Arrival& arrival);
    void drop_waiting(); ///< what has come and was not handed over

    bool given_up() const noexcept { return given_up_.load(std::memory_order_relaxed); }
    std::uint64_t queued_bytes() const noexcept { return queued_.load(std::memory_order_relaxed); }
    bool say(Kind kind, Bytes body);

    Module& module;
    void* cookie;
    plexus_id peer;
    const Descriptor target;
    bool trusted = false; ///< `target` was made by a holder of the job's key

    // The progress thread's.
    Clock::time_point deadline = Clock::time_point::max();
    Way* way = nullptr; ///< set once, under the module's lock

    // Under the module's lock.
    State state = State::waiting; ///< changed by the progress thread only
    End mine;
    std::uint32_t refs = 0; ///< entries in the module's lists that name it
    bool noted = false;     ///< it is to be attended
    bool ready = false;     ///< the host is to be told that there is room
    bool wishes = false;    ///< the host was told AGAIN
    Op* ops = nullptr;
    std::uint32_t receiving = 0; ///< landings that UCX writes to
    bool ending = false;         ///< the progress thread's: on the module's list of those

    /// UCX is through with `op`. Under the module's lock.
    void op_over(Op& op);
    void orphan_ops(bool for_good); ///< under the module's lock
    void orphan_copies();           ///< ditto
    void cut_short();
    void drop_remotes() { remotes_.clear(); } ///< under the module's lock

  private:
    static constexpr std::uint32_t kMostInFlight = 64;        // small ones that UCX holds
    static constexpr std::uint32_t kMostPosted = 64;          // large ones
    static constexpr std::uint64_t kMostBehind = 1024 * 1024; // bytes sent after a large one
    static constexpr std::uint32_t kMostBehindCount = 4096;
    static constexpr std::size_t kMostLandings = 4;
    static constexpr std::size_t kMostHeld = 16384;

    bool has_room(std::size_t size, bool small) const;
    std::int32_t send_small(const plexus_view* pieces, std::uint32_t count, std::size_t size);
    std::int32_t send_large(const plexus_view* pieces, std::uint32_t count, std::size_t size, void* token);
    std::int32_t submit(Op& op, Kind kind, const void* data, std::size_t count, ucp_datatype_t type,
                        std::size_t header_size, std::uint32_t flags);
    std::int32_t submit_block(Op& op, Kind kind);
    Header header_of(Kind kind, std::size_t head) const;
    void enlist(Op& op);
    void take_off(Op& op);
    bool may_move() const;
    Op& op_of_move(std::size_t size, void* token);
    std::int32_t begin_move(Op& op, std::initializer_list<ucs_status_ptr_t> requests);

    void answered(Arrival& arrival);
    void confirmed(Arrival& arrival);
    void accept(Arrival& arrival);
    void hand_over(Arrival& arrival);
    void begin_landing(Arrival& arrival);
    void finish_landing();
    void bury_landings();
    void leave();

    // [given up] Set by disconnect under border_, read before each callback. Relaxed: a
    // callback that began before may still be running.
    std::atomic<bool> given_up_{false};
    // Of small messages that UCX holds, and of posted ones; for whoever asks.
    std::atomic<std::uint64_t> queued_{0};
    // Held while we write into the host's memory, so that disconnect is a border: nothing is
    // written there after it.
    module::Mutex border_;

    // Under the module's lock.
    End theirs_;
    std::uint16_t number_ = 0;
    std::uint32_t in_flight_ = 0;
    std::uint64_t in_flight_bytes_ = 0;
    std::uint32_t posted_ = 0;
    std::uint64_t behind_ = 0;
    std::uint32_t behind_count_ = 0;
    std::vector<std::unique_ptr<Remote>> remotes_;

    // The progress thread's.
    std::unique_ptr<module::Handshake> handshake_;
    bool connects_ = true;
    bool established_ = false; ///< the host knows it as open
    bool farewell_ = false;    ///< the peer has said its last
    std::uint16_t expected_ = 0;
    std::map<std::uint16_t, Arrival> held_; ///< too early
    std::deque<Arrival> queue_;             ///< behind a landing
    std::deque<std::unique_ptr<Landing>> landings_;
    std::int32_t status_ = PLEXUS_OK;
    std::string why_;
};

} // namespace plexus::ucx
