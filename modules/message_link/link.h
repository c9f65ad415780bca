// SPDX-License-Identifier: BSD-3-Clause
// One link: its states, from the first hello to the last goodbye, and the two halves that move
// messages. What any thread may touch is under the port's lock; the rest is the progress
// thread's. No callback runs under a lock.
//
//   connecting --answer--> open --given up--> leaving --> over
//   greeting  --confirm--> open --lost------> failing --> over
//
// leaving: what was accepted is still sent. failing: waits until nothing is written to the host's
// memory any more, then the host is told. over: the peer is told, then the link is freed.
#pragma once

#include "message_link/credit.h"
#include "message_link/opening.h"
#include "message_link/receiver.h"
#include "message_link/sender.h"

namespace plexus::message_link {

class Engine;

class Link {
  public:
    using RemoteKey = message_link::RemoteKey;
    enum class State : std::uint8_t { connecting, greeting, open, leaving, failing, over };

    Link(Engine& engine, Port& port, void* cookie, const plexus_id& peer_id, Bytes descriptor);
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    // The host's half: the functions of the same names in abi.h. @thread any, serialised by the host
    std::int32_t send(const plexus_view* pieces, std::uint32_t count, void* token);
    void disconnect();
    std::uint32_t row() const;
    std::int32_t set(const char* key, const char* value, plexus_text& reason) const;
    std::int32_t attach(plexus_view key, RemoteKey*& remote);
    void detach(RemoteKey& remote);
    std::int32_t get(RemoteKey& remote, std::uint64_t offset, void* into, std::size_t size, void* token);
    std::int32_t put(RemoteKey& remote, std::uint64_t offset, const void* from, std::size_t size,
                     void* token);

    // @thread progress
    void connect();                                                          ///< the way there, and the hello
    void greet(Opening opening, const End& far, std::unique_ptr<Peer> peer); ///< accepted: answers
    void arrived(Message& message, bool& kept);
    /// A posted send, get or put is over.
    void sent(const Event& event);
    /// Goes on with what waits for room. True: something went. `done`: nothing waits any more.
    bool carry_on(bool& done);
    /// The host wants to know when there is room: true once there is, or the link has ended.
    bool has_room(bool retry);
    void say(Kind kind, const Bytes& body = {});
    void check_times(Clock::time_point now);
    /// The host has given it up: what it had accepted is still sent.
    void leave();
    /// Begins to end: the host hears of it when nothing is written any more. The first reason counts.
    void lose(std::int32_t status, std::string why);
    /// A step towards the end. True: the link need not be looked after any more; `may_be_freed`.
    bool try_to_end(bool& may_be_freed);
    /// Ends what is under way by callbacks.
    void end_everything();

    bool is_given_up() const noexcept { return given_up_.load(std::memory_order_relaxed); }
    Peer* peer() const noexcept { return peer_.get(); }
    const plexus_host& host() const noexcept;

    Engine& engine;
    Port& port;
    void* cookie;
    End mine;                        ///< its slot and token are set when it gets them
    State state = State::connecting; ///< changed by the progress thread, under the port's lock
    Credit credit;
    Sender sender;
    Receiver receiver;

    /// The progress thread's account of the peer and of the link's end.
    struct Watch {
        Clock::time_point deadline{}; ///< of opening, leaving, failing, or of the goodbye
        Clock::time_point
            next_try{}; ///< while it opens or is over: when a library without room is asked again
        Clock::time_point heard{};
        bool asked = false;              ///< a ping is out
        bool exited = false;             ///< the peer's process has ended
        bool ending = false;             ///< the engine looks after its end
        std::uint32_t silent = 0;        ///< turns without a message since the peer's process ended
        std::int32_t status = PLEXUS_OK; ///< while failing
        std::string why;
    } watch;

  private:
    void take_answer(ByteView body);
    void take_confirm(ByteView body);
    void set_state(State next);
    bool may_tell_peer();
    void report_lost();
    bool may_be_freed();
    template <class Call>
    std::int32_t move(Call&& call, std::size_t size);

    plexus_id peer_id_;
    const Bytes descriptor_; // of the peer, while it is connected to
    std::unique_ptr<Peer> peer_;
    std::unique_ptr<Opening> opening_;
    std::vector<std::unique_ptr<RemoteKey>> remotes_; // under the port's lock
    // [given up] Set by disconnect, read before each callback. Relaxed: a callback that began
    // before may still be running.
    std::atomic<bool> given_up_{false};
};

/// Messages are moved.
constexpr bool is_alive(Link::State state) noexcept {
    return state == Link::State::open || state == Link::State::leaving;
}
constexpr bool is_opening(Link::State state) noexcept {
    return state == Link::State::connecting || state == Link::State::greeting;
}

} // namespace plexus::message_link
