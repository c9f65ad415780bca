// SPDX-License-Identifier: BSD-3-Clause
// How the members of a group come together: by names in the directory, or out of a group that
// they are in already.
#pragma once

#include "group/group_state.h"

#include <string_view>

namespace plexus::eco::detail {

/// @error as Group::meet() (thrown)
std::shared_ptr<GroupState> meet(Context& here, std::string_view name, Rank me, Rank size,
                                 const GroupOptions& options);

/// Some members of a group, this one among them, by their ranks there; `salt` is the same for all
/// of them and nobody else. `is_part`: it does its share of what that group is asked to do: see
/// PartOf. `map`: in place of that of the group's options.
std::shared_ptr<GroupState> branch(GroupState& from, const std::vector<Rank>& ranks, std::uint64_t salt,
                                   bool is_part = false, std::shared_ptr<const Map> map = nullptr);

} // namespace plexus::eco::detail
