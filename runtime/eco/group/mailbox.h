// SPDX-License-Identifier: BSD-3-Clause
// The mailbox that a context has for all its groups: the requests of collectives, the registry of the
// context's groups, and what has arrived for groups that do not exist yet. Knows nothing of plans.
//
// Requests that control a group (questions, news) are sent from handlers only, because a handler never
// waits for room: a member that is stopped must not hold up the other groups of the context.
#pragma once

#include "base/mutex.h"
#include "group/monitor.h"
#include "plexus/context.h"
#include "plexus/eco/plan.h"
#include "plexus/shown_group.h"

#include <array>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace plexus::eco::detail {

class GroupState;
class Mailbox;

using Bytes = std::span<const std::byte>;

/// Flag in a slot's number: the last piece of the message.
inline constexpr std::uint32_t kLastPiece = std::uint32_t{1} << 31;

/// One message of a plan, or a piece of it: group, number of the call, the receiver's slot, digest of the
/// call, the sender's rank, and the blocks. Fits into a frame's head together with eight bytes of blocks.
inline constexpr Request<void(Mailbox&, std::uint64_t, std::uint32_t, std::uint32_t, std::uint32_t,
                              std::uint32_t, Bytes)>
    kArrive{"plexus.eco.arrive"};
/// "Of your broadcast by multicast I have all datagrams below this one": group, call, digest, member, number.
inline constexpr Request<void(Mailbox&, std::uint64_t, std::uint32_t, std::uint32_t, std::uint32_t,
                              std::uint32_t)>
    kConfirm{"plexus.eco.confirm"};
/// "Of that broadcast I lack these datagrams": group, call, digest, and pairs of a first number and a count.
/// The answer is that of MulticastPath::repair().
inline constexpr Request<std::vector<std::byte>(Mailbox&, std::uint64_t, std::uint32_t, std::uint32_t,
                                                std::span<const std::uint32_t>)>
    kRepair{"plexus.eco.repair"};
/// "What is your call of that number?" The answer is a text.
inline constexpr Request<std::string(Mailbox&, std::uint64_t, std::uint32_t)> kAsk{"plexus.eco.ask"};
/// The group is broken: status and reason.
inline constexpr Request<bool(Mailbox&, std::uint64_t, std::int32_t, std::string)> kBroken{
    "plexus.eco.broken"};
/// "I wait for you in that call." The answer is a Presence.
inline constexpr Request<std::uint8_t(Mailbox&, std::uint64_t, std::uint32_t, std::uint32_t)> kAlive{
    "plexus.eco.alive"};
/// "Who is in that group?" Answered by rank, by the member that has found all others.
inline constexpr Request<std::vector<GlobalPointer<Mailbox>>(Mailbox&, std::uint64_t)> kRoster{
    "plexus.eco.roster"};
/// To this context itself: run the jobs that must run in a handler.
inline constexpr Request<void(Mailbox&)> kRunJobs{"plexus.eco.run_jobs"};

enum class Presence : std::uint8_t { here, left, differs };

struct MessageHeader {
    std::uint32_t call;
    std::uint32_t slot;
    bool last; ///< piece of its message
    std::uint32_t digest;
    Rank sender;
};

/// A message for a call, or a group, that does not exist here yet. There may be very many of them, and most
/// are small: small ones are stored without an allocation of their own.
struct EarlyMessage {
    static constexpr std::size_t kNear = 64;

    EarlyMessage(const MessageHeader& its_head, Bytes content)
      : head(its_head)
      , size(content.size())
      , far(size > kNear ? new std::byte[size] : nullptr) {
        if (size > 0) std::memcpy(far != nullptr ? far.get() : near.data(), content.data(), size);
    }
    Bytes bytes() const noexcept { return {far != nullptr ? far.get() : near.data(), size}; }

    MessageHeader head;
    std::size_t size;
    std::unique_ptr<std::byte[]> far;
    std::array<std::byte, kNear> near;
};

/// Memory that one takes.
constexpr std::size_t early_size(std::size_t bytes) noexcept {
    return sizeof(EarlyMessage) + (bytes > EarlyMessage::kNear ? bytes : 0);
}

class Mailbox : public std::enable_shared_from_this<Mailbox> {
  public:
    using Job = Monitor::Job;

    /// The mailbox of a context, created at the first call. The context may end as soon as the last holder of
    /// what of() returns has let go, or close() was called: no thread of the mailbox uses the context after
    /// that.
    static std::shared_ptr<Mailbox> of(Context& context);
    explicit Mailbox(Context& context);
    ~Mailbox();

    Context& context() noexcept { return context_; }
    GlobalPointer<Mailbox> pointer() const { return bound_.pointer(); }

    /// Until so many members have asked: the members of a group that is being made. @thread any
    void keep_roster(std::uint64_t id, std::vector<GlobalPointer<Mailbox>> members, Rank askers)
        PLEXUS_EXCLUDES(mutex_);

    /// From now on the group's messages reach it; first those that came before. @thread any
    void enter(std::uint64_t id, const std::shared_ptr<GroupState>& group) PLEXUS_EXCLUDES(mutex_);
    /// The group has ended here, or could not be made: who waits for this member is told. @thread any
    void leave(std::uint64_t id) PLEXUS_EXCLUDES(mutex_);

    /// Runs `job` in a handler: at once if this is one. Else makes progress until the job has run, but not
    /// for long: the job may run after the return. @thread any
    void run_in_handler(Job job) PLEXUS_EXCLUDES(mutex_);
    /// The same without making progress. @thread any
    void post(Job job) PLEXUS_EXCLUDES(mutex_);
    /// Tells a member that a group is broken, as soon as there is room for it. In a handler.
    void tell_broken(const GlobalPointer<Mailbox>& member, std::uint64_t id, Status status,
                     const std::string& why);

    /// The timers of this context's groups.
    /// @thread any, under no lock @error the system provides no thread (thrown, std::system_error)
    Monitor& monitor() PLEXUS_EXCLUDES(mutex_);

    /// The groups of this context that have not ended, for its counters. @thread any
    void show(const ShowGroup& show) const PLEXUS_EXCLUDES(mutex_);

    /// The context closes: no timer runs any more, and the calls of all groups here end with closed. @thread
    /// any
    void close() PLEXUS_EXCLUDES(mutex_);

  private:
    struct Holder;
    std::vector<std::shared_ptr<GroupState>> open_groups() const PLEXUS_EXCLUDES(mutex_);
    /// Null: none was needed yet.
    std::shared_ptr<Monitor> any_monitor() const PLEXUS_EXCLUDES(mutex_);
    struct Pending {
        std::vector<EarlyMessage> messages;
        Status status = Status::ok; ///< else: the group is broken already
        std::string why;
    };
    struct Roster {
        std::vector<GlobalPointer<Mailbox>> members;
        Rank askers;
    };

    void install();
    std::vector<GlobalPointer<Mailbox>> take_roster(std::uint64_t id) PLEXUS_EXCLUDES(mutex_);
    void arrive(std::uint64_t id, const MessageHeader& head, Bytes bytes) PLEXUS_EXCLUDES(mutex_);
    void keep_pending(std::uint64_t id, const MessageHeader& head, Bytes bytes) PLEXUS_REQUIRES(mutex_);
    void break_pending(std::uint64_t id, Status status, std::string why) PLEXUS_REQUIRES(mutex_);
    void take_broken(std::uint64_t id, Status status, const std::string& why) PLEXUS_EXCLUDES(mutex_);
    /// Null: there is no such group; `left`: there was one.
    std::shared_ptr<GroupState> find(std::uint64_t id, bool* left = nullptr) PLEXUS_EXCLUDES(mutex_);
    bool has_left(std::uint64_t id) const PLEXUS_REQUIRES(mutex_);
    void run_jobs() PLEXUS_EXCLUDES(mutex_);
    void post_again() PLEXUS_EXCLUDES(mutex_);

    Context& context_;
    mutable RankedMutex<10> mutex_;
    std::unordered_map<std::uint64_t, std::weak_ptr<GroupState>> groups_ PLEXUS_GUARDED_BY(mutex_);
    std::unordered_map<std::uint64_t, Pending> pending_ PLEXUS_GUARDED_BY(mutex_); ///< of groups to come
    std::size_t pending_bytes_ PLEXUS_GUARDED_BY(mutex_) = 0;
    std::deque<std::uint64_t> left_ PLEXUS_GUARDED_BY(mutex_);
    std::unordered_map<std::uint64_t, Roster> rosters_ PLEXUS_GUARDED_BY(mutex_);
    std::vector<Job> jobs_ PLEXUS_GUARDED_BY(mutex_);
    std::shared_ptr<Monitor> monitor_ PLEXUS_GUARDED_BY(mutex_); // created when first needed

    Bound<Mailbox> bound_; // ends first: no handler runs after that
    const GlobalPointer<Mailbox> self_;
};

/// How often this context has met others by that name before. @thread any
std::uint64_t count_meeting(Context& context, std::string_view name);

} // namespace plexus::eco::detail
