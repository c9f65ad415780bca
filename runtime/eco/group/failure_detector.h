// SPDX-License-Identifier: BSD-3-Clause
// Members that call something else, that are lost, that left, or that let a deadline pass: how a member finds
// out. The first one to find out breaks the group and informs all others.
#pragma once

#include "group/call_table.h"
#include "group/membership.h"

#include <string>
#include <vector>

namespace plexus::eco::detail {

class FailureDetector {
  public:
    explicit FailureDetector(GroupState& group);

    /// For calls in which no thread waits: looks after the members that they wait for, as long as there are
    /// such calls. @thread any
    void watch() PLEXUS_EXCLUDES(mutex_);
    /// The call has waited long for `peer`. @thread any
    void ask_after(Rank peer, std::uint32_t call, std::uint32_t digest) PLEXUS_EXCLUDES(mutex_);
    /// `peer` calls something else: asks what, and breaks the group with both names. @thread any
    void differ(Rank peer, std::uint32_t call);
    /// Names the first of the calls up to `last` in which `peer` and this member differ. @thread any
    void find_difference(Rank peer, std::uint32_t call, std::uint32_t last);
    /// The member cannot be reached. @thread any
    void lost(Rank peer, const Error& error);
    /// The call's deadline has passed. @thread the call's owner
    void expire(const Execution& call);
    /// The same for calls in which no thread waits, if there is one. @thread any
    void expire_late();
    /// Tells the other members that the group is broken. @thread any
    void tell_others(Status status, const std::string& why);

  private:
    void look_after() PLEXUS_EXCLUDES(mutex_);
    bool waits_for(Rank peer, std::uint32_t number);
    void hear_left(Rank peer, std::uint32_t number);
    std::string text_of_deadline(const Execution& call) const;

    GroupState& group_;
    const Membership& members_;
    CallTable& calls_;
    RankedMutex<10> mutex_;
    std::vector<Rank> asked_ PLEXUS_GUARDED_BY(mutex_); // members that have not answered yet
    bool watches_ PLEXUS_GUARDED_BY(mutex_) = false;    // a timer for look_after() runs
};

} // namespace plexus::eco::detail
