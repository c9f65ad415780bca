// SPDX-License-Identifier: BSD-3-Clause
// A group in one of its contexts: who the members are, which calls are under way, and the one
// way through the code that every collective takes.
#pragma once

#include "group/execution.h"
#include "group/hierarchy.h"
#include "group/mailbox.h"
#include "group/planner.h"
#include "host/shared_arena.h"
#include "plexus/eco/algorithm.h"

#include <array>
#include <map>
#include <optional>
#include <utility>

namespace plexus::eco::detail {

struct Member {
    GlobalPointer<Mailbox> mailbox;
    std::string host;
};

/// Of a group that does a part of what another is asked to do: what breaks it breaks that as well.
struct ParentGroup {
    std::weak_ptr<GroupState> whole = {};
    std::vector<Rank> names = {}; ///< its members' ranks there, by which they are called
};

class GroupState : public std::enable_shared_from_this<GroupState> {
  public:
    /// Enters it into the hub's book.
    static std::shared_ptr<GroupState> make(std::shared_ptr<Mailbox> mailbox, std::uint64_t id, Rank me,
                                            std::vector<Member> members, GroupOptions options,
                                            ParentGroup part = {});
    GroupState(std::shared_ptr<Mailbox> mailbox, std::uint64_t id, Rank me, std::vector<Member> members,
               GroupOptions options, ParentGroup part);
    ~GroupState();

    const std::shared_ptr<Mailbox>& shared_mailbox() const noexcept { return mailbox_; }
    std::uint64_t id() const noexcept { return id_; }
    Rank me() const noexcept { return me_; }
    Rank size() const noexcept { return static_cast<Rank>(members_.size()); }
    const std::vector<Member>& members() const noexcept { return members_; }
    const GroupOptions& options() const noexcept { return options_; }
    Planner& planner() noexcept { return planner_; }
    /// Hosts are known from now on. Before any call but that which gathered them.
    /// @error not_found the map lacks one (thrown)
    void learn_hosts(const std::vector<std::string>& hosts);
    /// Members on one host agree on memory that all of them share, or that there is none. All of
    /// them call it, behind learn_hosts(). @error as a collective call (thrown)
    void share_memory();
    bool shares_memory() const noexcept { return arena_ != nullptr; }
    /// Where only members on one host share memory: see Nest. As share_memory().
    void make_hierarchy();
    /// Groups that were made of this one so far: the next one's number.
    std::uint64_t count_child();

    /// Checked and planned. @error as Collectives (thrown)
    std::shared_ptr<const PlannedCall> prepare(const CollectiveArgs& args, const Algorithm& algorithm,
                                               bool blocking);
    /// Runs it to its end. @thread any @error would_deadlock inside an inline handler (thrown)
    void run(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args);
    /// Begins it, by messages; the future is settled at its end.
    Future<void> start(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
                       std::shared_ptr<plexus::detail::CallState>* state = nullptr);

    // For the hub.

    /// A message, under the lock `hold`, which may be released on return.
    void arrive(const MessageHeader& head, Bytes bytes, std::unique_lock<std::mutex>& hold);
    std::string text_of(std::uint32_t call);                     ///< under the lock
    Presence presence(std::uint32_t call, std::uint32_t digest); ///< under the lock
    void take_early(std::vector<EarlyMessage> early);            ///< under the lock
    /// No call can end well any more. `tell`: the others hear it from here. Under no lock.
    void break_up(Status status, const std::string& why, bool tell);
    void fail_later(Status status, std::string why) {
        broken_ = {status, std::move(why)};
    } ///< at the beginning
    /// Asks the members that calls have waited for too long. True: calls are still waiting.
    bool look_after();

  private:
    struct Past {
        std::uint32_t number = UINT32_MAX;
        Signature signature;
    };

    class ArenaWait;
    Execution& begin(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
                     std::shared_ptr<CompletionState> future = {});
    std::unique_ptr<Execution> spare();
    Execution& enter(std::unique_ptr<Execution> fresh, std::unique_lock<std::mutex>& hold);
    static void copy(Execution& call, const std::vector<Copy>& copies);
    void advance(Execution& call);
    bool send(Execution& call, const ScheduleOp& op);
    void arrive_at(Execution& call, const MessageHeader& head, Bytes bytes,
                   std::unique_lock<std::mutex>& hold);
    template <class Do>
    static void each_run(Execution& call, const ScheduleOp& op, std::uint64_t from, Bytes bytes, Do&& what);
    static void merge(Execution& call, const ScheduleOp& op, std::uint64_t from, Bytes bytes) noexcept;
    static void store(Execution& call, const ScheduleOp& op, std::uint64_t from, Bytes bytes);
    bool take(Execution& call, const ScheduleOp& op);
    void resume(Execution& call, std::unique_lock<std::mutex>& hold);
    void run_in_memory(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args);
    void run_hierarchical(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args);
    Rank name(Rank member) const { return parent_.names.empty() ? member : parent_.names[member]; }
    void find_difference(Rank peer, std::uint32_t call, std::uint32_t last);
    void finish(Execution& call);
    void release(Execution& call); ///< under the lock
    void wait(Execution& call);
    void ask_after(Rank peer, std::uint32_t call, std::uint32_t digest);
    void differ(Rank peer, std::uint32_t call);
    bool waits_for(Rank peer, std::uint32_t number);
    void hear_left(Rank peer, std::uint32_t number);
    void tell_others(Status status, const std::string& why);
    void lost(Rank peer, const Error& error);
    Execution* find(std::uint32_t number);
    const Signature* past(std::uint32_t number) const;
    [[noreturn]] void throw_broken() const;
    std::string why_broken() const;

    const std::shared_ptr<Mailbox> mailbox_;
    const std::uint64_t id_;
    const Rank me_;
    std::vector<Member> members_;
    const GroupOptions options_;
    const ParentGroup parent_;
    Planner planner_;
    std::unique_ptr<host::SharedArena> arena_; ///< where all members share memory; of blocking calls
    bool one_host_ = false;
    bool crowded_ = false; ///< more members on this host than it has processors

    // Under the hub's lock.
    std::uint32_t next_ = 0;
    std::uint64_t children_ = 0;
    std::shared_ptr<Hierarchy> hierarchy_;
    std::vector<std::unique_ptr<Execution>> calls_; // under way
    std::vector<std::unique_ptr<Execution>> spare_;
    std::map<std::uint32_t, std::vector<EarlyMessage>> early_; // by call
    std::size_t early_bytes_ = 0;
    std::vector<Rank> asked_; // those whose answer is not there yet
    std::array<Past, 64> past_;
    std::optional<std::pair<Status, std::string>> broken_;
};

} // namespace plexus::eco::detail
