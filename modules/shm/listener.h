// SPDX-License-Identifier: BSD-3-Clause
// The socket on which peers connect to a context, and the callers: connections that have not yet proved the
// key. Their number is bounded. A peer sends its hello together with its connect, so callers that have sent
// nothing have a small bound of their own: a flood of them does not keep peers out. The other bound is large:
// all contexts of a job may connect to one context at the same time. @thread progress
#pragma once

#include "shm/event_set.h"
#include "shm/opening.h"

#include <memory>
#include <optional>
#include <vector>

namespace plexus::shm {

class Listener {
  public:
    /// Callers that have sent nothing: above this number the oldest is dropped.
    static constexpr std::size_t kMostSilent = 64;
    /// See most_callers().
    static constexpr std::size_t kFewestCallers = 2 * kMostSilent;
    static constexpr std::size_t kMostCallers = 1024;
    /// Callers that one turn accepts, so that links have their share of the turn.
    static constexpr std::uint32_t kMostAtOnce = 16;
    /// Calls of accept() in one turn: callers that have hung up while they waited cost little.
    static constexpr std::uint32_t kMostLooks = 64;

    // What an event of the set is about.
    static constexpr std::uint64_t kListenerTag = 1;
    static constexpr std::uint64_t kCallerTag = std::uint64_t{1} << 32; // + id

    Listener(const plexus_host& host, EventSet& events)
      : host_(host)
      , events_(events) {}

    /// False: errno says why.
    bool open(const SocketName& name) noexcept;
    void close() noexcept;

    /// Accepts the callers that are waiting, kMostAtOnce of them at most; `until`: their deadline. Calls
    /// `hear(id)` for each.
    template <class Hear>
    void accept_waiting(Clock::time_point until, Hear&& hear) {
        std::uint32_t count = 0;
        crowded_ = true;
        for (std::uint32_t looks = 0; count < kMostAtOnce && looks < kMostLooks && crowded_; ++looks) {
            if (const auto id = accept(until)) {
                hear(*id);
                ++count;
            }
        }
    }
    /// Reads from a caller. Returns the caller's opening if it has proved the key: it is no caller any more.
    std::unique_ptr<Opening> step(std::uint32_t id);
    /// Drops the callers whose deadline has passed; watches the socket again after a shortage.
    void check_time(Clock::time_point now);

    /// True: callers wait to be read from or accepted; look again soon, because a full queue keeps peers out.
    bool is_busy() const noexcept { return crowded_ || !callers_.empty(); }
    std::size_t caller_count() const noexcept { return callers_.size(); }
    /// All callers: above this number the oldest that is silent is dropped; if none is silent, the oldest. A
    /// quarter of the descriptors that this process may have, from kFewestCallers to kMostCallers.
    std::size_t most_callers() const noexcept { return most_callers_; }
    /// When check_time() must be called next; empty: never.
    std::optional<Clock::time_point> next_check() const noexcept;

  private:
    struct Caller {
        std::uint32_t id;
        std::unique_ptr<Opening> opening;
    };

    /// Empty: the caller has hung up, or, with crowded_ false, no caller is waiting.
    std::optional<std::uint32_t> accept(Clock::time_point until);
    std::unique_ptr<Opening> drop(std::size_t index);
    void make_room();
    void shut(int reason);

    const plexus_host& host_;
    EventSet& events_;
    UniqueFd socket_;
    std::vector<Caller> callers_; // oldest first
    std::size_t most_callers_ = kFewestCallers;
    std::uint32_t next_id_ = 0;
    bool crowded_ = false; // more callers may be waiting
    bool shut_ = false;    // no descriptor for another caller: it is tried again later
    Clock::time_point tried_{};
};

} // namespace plexus::shm
