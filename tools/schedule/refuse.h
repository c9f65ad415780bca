// SPDX-License-Identifier: BSD-3-Clause
// What files of graphs and schedules, and plays, answer to what they cannot take.
#pragma once

#include "plexus/error.h"

#include <string>

namespace plexus::tools::schedule {

/// @error bad_argument, always, with this sentence
[[noreturn]] inline void refuse(const std::string& sentence) { throw Error(Status::bad_argument, sentence); }

} // namespace plexus::tools::schedule
