// SPDX-License-Identifier: BSD-3-Clause
// How members agree on a schedule: one sends it, and those that have one compare.
#pragma once

#include "plexus/eco/group.h"

#include <memory>

namespace plexus::eco::detail {

/// The schedule in words, as members send it and compare it.
std::vector<std::uint32_t> words_of(const GroupSchedule& how);
/// @error bad_archive the words are no schedule (thrown)
GroupSchedule schedule_in(std::span<const std::uint32_t> words);

/// The schedule of member `from`. @error as Group::by() (thrown)
std::shared_ptr<const GroupSchedule> agree_on(const Group& all, const GroupSchedule& mine, Rank from);

} // namespace plexus::eco::detail
