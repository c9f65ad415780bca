// SPDX-License-Identifier: BSD-3-Clause
// A group in one of its contexts: who its members are, how its calls are planned, and the paths by which they
// are executed.
//
//   arguments -> Planner -> PlannedCall -> MessagePath, SharedMemoryPath, MulticastPath or Hierarchy
//
// The calls that are under way are in the CallTable, whatever their path: enter(). A thread that is blocked
// in one waits in the CallWaiter, or in a way of its path's own. What ends a call early breaks the group:
// break_up().
#pragma once

#include "group/call_table.h"
#include "group/call_waiter.h"
#include "group/failure_detector.h"
#include "group/hierarchy.h"
#include "group/membership.h"
#include "group/message_path.h"
#include "group/multicast_path.h"
#include "group/planner.h"
#include "group/shared_memory_path.h"

#include <atomic>
#include <functional>

namespace plexus::eco::detail {

class GroupState : public std::enable_shared_from_this<GroupState> {
  public:
    /// Enters it into the mailbox's registry.
    static std::shared_ptr<GroupState> make(std::shared_ptr<Mailbox> mailbox, std::uint64_t id, Rank me,
                                            std::vector<Member> members, GroupOptions options,
                                            ParentGroup parent = {});
    explicit GroupState(Membership members);
    ~GroupState();

    const Membership& members() const noexcept { return members_; }
    Rank me() const noexcept { return members_.me(); }
    Rank size() const noexcept { return members_.size(); }
    const GroupOptions& options() const noexcept { return members_.options(); }
    Planner& planner() noexcept { return planner_; }
    CallTable& calls() noexcept { return calls_; }
    FailureDetector& failures() noexcept { return failures_; }
    CallWaiter& waiter() noexcept { return waiter_; }
    SharedMemoryPath& memory() noexcept { return memory_; }
    MulticastPath& multicast() noexcept { return multicast_; }

    /// By member. Before any call except the calls that gather them.
    /// @error not_found the map lacks a host (thrown)
    void learn_facts(std::vector<MemberFacts> facts) PLEXUS_EXCLUDES(mutex_);
    /// From the next call on plans follow this map, which has the hosts of the first one. All members call it
    /// between the same two calls. `epoch`: how often the map has changed.
    void learn_map(const std::shared_ptr<const Map>& map, std::uint32_t epoch) PLEXUS_EXCLUDES(mutex_);
    /// If members share memory on each of several hosts: see Hierarchy. As SharedMemoryPath::make().
    void make_hierarchy() PLEXUS_EXCLUDES(mutex_);
    /// Groups that were made of this one so far: the next one's number. @thread any
    std::uint64_t count_child() noexcept { return children_.fetch_add(1, std::memory_order_relaxed); }

    /// When a call that begins now has to end. @thread any
    Clock::time_point ends_at(Deadline wanted) const {
        return detail::ends_at(wanted == Deadline{} ? members_.context().call_deadline() : wanted);
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
                       std::shared_ptr<plexus::detail::CallState>* state = nullptr);

    /// Enters a call of any path into the table, and does what the messages demand that came before it.
    Execution& enter(std::unique_ptr<Execution> fresh);
    /// Does what a message that arrived demands. @thread any, under no lock
    void act(Consequence what);
    /// A message of a call. @thread any, under no lock
    void arrive(const MessageHeader& head, Bytes bytes);
    ShownGroup shown() const;

    /// No call can end well any more. `tell`: informs the other members.
    void break_up(Status status, const std::string& why, bool tell) PLEXUS_EXCLUDES(mutex_);
    /// The same, because this member has no memory left for its call. All are told.
    void break_for_memory() PLEXUS_EXCLUDES(mutex_);
    /// The first step of break_up(): from now on every call fails, and threads that wait in one are woken.
    /// What it gives is the second: it ends the calls with a future, whose continuations run there. Empty:
    /// the group was broken before.
    std::function<void()> break_now(Status status, const std::string& why);

  private:
    void run_hierarchical(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
                          Clock::time_point deadline) PLEXUS_EXCLUDES(mutex_);
    void run_telling(const PlannedCall& planned, CollectiveArgs args, Clock::time_point deadline)
        PLEXUS_EXCLUDES(mutex_);
    std::shared_ptr<const Hierarchy> hierarchy() const PLEXUS_EXCLUDES(mutex_);

    Membership members_;
    Planner planner_;
    CallTable calls_;
    FailureDetector failures_;
    CallWaiter waiter_;
    MessagePath messages_;
    SharedMemoryPath memory_;
    MulticastPath multicast_;
    std::atomic<std::uint64_t> children_{0};

    mutable RankedMutex<10> mutex_;
    std::shared_ptr<const Hierarchy> hierarchy_ PLEXUS_GUARDED_BY(mutex_);
};

} // namespace plexus::eco::detail
