// SPDX-License-Identifier: BSD-3-Clause
// What a link has learned about copies, in words, and as parameters that fix it. Pure functions.
#pragma once

#include "shm/copy_choice.h"

#include <string>

namespace plexus::shm {

/// Classes with a cost.
std::size_t classes_measured(const CopyChoice::AllLearned& all) noexcept;

/// Bytes of a remark before its "; fixed by": with the parameters it fits the 1024 that the host takes.
inline constexpr std::size_t kMostRemark = 800;

/// "copies 4 KiB to 32 KiB through the caches (32 KiB: 3.1 us, past them 5.2 us), 64 KiB and more past the
/// caches (16 MiB: 1920 us, through them 2310 us); fixed by past_caches_from = 64 KiB". Neighbouring classes
/// with one choice are together. What does not fit is left out: ", and others". Empty: nothing was measured.
std::string remark(const CopyChoice::AllLearned& all);

/// The parameters of the shm method that come closest, "key = value" with commas between.
std::string settings(const CopyChoice::AllLearned& all);

} // namespace plexus::shm
