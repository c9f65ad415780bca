// SPDX-License-Identifier: BSD-3-Clause
// Who is in a group, as one of its members knows it.
#pragma once

#include "group/execution.h"
#include "group/mailbox.h"
#include "multicast/socket.h"
#include "plexus/eco/algorithm.h"
#include "plexus/eco/levels.h"

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

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

/// Does not change once learn() was called. @thread any after that
class Membership {
  public:
    Membership(std::shared_ptr<Mailbox> mailbox, std::uint64_t id, Rank me, std::vector<Member> members,
               GroupOptions options, ParentGroup parent);

    const std::shared_ptr<Mailbox>& mailbox() const noexcept { return mailbox_; }
    Context& context() const noexcept { return mailbox_->context(); }
    std::uint64_t id() const noexcept { return id_; }
    Rank me() const noexcept { return me_; }
    Rank size() const noexcept { return static_cast<Rank>(members_.size()); }
    const std::vector<Member>& all() const noexcept { return members_; }
    const Member& operator[](Rank member) const noexcept { return members_[member]; }
    const GroupOptions& options() const noexcept { return options_; }
    const ParentGroup& parent() const noexcept { return parent_; }
    /// The group executes parts of another group's calls.
    bool is_part() const noexcept { return !parent_.names.empty(); }
    /// The member's rank in error texts, where a part of a group names the members as the whole group does.
    /// Any number may come from a hostile member.
    Rank name(Rank member) const noexcept {
        return member < parent_.names.size() ? parent_.names[member] : member;
    }
    std::string text_of_throw() const;
    /// This member has no memory for its part of a call.
    std::string text_of_no_memory() const;

    /// By member. Before any call except the calls that gather them.
    void learn(std::vector<MemberFacts> facts);
    bool on_one_host() const noexcept { return one_host_; }
    /// Members on this host for each of its processors, rounded up.
    int per_processor() const noexcept { return per_processor_; }
    bool crowded() const noexcept { return per_processor_ > 1; }
    /// Each member's socket: a number that members on the same socket of the same host share. A host with a
    /// member on no socket in particular counts as one socket.
    std::vector<std::uint32_t> sockets() const;
    /// Where nothing is measured: sockets, hosts and all.
    Levels levels() const;

  private:
    const std::shared_ptr<Mailbox> mailbox_;
    const std::uint64_t id_;
    const Rank me_;
    std::vector<Member> members_;
    const GroupOptions options_;
    const ParentGroup parent_;
    bool one_host_ = false;
    int per_processor_ = 1;
};

} // namespace plexus::eco::detail
