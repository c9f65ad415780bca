// SPDX-License-Identifier: BSD-3-Clause
// Calls that wait for an answer: a slot for each, given back when the answer comes. An id is the
// slot's index and its generation; no id is given twice, so a late answer never ends another call.
// While something reads or writes memory of a transfer's caller, the call is held: what would end it is
// noted, and the caller hears of it when the hold is over.
#pragma once

#include "base/mutex.h"
#include "base/result.h"
#include "plexus/future.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace plexus::transport {
class Channel;
class Peer;
struct Link;
} // namespace plexus::transport

namespace plexus::request {

class Calls {
  public:
    using Clock = std::chrono::steady_clock;

    struct Entry {
        std::shared_ptr<detail::CallState> state;
        const transport::Peer* peer = nullptr;
        std::span<std::byte> into{}; ///< where the answer's bytes belong; bulk only
        /// The channel that carries the request. Null: none yet, or a module moves the
        /// bytes by itself.
        transport::Channel* via = nullptr;
        /// The request may not have arrived: its link broke, and the method keeps no copies.
        bool uncertain = false;
        std::string_view types{}; ///< of the request, for a refusal of its signature
    };
    /// What the caller is told. Status ok: the transfer is done.
    struct Ending {
        Status status = Status::ok;
        std::string why{}; ///< empty at a deadline
    };
    struct Ended {
        Entry entry; ///< empty: nothing has ended
        Ending ending;
    };
    /// What touches the memory of a transfer's caller.
    enum class Use : std::uint8_t {
        send,  ///< a frame is made of it: the answer may come before its sender has left
        place, ///< a link places the answer
        move,  ///< a module moves the bytes by itself
    };
    enum class Outcome : std::uint8_t {
        unknown, ///< there is no such call, or it has been ended before
        ended,
        noted, ///< let_go() ends it
    };
    /// The request of a call that nobody waits for any more.
    struct Abandoned {
        std::shared_ptr<const transport::Peer> peer; ///< keeps the channel
        transport::Channel* via;
        std::uint64_t call;
    };

    /// `first_generation` is the generation of new slots: tests begin near the end.
    explicit Calls(std::size_t most, std::uint32_t first_generation = 0)
      : most_(std::min<std::size_t>(most, UINT32_MAX))
      , first_generation_(first_generation) {}

    /// Gives the call an id. @error again as many calls wait as limits.calls allows
    Result<std::uint64_t> add(Entry entry) PLEXUS_EXCLUDES(mutex_);
    /// Takes the call out; an empty entry if no call to that peer has that id, or the call is held.
    Entry take(std::uint64_t id, const transport::Peer* peer) PLEXUS_EXCLUDES(mutex_);
    /// Ends the call: `entry` is to be told.
    Outcome end(std::uint64_t id, const transport::Peer* peer, const Ending& ending, Entry& entry)
        PLEXUS_EXCLUDES(mutex_);
    /// The request is about to be sent by `via`. False: the call has ended meanwhile.
    bool goes_by(std::uint64_t id, const transport::Peer* peer, transport::Channel* via)
        PLEXUS_EXCLUDES(mutex_);

    /// The memory of the call is going to be used; only if nothing else uses it. False: leave it alone.
    bool hold(std::uint64_t id, const transport::Peer* peer, Use use) PLEXUS_EXCLUDES(mutex_);
    /// The same for an answer of `size` bytes that `by` is going to place. Null: not there.
    std::byte* land(std::uint64_t id, const transport::Peer* peer, std::size_t size, transport::Link& by)
        PLEXUS_EXCLUDES(mutex_);
    /// Nobody uses the memory any more. Takes the call out if it was ended meanwhile, or ends so.
    /// `by`: only if that link holds it.
    Ended let_go(std::uint64_t id, const transport::Peer* peer, std::optional<Ending> ending = {},
                 const transport::Link* by = nullptr) PLEXUS_EXCLUDES(mutex_);
    /// The link that places its answer; null: none does.
    transport::Link* placer(std::uint64_t id, const transport::Peer* peer) const PLEXUS_EXCLUDES(mutex_);
    /// True if something uses the memory and the answer cannot have come.
    bool is_moving(std::uint64_t id, const transport::Peer* peer) const PLEXUS_EXCLUDES(mutex_);
    /// Links that still place the answer of a call which was ended before `since`; `next`: when the
    /// oldest of the others was.
    std::vector<transport::Link*> placing_since(Clock::time_point since, Clock::time_point& next) const
        PLEXUS_EXCLUDES(mutex_);
    /// The requests that were cancelled or too late since the last call of this.
    std::vector<Abandoned> take_abandoned() PLEXUS_EXCLUDES(mutex_);

    /// The call ends at `when`, unless it has before. True: no other deadline is earlier.
    bool expires(std::uint64_t id, Clock::time_point when) PLEXUS_EXCLUDES(mutex_);
    /// Ends the calls whose deadline has passed; `next` is the earliest of the others, or max().
    std::vector<Entry> take_expired(Clock::time_point now, Clock::time_point& next) PLEXUS_EXCLUDES(mutex_);
    /// How many of them are remembered: those of calls that wait, and not many more.
    std::size_t deadlines() const PLEXUS_EXCLUDES(mutex_);
    /// Ends all calls to one peer. `forced`: also those that are held, since nothing moves any more.
    std::vector<Entry> take_all(const transport::Peer* peer, const Ending& ending, bool forced = false)
        PLEXUS_EXCLUDES(mutex_);
    /// Ends the calls whose request went by `via`: all of them, or those that mark_uncertain() named.
    std::vector<Entry> take_all_by(const transport::Channel* via, const Ending& ending,
                                   bool only_uncertain = false) PLEXUS_EXCLUDES(mutex_);
    /// The requests that `via` carried so far may not have arrived.
    void mark_uncertain(const transport::Channel* via) PLEXUS_EXCLUDES(mutex_);
    /// What `from` carried is carried by `to` now.
    void moved(const transport::Channel* from, transport::Channel* to) PLEXUS_EXCLUDES(mutex_);
    bool awaits(const transport::Peer* peer) const PLEXUS_EXCLUDES(mutex_);
    bool awaits_by(const transport::Channel* via) const PLEXUS_EXCLUDES(mutex_);

  private:
    struct Slot {
        Entry entry;
        std::uint32_t generation = 0;
        bool held = false; ///< see holds_
    };
    struct Hold {
        Use use;
        transport::Link* by = nullptr; ///< of Use::place
        std::optional<Ending> ending{};
        Clock::time_point ended{};
    };
    struct Deadline {
        Clock::time_point when;
        std::uint64_t id;
    };
    bool present(std::uint64_t id) const noexcept PLEXUS_REQUIRES(mutex_);
    const Slot* find(std::uint64_t id, const transport::Peer* peer) const PLEXUS_REQUIRES(mutex_);
    std::uint64_t id_of(std::size_t slot) const PLEXUS_REQUIRES(mutex_);
    Entry free(std::size_t slot) PLEXUS_REQUIRES(mutex_);
    Outcome end(std::size_t slot, const Ending& ending, Entry& entry) PLEXUS_REQUIRES(mutex_);

    const std::size_t most_;
    const std::uint32_t first_generation_;
    mutable RankedSpinlock<40> mutex_;
    std::vector<Slot> slots_ PLEXUS_GUARDED_BY(mutex_);
    std::vector<std::uint32_t> free_ PLEXUS_GUARDED_BY(mutex_);
    // A heap, the earliest first. Calls that were answered stay in it until it is twice as long as needed.
    std::vector<Deadline> deadlines_ PLEXUS_GUARDED_BY(mutex_);
    std::unordered_map<std::uint64_t, Hold> holds_ PLEXUS_GUARDED_BY(mutex_); ///< few: by the ids of calls
    std::vector<Abandoned> abandoned_ PLEXUS_GUARDED_BY(mutex_);
    std::size_t retired_ PLEXUS_GUARDED_BY(mutex_) = 0; ///< slots whose generations are used up
};

} // namespace plexus::request
