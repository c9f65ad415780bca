// SPDX-License-Identifier: BSD-3-Clause
// The sessions of one context with others: how they begin, what they take from the network, when they end.
// A session begins with the three records of module::Handshake, each sent again until the next one answers;
// the keys of both directions follow from what was said. Tells what happened as values and calls nobody.
// Calls are serialised by the module's lock.
#pragma once

#include "plexus/module/handshake.h"
#include "udp/options.h"
#include "udp/replay_window.h"
#include "udp/sealing.h"
#include "udp/sockets.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plexus::udp {

using Clock = std::chrono::steady_clock;

class Module;

/// What both ends of an exchange know.
struct Keys {
    /// So many blocks of 16 bytes one AES-GCM key may seal: who sees them all then tells them from noise with
    /// an advantage of 2^-57 at most (RFC 9001, appendix B.1.1).
    static constexpr std::uint64_t kMostBlocks = std::uint64_t{1} << 35;

    Keys(const module::Handshake& handshake, bool dialed);
    bool worn() const noexcept { return blocks >= kMostBlocks; }
    Cipher seal;
    Cipher open;
    std::uint64_t sent = 0;   ///< the number of the last datagram: no nonce comes twice
    std::uint64_t blocks = 0; ///< sealed, with those of the headers
    ReplayWindow window;
};

/// One association with one context: the module's link.
struct Session {
    enum class State : std::uint8_t {
        dialing,    ///< the hello is out
        confirming, ///< the answer has come; open with the first sealed datagram
        pending,    ///< answered a hello; open with the confirm
        open,
        over, ///< nothing is sent or taken any more
    };
    struct Times {
        Clock::time_point began;
        Clock::time_point sent;    ///< anything
        Clock::time_point heard;   ///< anything genuine
        Clock::time_point message; ///< either way
        Clock::time_point retry;   ///< when the record is sent again
        Clock::duration pause;
        Clock::time_point due = Clock::time_point::max(); ///< when run() looks at it
    };

    // The functions of the module's table. @thread any
    void disconnect();
    std::int32_t set(const char* key, const char* value, plexus_text& why) const;
    std::int32_t send(const plexus_view* pieces, std::uint32_t count, void* token);

    Module* module; ///< whose link it is
    const bool dialed;
    module::Handshake handshake;
    State state = State::dialing;
    void* cookie = nullptr;
    std::uint32_t own = 0;              ///< how the peer addresses the session
    std::uint32_t theirs = 0;           ///< how this side does
    std::vector<std::uint8_t> record{}; ///< what is sent until it is answered
    std::string hello{};                ///< of an accepted session: what it came by
    std::vector<Path> paths{};          ///< one, once the peer has answered
    std::string other_answers{};        ///< of addresses where somebody else was found
    std::unique_ptr<Keys> keys{};
    Times times{};
    std::size_t most = 0;  ///< bytes of a message; once it is open
    bool given_up = false; ///< by the host: no callback names it any more
};

/// Something that the host is to hear.
struct Event {
    enum class What : std::uint8_t { nothing, opened, accepted, message, lost };
    What what = What::nothing;
    Session* session = nullptr;
    bool also_message = false; ///< of `opened`: it came with one
    plexus_view message{};     ///< 8-byte aligned, valid until the next datagram is taken
    std::int32_t status = PLEXUS_OK;
    std::string why;
};

class Sessions {
  public:
    Sessions(Module* module, const plexus_host& host, const Options& options, const Sockets& sockets);

    /// Begins to dial.
    Session& dial(const plexus_id& peer, std::vector<Path> paths, void* cookie);
    /// One datagram that came.
    Event take(const Path& from, Bytes datagram);
    std::int32_t send(Session& session, std::span<const plexus_view> pieces);
    /// The host has accepted it: tells the peer that it is open.
    void greet(Session& session) { say(session, Content::alive); }
    /// The host wants no more of it, or never did.
    void give_up(Session& session);
    static constexpr std::size_t kMostRun = 64; ///< sessions of one run()
    /// Looks at the sessions that are due, the earliest first, and at kMostRun of them at most. Appends what
    /// the host is to hear.
    void run(Clock::time_point now, std::vector<Event>& events);
    /// When run() is worth calling.
    Clock::time_point next() const noexcept {
        return due_.empty() ? Clock::time_point::max() : due_.begin()->first;
    }
    /// Frees those that nobody can name any more. @thread progress, between two turns
    void bury();
    /// Says goodbye on all that are open, if `tell`, and ends them.
    void end_all(bool tell);

    std::size_t open() const noexcept;
    /// Datagrams that were forged, came again, or are none.
    std::uint64_t refused() const noexcept { return refused_; }
    /// The largest message that any path carries.
    std::size_t most() const noexcept;

  private:
    Session& make(bool dialed, module::Handshake handshake, Session::State state);
    Session* find(std::uint32_t own, Session::State one, Session::State other);
    Event refuse();
    void take_hello(const Path& from, const Datagram& datagram);
    Event take_answer(const Path& from, const Datagram& datagram);
    Event turned_away(Session& session, const Path& from, std::int32_t verdict, const std::string& why);
    Event take_confirm(const Path& from, const Datagram& datagram);
    Event take_sealed(Bytes whole, const Datagram& datagram);
    Event lose(Session& session, std::int32_t status, std::string why);
    void end(Session& session);
    std::int32_t seal(Session& session, Content what, std::span<const plexus_view> pieces, std::size_t size);
    void say(Session& session, Content what) { (void)seal(session, what, {}, 0); }
    void send_record(Session& session);
    void start(Session& session, const Path& path);
    Event run(Session& session, Clock::time_point now);
    void look_at(Session& session, Clock::time_point when);
    void forget_due(Session& session) noexcept;

    Module* module_;
    const plexus_host& host_;
    const Options& options_;
    const Sockets& sockets_;
    std::unordered_map<std::uint32_t, std::unique_ptr<Session>> sessions_; ///< by the numbers of this side
    std::set<std::pair<Clock::time_point, Session*>> due_;                 ///< those that run() looks at
    std::unordered_map<std::string_view, Session*> hellos_; ///< accepted sessions by what they came by
    std::vector<std::uint32_t> ended_;                      ///< numbers of those that nobody names any more
    std::vector<Session*> pending_;                         ///< the oldest first
    std::uint64_t refused_ = 0;
    std::vector<std::uint8_t> outgoing_; ///< one datagram
    std::vector<std::uint64_t> plain_;   ///< what was opened last; the message begins with the second word
};

} // namespace plexus::udp
