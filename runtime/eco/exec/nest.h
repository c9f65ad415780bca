// SPDX-License-Identifier: BSD-3-Clause
// A group on several hosts whose members share memory on each of them (the ECO paper's "native
// collectives within an MPP"): those of one host do their part of a call there, and one for
// each host does the rest with the others by messages.
#pragma once

#include "exec/call.h"
#include "plexus/error.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace plexus::eco::exec {

class Nest {
  public:
    /// All members of the group call it. Null, for all of them: no two share a host, or those of some host
    /// share no memory, as where they are very many. @error as a collective call (thrown)
    static std::shared_ptr<Nest> of(Team& all);

    /// Calls of this kind go that way: the same answer on all members.
    bool suits(const detail::Work& work) const noexcept;
    /// This member's parts of such a call, prepared; they carry the name of the whole.
    std::vector<std::shared_ptr<const Prepared>> prepare(const detail::Work& work,
                                                         const Signature& whole) const;
    /// Memory that run() needs.
    std::size_t scratch_bytes(const detail::Work& work) const noexcept;
    /// One call. @error as Team::run() (thrown)
    void run(const Prepared& prepared, const detail::Work& work, std::byte* scratch) const;
    /// The whole group is broken: nobody waits in a part of it any more.
    void break_up(Status status, const std::string& why) const;

  private:
    struct Step {
        Team* team = nullptr;
        detail::Work work;
    };
    /// No more than three; those without a team are none.
    using Steps = std::array<Step, 3>;
    struct Home {
        Rank house;
        Rank inside; ///< rank there
    };
    Steps steps(const detail::Work& work, std::byte* scratch) const;
    const Home& mine() const noexcept { return homes_[me_]; }

    Rank me_ = 0;
    std::vector<Home> homes_;            ///< by member
    std::size_t largest_ = 0;            ///< members in one house
    std::shared_ptr<Team> inside_;       ///< those on this host
    std::shared_ptr<Team> coordinators_; ///< the first of each host; null: this member is none of them
};

} // namespace plexus::eco::exec
