// SPDX-License-Identifier: BSD-3-Clause
// A group in one of its contexts: its members, the calls that are under way, and the path that every
// collective call takes.
#pragma once

#include "group/execution.h"
#include "group/hierarchy.h"
#include "group/mailbox.h"
#include "group/planner.h"
#include "host/shared_arena.h"
#include "multicast/channel.h"
#include "plexus/eco/algorithm.h"

#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace plexus::eco::detail {

/// What a member says about its multicast when the group is made.
struct MulticastOffer {
    enum class Wish : std::uint8_t { off, on, automatic };
    Wish wish = Wish::off;
    bool chosen = false; ///< the interface is the user's choice
    multicast::Interface interface = {};
};

/// What a member says of itself.
struct MemberFacts {
    std::string host = {};
    std::string socket = {}; ///< a name on its host; empty: none in particular
    MulticastOffer multicast = {};
};

struct Member {
    GlobalPointer<Mailbox> mailbox;
    MemberFacts facts = {};
};

/// Of a group that executes a part of another group's calls: what breaks it breaks that group as well.
struct ParentGroup {
    std::weak_ptr<GroupState> whole = {};
    std::vector<Rank> names = {}; ///< the members' ranks in the other group, for error texts

    /// Ends a call with what the user's operation threw; a part of the other group's call with
    /// host::OperationThrew, because that call has to tell it from errors of its own.
    [[noreturn]] void rethrow(const std::exception_ptr& thrown) const;
};

} // namespace plexus::eco::detail
namespace plexus::eco {
class Group;
}
namespace plexus::eco::detail {

class GroupState : public std::enable_shared_from_this<GroupState> {
  public:
    /// Enters it into the mailbox's registry.
    static std::shared_ptr<GroupState> make(std::shared_ptr<Mailbox> mailbox, std::uint64_t id, Rank me,
                                            std::vector<Member> members, GroupOptions options,
                                            ParentGroup parent = {});
    GroupState(std::shared_ptr<Mailbox> mailbox, std::uint64_t id, Rank me, std::vector<Member> members,
               GroupOptions options, ParentGroup parent);
    ~GroupState();

    const std::shared_ptr<Mailbox>& mailbox() const noexcept { return mailbox_; }
    std::uint64_t id() const noexcept { return id_; }
    Rank me() const noexcept { return me_; }
    Rank size() const noexcept { return static_cast<Rank>(members_.size()); }
    const std::vector<Member>& members() const noexcept { return members_; }
    const GroupOptions& options() const noexcept { return options_; }
    Planner& planner() noexcept { return planner_; }
    /// By member. Before any call except the calls that gather them.
    /// @error not_found the map lacks a host (thrown)
    void learn_facts(std::vector<MemberFacts> facts) PLEXUS_EXCLUDES(mutex_);
    /// From the next call on plans follow this map, which has the hosts of the first one. All members call it
    /// between the same two calls. `epoch`: how often the map has changed.
    void learn_map(const Map& map, std::uint32_t epoch) PLEXUS_EXCLUDES(mutex_);
    /// If all members are on one host, they agree on memory that all of them share, or that there is none.
    /// All members call it, after learn_facts(). @error as a collective call (thrown)
    void share_memory();
    bool shares_memory() const noexcept { return arena_ != nullptr; }
    /// If members share memory on each of several hosts: see Hierarchy. As share_memory().
    void make_hierarchy() PLEXUS_EXCLUDES(mutex_);
    /// If all members ask for multicast and hear each other, they agree on its place and its key, and measure
    /// it if they are to choose it automatically. All members call it, last. @error as share_memory()
    void make_multicast() PLEXUS_EXCLUDES(mutex_);
    /// Groups that were made of this one so far: the next one's number.
    std::uint64_t count_child() PLEXUS_EXCLUDES(mutex_);

    /// When a call that begins now has to end. @thread any
    Clock::time_point ends_at(Deadline wanted) const {
        return detail::ends_at(wanted == Deadline{} ? mailbox_->context().call_deadline() : wanted);
    }

    /// Checks and plans a call. @error as Collectives (thrown)
    std::shared_ptr<const PlannedCall> prepare(const CollectiveArgs& args, const Algorithm& algorithm,
                                               bool blocking);
    /// Executes it. @thread any @error would_deadlock inside an inline handler (thrown)
    void run(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
             Clock::time_point deadline = Clock::time_point::max()) PLEXUS_EXCLUDES(mutex_);
    /// Begins it, by messages. The future is settled at its end.
    Future<void> start(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
                       Clock::time_point deadline = Clock::time_point::max(),
                       std::shared_ptr<plexus::detail::CallState>* state = nullptr) PLEXUS_EXCLUDES(mutex_);

    // For the mailbox.

    void arrive(const MessageHeader& head, Bytes bytes) PLEXUS_EXCLUDES(mutex_);
    /// A member has all datagrams of a call by multicast below `below`.
    void hear_confirmed(std::uint32_t call, std::uint32_t digest, Rank member, std::uint32_t below)
        PLEXUS_EXCLUDES(mutex_);
    /// The data of datagrams of such a call, one after the other: pairs of a first number and a count. Empty:
    /// the call has not begun here. A first byte is never data.
    std::vector<std::byte> repair(std::uint32_t call, std::uint32_t digest,
                                  std::span<const std::uint32_t> ranges) PLEXUS_EXCLUDES(mutex_);
    std::string text_of(std::uint32_t call) PLEXUS_EXCLUDES(mutex_);
    ShownGroup shown() PLEXUS_EXCLUDES(mutex_);
    /// It executes parts of another group's calls.
    bool is_part() const noexcept { return !parent_.names.empty(); }
    Presence presence(std::uint32_t call, std::uint32_t digest) PLEXUS_EXCLUDES(mutex_);
    void take_early(std::vector<EarlyMessage> early) PLEXUS_EXCLUDES(mutex_);
    /// No call can end well any more. `tell`: informs the other members.
    void break_up(Status status, const std::string& why, bool tell) PLEXUS_EXCLUDES(mutex_);
    /// The first step of it: from now on every call fails, and threads that wait in one are woken. What it
    /// gives is the second: it ends the calls with a future, whose continuations run there. Empty: the group
    /// was broken before.
    std::function<void()> break_now(Status status, const std::string& why) PLEXUS_EXCLUDES(mutex_);

  private:
    class ArenaWait;
    class MulticastCall;
    class Reading;
    /// What must be done about a message that arrived, without the lock.
    struct Consequence {
        enum class Kind : std::uint8_t { none, resume, differ, break_up };
        Kind kind = Kind::none;
        Execution* call = nullptr; ///< to be resumed by this thread; null: its thread goes on
        std::shared_ptr<CompletionState> sleeper = nullptr; ///< that thread's, if it sleeps
        Rank sender = 0;
        std::uint32_t number = 0;
        Status status = Status::ok;
        std::string why = {};
    };

    Execution& begin(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
                     Clock::time_point deadline, std::shared_ptr<CompletionState> future = {})
        PLEXUS_EXCLUDES(mutex_);
    std::unique_ptr<Execution> spare() PLEXUS_REQUIRES(mutex_);
    Execution& enter(std::unique_ptr<Execution> fresh) PLEXUS_EXCLUDES(mutex_);
    void advance(Execution& call) PLEXUS_EXCLUDES(mutex_);
    bool send(Execution& call, const ScheduleOp& op) PLEXUS_EXCLUDES(mutex_);
    void retry_later(Execution& call);
    bool hold_back(Execution& call, const ScheduleOp& op) PLEXUS_EXCLUDES(mutex_);
    bool sleep_until(Execution& call, Clock::time_point due) PLEXUS_EXCLUDES(mutex_);
    bool take(Execution& call, const ScheduleOp& op) PLEXUS_EXCLUDES(mutex_);
    Consequence keep_early(const MessageHeader& head, Bytes bytes) PLEXUS_REQUIRES(mutex_);
    Consequence take_message(Execution& call, const MessageHeader& head, Bytes bytes) PLEXUS_REQUIRES(mutex_);
    Consequence resume(Execution& call) PLEXUS_REQUIRES(mutex_);
    void act(Consequence what) PLEXUS_EXCLUDES(mutex_);
    void wait(Execution& call) PLEXUS_EXCLUDES(mutex_);
    void finish(Execution& call) PLEXUS_EXCLUDES(mutex_);
    void release(Execution& call) PLEXUS_REQUIRES(mutex_);
    /// Runs a call on this thread, and gives it back. `body` gives true if the call is whole; what it throws
    /// breaks the group. @error what broke it, or what the user's operation threw here (thrown)
    template <class Body>
    void run_here(Execution& call, Body body) PLEXUS_EXCLUDES(mutex_);
    void run_in_memory(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
                       Clock::time_point deadline) PLEXUS_EXCLUDES(mutex_);
    void run_hierarchical(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
                          Clock::time_point deadline) PLEXUS_EXCLUDES(mutex_);

    void run_by_multicast(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
                          Clock::time_point deadline) PLEXUS_EXCLUDES(mutex_);
    std::string why_no_multicast(bool by_loopback) const;
    bool hear_all(multicast::Channel& channel) const;
    std::uint32_t measure_multicast(const Group& self);

    // Members that fail, see failures.cpp.
    void watch_later() PLEXUS_EXCLUDES(mutex_);
    void look_after() PLEXUS_EXCLUDES(mutex_);
    void ask_after(Rank peer, std::uint32_t call, std::uint32_t digest) PLEXUS_EXCLUDES(mutex_);
    void find_difference(Rank peer, std::uint32_t call, std::uint32_t last) PLEXUS_EXCLUDES(mutex_);
    void differ(Rank peer, std::uint32_t call) PLEXUS_EXCLUDES(mutex_);
    bool waits_for(Rank peer, std::uint32_t number) PLEXUS_EXCLUDES(mutex_);
    void hear_left(Rank peer, std::uint32_t number) PLEXUS_EXCLUDES(mutex_);
    std::string text_of_deadline(const Execution& call) const;
    void expire(const Execution& call) PLEXUS_EXCLUDES(mutex_);
    void expire_late() PLEXUS_EXCLUDES(mutex_);
    void tell_others(Status status, const std::string& why);
    void lost(Rank peer, const Error& error) PLEXUS_EXCLUDES(mutex_);
    void wake_sleepers() PLEXUS_EXCLUDES(mutex_);
    bool crowded() const noexcept { return per_processor_ > 1; }
    Rank name(Rank member) const {
        return member < parent_.names.size() ? parent_.names[member] : member; // what came may name any
    }
    Execution* find(std::uint32_t number) PLEXUS_REQUIRES(mutex_);
    [[noreturn]] void throw_broken() const PLEXUS_REQUIRES(mutex_);
    std::string text_of_throw() const;
    Consequence broken_by_operation() const;
    std::string why_broken() const PLEXUS_REQUIRES(mutex_);

    const std::shared_ptr<Mailbox> mailbox_;
    const std::uint64_t id_;
    const Rank me_;
    std::vector<Member> members_;
    const GroupOptions options_;
    const ParentGroup parent_;
    Planner planner_;
    std::unique_ptr<host::SharedArena> arena_;      ///< if all members share memory; of blocking calls
    std::unique_ptr<multicast::Channel> multicast_; ///< if all members hear each other; of blocking calls
    bool one_host_ = false;
    int per_processor_ = 1; ///< members on this host for each of its processors, rounded up

    RankedMutex<10> mutex_;
    std::uint32_t next_ PLEXUS_GUARDED_BY(mutex_) = 0;
    std::uint64_t children_ PLEXUS_GUARDED_BY(mutex_) = 0;
    std::shared_ptr<Hierarchy> hierarchy_ PLEXUS_GUARDED_BY(mutex_);
    std::vector<std::unique_ptr<Execution>> calls_ PLEXUS_GUARDED_BY(mutex_); // under way
    std::vector<std::unique_ptr<Execution>> spare_ PLEXUS_GUARDED_BY(mutex_);
    Pool pool_ PLEXUS_GUARDED_BY(mutex_);
    std::map<std::uint32_t, std::vector<EarlyMessage>> early_ PLEXUS_GUARDED_BY(mutex_); // by call
    std::size_t early_bytes_ PLEXUS_GUARDED_BY(mutex_) = 0;
    std::vector<Rank> asked_ PLEXUS_GUARDED_BY(mutex_); // members that have not answered yet
    bool watched_ PLEXUS_GUARDED_BY(mutex_) = false;    // a timer for look_after() runs
    CallHistory past_ PLEXUS_GUARDED_BY(mutex_);
    std::optional<std::pair<Status, std::string>> broken_ PLEXUS_GUARDED_BY(mutex_);
};

} // namespace plexus::eco::detail
