// SPDX-License-Identifier: BSD-3-Clause
// The sending half of a link. Small messages are copied and counted (credit.h). A large one is
// carried by the port; or announced, and the receiver fetches it out of our memory and says so;
// or, if neither works, it follows its announcement in parts, and what comes after it waits.
//
// Everything is under the lock of the link's port. Clang can't see that it is the same lock through the
// link: functions that call the port are left out of its analysis.
#pragma once

#include "message_link/port.h"

#include <deque>
#include <utility>
#include <vector>

namespace plexus::message_link {

class Link;

class Sender {
  public:
    explicit Sender(Link& link)
      : link_(link) {}

    /// plexus_ops::send, for a link that is open.
    std::int32_t send(const plexus_view* pieces, std::uint32_t count, std::uint64_t size, void* token);
    /// Sends a message of the protocol, without regard to credit. What finds no room is kept, and goes first.
    void say(Kind kind, const Bytes& body);
    /// Sends what was kept, and parts. True: something went. Adds to `over` the tokens of messages that
    /// are through.
    bool carry_on(std::vector<void*>& over);
    /// carry_on() has nothing more to do.
    bool has_nothing_left() const noexcept { return broken_ || (parts_ == nullptr && unsaid_.empty()); }
    /// The host was told AGAIN: a send is worth repeating.
    bool has_room(bool retry) const PLEXUS_NO_THREAD_SAFETY;
    void want_room();
    void grant() noexcept { wants_room_ = stalled_ = crowded_ = false; }
    bool is_stalled() const noexcept { return stalled_; }

    /// The peer has fetched a message. Null: not the one that is next.
    void* fetched(std::uint32_t id);
    /// A posted send, get or put is over, or has begun.
    void post_is_over(std::uint64_t bytes) noexcept;
    void count_posted(std::uint64_t bytes) noexcept;
    /// What the port has of the host's: the link may not be freed before it is over.
    bool has_posted() const noexcept { return posted_ > 0; }

    /// Nothing that the peer has yet to take, or the library to send.
    bool is_idle() const PLEXUS_NO_THREAD_SAFETY;
    /// Sending failed: the link is lost.
    void fail(std::string why);
    bool is_broken() const noexcept { return broken_; }
    const std::string& why_broken() const noexcept { return why_; }
    /// Gives up all large messages but those that the port carries: their tokens.
    std::vector<void*> give_up();
    /// What found no room so far is not said any more.
    void fall_silent() { unsaid_.clear(); }
    bool has_unsaid() const noexcept { return !unsaid_.empty(); }

    std::uint64_t queued_bytes() const PLEXUS_NO_THREAD_SAFETY;
    End far;                     ///< once it is known
    bool wants_carrying = false; ///< the engine's: the link is on its list of those, or will be

  private:
    /// A large message that the peer fetches.
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

    bool may_post() const;
    bool has_most_large() const noexcept;
    Header header(Kind kind) const;
    void count(const Header& header);
    Outcome post(Kind kind, const plexus_view* pieces, std::uint32_t count,
                 std::size_t size) PLEXUS_NO_THREAD_SAFETY;
    std::int32_t result_of(Outcome outcome);
    std::int32_t send_carried(const plexus_view* pieces, std::uint32_t count, std::uint64_t size,
                              void* token);
    std::int32_t send_announced(const plexus_view* pieces, std::uint32_t count, std::uint64_t size,
                                void* token);
    bool push_parts(std::vector<void*>& over);
    bool push_part();

    Link& link_;
    std::uint16_t number_ = 0;
    std::uint32_t next_offer_ = 0;
    std::uint32_t posted_ = 0;
    std::uint64_t queued_ = 0; // bytes of large messages
    std::deque<Offer> offers_;
    std::unique_ptr<Parts> parts_;
    std::deque<std::pair<Kind, Bytes>> unsaid_;
    bool wants_room_ = false; // the engine looks after it until there is room
    bool stalled_ = false;    // by the library: it is tried again after a while
    bool crowded_ = false;    // a large message waits until fewer of them are under way
    bool broken_ = false;
    std::string why_;
};

} // namespace plexus::message_link
