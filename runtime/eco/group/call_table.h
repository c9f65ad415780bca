// SPDX-License-Identifier: BSD-3-Clause
// The calls of a group that are under way in one of its members, and the messages that came for later ones.
// What arrives changes the table under its lock, and gives what must be done then without the lock.
#pragma once

#include "group/execution.h"
#include "group/mailbox.h"
#include "group/membership.h"

#include <map>
#include <optional>
#include <utility>

namespace plexus::eco::detail {

/// In error texts: what a member calls, if nobody knows it.
inline constexpr const char* kUnknownCall = "something else";
inline constexpr const char* kGoneCall = "something else and has left the group";

/// What must be done about a message that arrived, without the lock.
struct Consequence {
    enum class Kind : std::uint8_t { none, resume, differ, break_up };
    /// The sender calls something else by this number.
    static Consequence differs(Rank sender, std::uint32_t number) {
        Consequence out{Kind::differ};
        out.sender = sender;
        out.number = number;
        return out;
    }
    static Consequence breaks(Status status, std::string why) {
        Consequence out{Kind::break_up};
        out.status = status;
        out.why = std::move(why);
        return out;
    }

    Kind kind = Kind::none;
    Execution* call = nullptr; ///< this thread goes on with it; null: the thread that is blocked in it does
    std::shared_ptr<CompletionState> sleeper = nullptr; ///< by which that thread is woken, if it sleeps
    Rank sender = 0;
    std::uint32_t number = 0;
    Status status = Status::ok;
    std::string why = {};
};

/// How a call ended.
struct Ending {
    // What may be the last reference to a group ends without the lock.
    std::shared_ptr<GroupState> keep = {};
    std::shared_ptr<CompletionState> future = {};
    Combine combine = {};
    std::exception_ptr thrown = {};
    Status status = Status::ok;
    std::string why = {};
};

class CallTable {
  public:
    explicit CallTable(const Membership& members)
      : members_(members) {}

    /// Guards the table, and of each call what Execution says.
    mutable RankedMutex<10> mutex;

    /// A call that is to be filled and entered, with so much memory of its own.
    /// @error what broke the group (thrown)
    std::unique_ptr<Execution> make(std::uint64_t scratch_bytes) PLEXUS_EXCLUDES(mutex);
    /// From now on messages for the call find it. Messages that came before are stored first; what must be
    /// done about them is added to `consequences`. @error what broke the group (thrown)
    Execution& enter(std::unique_ptr<Execution> fresh, std::vector<Consequence>& consequences)
        PLEXUS_EXCLUDES(mutex);
    /// Null: no call of that number is under way.
    Execution* find(std::uint32_t number) PLEXUS_REQUIRES(mutex);
    const std::vector<std::unique_ptr<Execution>>& under_way() const PLEXUS_REQUIRES(mutex) { return calls_; }
    /// The parked call can go on: on this thread, or on the thread that is blocked in it.
    Consequence resume(Execution& call) PLEXUS_REQUIRES(mutex);
    /// Takes the call's end out of it. False: a handler still uses memory that the caller may free soon.
    bool take_ending(Execution& call, Ending& ending) PLEXUS_EXCLUDES(mutex);
    /// The call is over: nobody uses it any more.
    void release(Execution& call) PLEXUS_EXCLUDES(mutex);

    /// Memory for a message.
    Buffer lend(std::size_t bytes) PLEXUS_EXCLUDES(mutex);
    void give_back(Buffer buffer) PLEXUS_REQUIRES(mutex) { pool_.give(std::move(buffer)); }

    Consequence arrive(const MessageHeader& head, Bytes bytes) PLEXUS_EXCLUDES(mutex);
    /// Messages that came before the group was made.
    void take_early(std::vector<EarlyMessage> early) PLEXUS_EXCLUDES(mutex);

    /// From now on every call fails, and threads that wait in one are woken. `ours`: calls that no thread
    /// waits in, which the caller has to end. False: the group was broken before.
    bool break_up(Status status, const std::string& why, std::vector<Execution*>& ours)
        PLEXUS_EXCLUDES(mutex);
    [[noreturn]] void throw_broken() const PLEXUS_EXCLUDES(mutex);

    /// The call's signature in words, for members that call something else.
    std::string text_of(std::uint32_t number) const PLEXUS_EXCLUDES(mutex);
    /// 0: the call is not known.
    std::uint32_t digest_of(std::uint32_t number) const PLEXUS_EXCLUDES(mutex);
    Presence presence(std::uint32_t number, std::uint32_t digest) const PLEXUS_EXCLUDES(mutex);
    /// Adds what is known of the calls.
    void show(ShownGroup& shown) const PLEXUS_EXCLUDES(mutex);

  private:
    Consequence keep_early(const MessageHeader& head, Bytes bytes) PLEXUS_REQUIRES(mutex);
    Consequence take_message(Execution& call, const MessageHeader& head, Bytes bytes) PLEXUS_REQUIRES(mutex);
    void wake_sleepers() PLEXUS_EXCLUDES(mutex);
    void check_whole() const PLEXUS_REQUIRES(mutex);
    std::string why_broken() const PLEXUS_REQUIRES(mutex);

    const Membership& members_;
    std::uint32_t next_ PLEXUS_GUARDED_BY(mutex) = 0;
    std::vector<std::unique_ptr<Execution>> calls_ PLEXUS_GUARDED_BY(mutex); // under way
    std::vector<std::unique_ptr<Execution>> spare_ PLEXUS_GUARDED_BY(mutex);
    Pool pool_ PLEXUS_GUARDED_BY(mutex);
    std::map<std::uint32_t, std::vector<EarlyMessage>> early_ PLEXUS_GUARDED_BY(mutex); // by call
    std::size_t early_bytes_ PLEXUS_GUARDED_BY(mutex) = 0;
    CallHistory past_ PLEXUS_GUARDED_BY(mutex);
    std::optional<std::pair<Status, std::string>> broken_ PLEXUS_GUARDED_BY(mutex);
};

} // namespace plexus::eco::detail
