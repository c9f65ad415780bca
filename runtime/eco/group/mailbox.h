// SPDX-License-Identifier: BSD-3-Clause
// The one mailbox that a context has for all its groups, the requests that come to it, and
// the book of the groups it belongs to. Knows nothing of plans.
//
// One lock guards the book, and of each group whatever handlers and callers share: calls under
// way, what came early, whether it is broken. Nothing is sent and no foreign function runs under it.
#pragma once

#include "group/monitor.h"
#include "group/pool.h"
#include "plexus/context.h"
#include "plexus/eco/plan.h"

#include <array>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace plexus::eco::detail {

class Mailbox;

using Bytes = std::span<const std::byte>;

/// In a slot's number: the last piece of the message.
inline constexpr std::uint32_t kLastPiece = std::uint32_t{1} << 31;

/// One message of a plan, or a piece of it: group, number of the call, the receiver's slot, digest of the
/// call, the sender's rank, and the blocks. Fits a frame's head with eight bytes of blocks.
inline constexpr Request<void(Mailbox&, std::uint64_t, std::uint32_t, std::uint32_t, std::uint32_t,
                              std::uint32_t, Bytes)>
    kArrive{"plexus.eco.arrive"};
/// "What is your call of that number?" The answer is a text.
inline constexpr Request<std::string(Mailbox&, std::uint64_t, std::uint32_t)> kAsk{"plexus.eco.ask"};
/// The group is broken: with which status, and why.
inline constexpr Request<bool(Mailbox&, std::uint64_t, std::int32_t, std::string)> kBroken{
    "plexus.eco.broken"};
/// "I wait for you in that call." The answer is a Presence.
inline constexpr Request<std::uint8_t(Mailbox&, std::uint64_t, std::uint32_t, std::uint32_t)> kAlive{
    "plexus.eco.alive"};

/// "Who is in that group?" Of the member that has found all of them, by rank.
inline constexpr Request<std::vector<GlobalPointer<Mailbox>>(Mailbox&, std::uint64_t)> kRoster{
    "plexus.eco.roster"};

enum class Presence : std::uint8_t { here, left, differs };

struct MessageHeader {
    std::uint32_t call;
    std::uint32_t slot;
    bool last; ///< piece of its message
    std::uint32_t digest;
    Rank sender;
};

/// A message for a call, or a group, that does not exist here yet. There may be very many, so each
/// has no more memory than it needs; and small ones are common, so they need none of their own.
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
    /// That of a context, made when it is first asked for.
    static std::shared_ptr<Mailbox> of(Context& context);
    explicit Mailbox(Context& context);
    ~Mailbox();

    Context& context() noexcept { return context_; }
    GlobalPointer<Mailbox> pointer() const { return bound_.pointer(); }
    std::mutex& mutex() noexcept { return mutex_; }
    Pool& pool() noexcept { return pool_; } ///< under the lock

    /// So many others may ask once for the members of a group that is being made. @thread any
    void keep_roster(std::uint64_t id, std::vector<GlobalPointer<Mailbox>> members, Rank askers);

    /// From now on the group's messages reach it; those that came before are its own.
    void enter(std::uint64_t id, GroupState& group);
    void leave(std::uint64_t id);

    /// Who looks after groups that wait for members while no thread waits with them.
    /// @thread any, under no lock @error the system has no thread for it (thrown, std::system_error)
    Monitor& watch();

  private:
    void install();
    std::vector<GlobalPointer<Mailbox>> take_roster(std::uint64_t id);
    void refuse_pending(std::uint64_t id);
    void arrive(std::uint64_t id, const MessageHeader& head, Bytes bytes);
    GroupState* find(std::uint64_t id) const;
    bool has_left(std::uint64_t id) const;

    Context& context_;
    std::mutex mutex_;
    std::unordered_map<std::uint64_t, GroupState*> groups_;
    std::unordered_map<std::uint64_t, std::vector<EarlyMessage>> pending_;
    std::size_t pending_bytes_ = 0;
    std::unordered_map<std::uint64_t, std::pair<Status, std::string>>
        broken_early_; ///< broken before they began
    std::deque<std::uint64_t> left_;
    struct Roster {
        std::vector<GlobalPointer<Mailbox>> members;
        Rank askers;
    };
    std::unordered_map<std::uint64_t, Roster> rosters_;
    Pool pool_;

    std::unique_ptr<Monitor> monitor_; // made when first needed

    Bound<Mailbox> bound_; // ends first: no handler runs after that
};

/// How often this context has met others by that name before. @thread any
std::uint64_t count_meeting(Context& context, std::string_view name);

} // namespace plexus::eco::detail
