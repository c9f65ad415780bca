// SPDX-License-Identifier: BSD-3-Clause
// Calls by IP multicast: how the members of a group come to use it, and what a member does for others while
// it is the root of such a call.
#pragma once

#include "group/call_table.h"
#include "group/membership.h"
#include "multicast/channel.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plexus::eco {
class Group;
}

namespace plexus::eco::detail {

/// What a member says about its multicast, as text: from the context's settings.
/// @error bad_config eco.multicast_interface is no address (thrown)
std::string offer_text(const Context& context);
/// Off, if it is no such text.
MulticastOffer parse_offer(std::string_view text);

class MulticastPath {
  public:
    explicit MulticastPath(GroupState& group);

    /// If all members ask for multicast and hear each other, they agree on its place and its key, and measure
    /// it if they are to choose it automatically. All members call it, last.
    /// @error as a collective call (thrown)
    void make();
    /// Executes a call on this thread. @error as GroupState::run() (thrown)
    void run(std::shared_ptr<const PlannedCall> planned, const CollectiveArgs& args,
             Clock::time_point deadline);

    /// A member has all datagrams of a call below `below`: the root's. @thread any
    void hear_confirmed(std::uint32_t number, std::uint32_t digest, Rank member, std::uint32_t below);
    /// The data of datagrams of such a call, one after the other: pairs of a first number and a count. Empty:
    /// the call has not begun here. A first byte is never data. @thread any
    std::vector<std::byte> repair(std::uint32_t number, std::uint32_t digest,
                                  std::span<const std::uint32_t> ranges);

  private:
    std::string why_not(bool by_loopback) const;
    bool hear_all(multicast::Channel& channel) const;
    std::uint32_t measure(const Group& self) const;

    GroupState& group_;
    const Membership& members_;
    CallTable& calls_;
    std::unique_ptr<multicast::Channel> channel_; ///< if all members hear each other; of blocking calls
};

} // namespace plexus::eco::detail
